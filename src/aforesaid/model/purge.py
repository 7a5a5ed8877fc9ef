"""What is to be purged, the text it looks for, and what a purge reaches."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from aforesaid.errors import ConfigError

SHORTEST_TEXT = 4  # characters; less would be everywhere
ERASED = "[erased]"  # stands where a text was
# A character beyond U+FFFF is a pair of escapes.
PAIR = r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
ESCAPE = re.compile(rf'\\(?:{PAIR}|u([0-9a-fA-F]{{4}})|(["\\/bfnrt]))')
PLAIN_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
LEVELS = 3  # JSON in JSON in JSON
RUN = re.compile(r"[a-z0-9_]+")
GAP = r"(?:\s|\\+[nrt])+"


class Needle:
    def __init__(self, text: str) -> None:
        self._words = text.split()
        self._text = _normal(text)
        if len(self._text.replace(" ", "")) < SHORTEST_TEXT:
            raise ConfigError(
                f"The text to erase needs {SHORTEST_TEXT} characters or more: a shorter one is everywhere."
            )
        # Its longest word is searched for first: most texts do not have it.
        self._rarest = max(RUN.findall(self._text), key=len, default="")

    def found(self, text: str) -> bool:
        if self._rarest and self._rarest not in text.casefold() and "\\u" not in text:
            return False
        for level in range(LEVELS):
            if self._text in _normal(text):
                return True
            if "\\" not in text or level == LEVELS - 1:
                break
            text = ESCAPE.sub(_unescaped, text)
        return False

    def changed(self, text: str) -> str:
        """The text with a mark in its place. If it cannot be cut out, the whole text is replaced."""
        if not self.found(text):
            return text
        cut = self._pattern.sub(ERASED, text)
        return ERASED if self.found(cut) else cut

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """As given, and case-folded, which makes two letters of some, such as ß."""
        forms = (self._words, self._text.split(" "))
        return re.compile("|".join(GAP.join(map(re.escape, each)) for each in forms), re.IGNORECASE)


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _unescaped(found: re.Match[str]) -> str:
    high, low, code, plain = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    return chr(int(code, 16)) if code else PLAIN_ESCAPES.get(plain, plain)


What = Literal["observation", "prompt", "session", "project", "period", "text", "secrets", "memory"]
WHATS: tuple[str, ...] = get_args(What)
Matching = Callable[[str], bool]
Changing = Callable[[str], str]
Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True)
class Erasure:
    """`id`: of an observation, a prompt, a session or a project. `since`, `until`: a period, in milliseconds,
    of all projects or of the project `id`. `text`: what to look for. `name`: of a memory, as it is named in
    `directory`."""

    what: What
    id: int | None = None
    since: int = 0
    until: int = 0
    text: str = ""
    name: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Numbers of rows. `sessions` and `projects` go with all that hangs on them."""

    projects: frozenset[int] = frozenset()
    sessions: frozenset[int] = frozenset()
    prompts: frozenset[int] = frozenset()
    events: frozenset[int] = frozenset()
    observations: frozenset[int] = frozenset()
    summaries: frozenset[int] = frozenset()

    def __or__(self, other: "Rows") -> "Rows":
        names = [field.name for field in fields(self)]
        return Rows(**{name: getattr(self, name) | getattr(other, name) for name in names})

    def __len__(self) -> int:
        return sum(len(getattr(self, field.name)) for field in fields(self))


class Reach(NamedTuple):
    """What an erasure comes to. `projects`, `sessions`: whose prepared texts have to follow."""

    rows: Rows
    counts: dict[str, int]
    projects: frozenset[int]
    sessions: frozenset[int]


def read(values: dict[str, Any]) -> Erasure:
    """As it is noted in JSON. Raises ValueError."""
    known = {field.name for field in fields(Erasure)}
    if values.get("what") not in WHATS or not set(values) <= known:
        raise ValueError("no erasure")
    return Erasure(**values)


class Freed(NamedTuple):
    """`rows` that lost their content, and the `size` of that in the database."""

    rows: int
    size: int
