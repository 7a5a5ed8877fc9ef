"""What prose claims that can be looked up: paths, names in code form, commands, numbers, quotations.

Nothing is judged here. Each pattern takes its part out of the text before the next one looks, so that the
`2` of `utils2.py` is not also a number. Code is told from prose by ASCII shapes alone, whatever the language.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from recollect.providers.reading.commands import read_command
from recollect.synthesis.grounding.names import (
    EXTENSIONS,
    FOLDERS,
    INTERPRETERS,
    NAMED_FILES,
    is_known,
)
from recollect.synthesis.grounding.wording import stream

LOOKED_AT = 20_000
MOST = 200
Kind = Literal["path", "symbol", "code", "command", "run", "number", "quote", "address", "hash"]

_LEFT = r"(?<![A-Za-z0-9_$@.~/\\-])"
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://[^\s<>\"'`)\]}]+")
EMPHASIS = re.compile(r"(?<![/\w*])\*\*(?=\S)|(?<=[^\s/])\*\*(?![/\w*])")
TICKS = re.compile(r"(`{1,3})([^`\n]{1,300}?)\1")
QUOTE = re.compile(
    r"(?<![A-Za-z0-9=\[(])\"([^\"\n]{6,400})\"(?![A-Za-z0-9])|“([^”\n]{6,400})”|«([^»\n]{6,400})»"
    r"|(?<![A-Za-z0-9_=\[(])'([^'\n]{6,400})'(?![A-Za-z0-9])"
)
_SEGMENT = r"[A-Za-z0-9_.@+\[\]-]"
PATH = re.compile(
    rf"{_LEFT}(?:[A-Za-z]:)?(?:~|\.\.?)?[/\\]?(?:{_SEGMENT}{{1,100}}[/\\]){{1,30}}{_SEGMENT}{{0,100}}"
    rf"|{_LEFT}(?:~|\.\.?)?/[A-Za-z0-9_.@+-]{{1,100}}"
    rf"|{_LEFT}[A-Za-z0-9_@+-]{{1,100}}(?:\.[A-Za-z0-9_+-]{{1,60}}){{0,4}}\.(?:{EXTENSIONS})"
    r"(?![A-Za-z0-9_(-])"
    r"|(?<![A-Za-z0-9_$@.~/\\)\]-])\.[a-z][A-Za-z0-9_-]{2,60}(?:\.[A-Za-z0-9_-]{1,60}){0,4}"
    rf"|\b(?:{NAMED_FILES})\b"
)
HASH = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![A-Za-z0-9_-])"
)
FLAG = re.compile(r"(?<![A-Za-z0-9_-])--[a-z][A-Za-z0-9-]+")
CALL = re.compile(rf"{_LEFT}([A-Za-z_$][A-Za-z0-9_$.]{{0,200}})\(\)")
DOTTED = re.compile(rf"{_LEFT}[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|#)[A-Za-z_$][A-Za-z0-9_$]*)+")
TOKEN = re.compile(rf"{_LEFT}[A-Za-z_$][A-Za-z0-9_$]*")
SHAPED = re.compile(
    r"[A-Za-z0-9$]+_[A-Za-z0-9_$]+|_+[a-z][A-Za-z0-9_]+|[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*"
    r"|[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{3,}[a-z]{3,}[A-Za-z0-9]*"
)
_RAN = r"\b(?:re-?)?(?:ran|running|executed|executing|invoked)\s+(?:the\s+)?(?:command\s+)?"
RAN, JUST_RAN = re.compile(_RAN, re.IGNORECASE), re.compile(_RAN + r"\Z", re.IGNORECASE)
ENDS = " .,;:!?)]}'\"…"


@dataclass(frozen=True, slots=True)
class Claim:
    """`text` as it was written; `after` the words behind it, which say what a number counts;
    `before` those in front."""

    kind: Kind
    text: str
    after: str = ""
    before: str = ""


NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.$/-])[0-9]{1,30}(?:[.,_][0-9]{1,30}){0,6}(?=(?:%|[A-Za-z]{1,7}\+?|[+x])?(?![A-Za-z0-9_]))"
)


def read_claims(prose: str) -> tuple[Claim, ...]:
    """In no order that means anything, each once."""
    left = _Left(EMPHASIS.sub("", prose[:LOOKED_AT]))
    for mark in QUOTE.finditer(left.text):
        said = next(group for group in mark.groups() if group)
        if len(stream(said).split()) >= 3:
            left.found.append(Claim("quote", said))
    left.take(URL, lambda mark: Claim("address", mark[0].rstrip(ENDS)))
    left.take(TICKS, lambda mark: _code(mark[2].strip(), left.text[: mark.start()]))
    for mark in RAN.finditer(left.text):
        if bare := _bare_command(left.text[mark.end() : mark.end() + 120]):
            left.found.append(Claim("run", bare))
    left.take(PATH, _path)
    left.take(HASH, lambda mark: Claim("hash", mark[0]))
    left.take(FLAG, lambda mark: Claim("symbol", mark[0]))
    left.take(CALL, lambda mark: Claim("symbol", mark[1].strip(".")))
    left.take(DOTTED, _dotted)
    left.take(TOKEN, _token)
    for mark in NUMBER.finditer(left.text):
        behind = left.text[mark.end() : mark.end() + 40]
        left.found.append(
            Claim("number", mark[0], behind, left.text[max(0, mark.start() - 30) : mark.start()])
        )
    return tuple(dict.fromkeys(left.found))[:MOST]


class _Left:
    """What is left of the text while claims are taken out of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Claim] = []

    def take(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Claim | None]) -> None:
        def blank(mark: re.Match[str]) -> str:
            claim = read(mark)
            if claim is None:
                return mark[0]
            self.found.append(claim)
            return " " * len(mark[0])

        self.text = pattern.sub(blank, self.text)


def is_command(code: str) -> bool:
    """Whether code in backticks is a command line and no expression."""
    first, _, rest = code.partition(" ")
    if not rest or code.startswith(("import ", "from ")) or re.search(r"[=({]\s|\);?$| = ", code):
        return False
    if first.startswith("./") or first in INTERPRETERS:
        return True
    return read_command(code).kind not in ("run", "routine", "files", "server")


def _code(code: str, before: str) -> Claim | None:
    if not code:
        return None
    told = JUST_RAN.search(before[-40:])
    if is_command(code) or told:
        return Claim("run" if told else "command", code)
    whole = PATH.fullmatch(code.rstrip("/"))
    if whole and _path(whole):
        return Claim("path", code)
    return Claim("code", code)


def _bare_command(rest: str) -> str | None:
    words = re.split(
        r"[,;:()]|\.(?:\s|$)|\s(?:and|to|with|which|in|on|for|again|after|before|from|but)\b", rest
    )
    line = " ".join(words[0].split()[:4])
    first = line.partition(" ")[0]
    known = first in INTERPRETERS or (
        line and read_command(line).kind not in ("run", "routine", "files")
    )
    return line if known and first not in ("test", "tests", "make sure", "find") else None


def _path(mark: re.Match[str]) -> Claim | None:
    """Not `and/or`, not `Node.js`, no pattern with a star next to it."""
    name = mark[0].rstrip(".")
    around = (
        mark.string[max(0, mark.start() - 1) : mark.start()]
        + mark.string[mark.end() : mark.end() + 1]
    )
    if (
        is_known(name)
        or "*" in around
        or "{" in around
        or "<" in around
        or not re.search("[A-Za-z]{2}", name)
    ):
        return None
    if re.search(r"[/\\]", name) and not re.match(r"[~.]{0,2}[/\\]", name):
        parts = re.split(r"[/\\]", name)
        named = re.search(rf"\.(?:{EXTENSIONS})$", name) or name.endswith("/")
        if not named and not (set(parts[:-1]) & FOLDERS) and parts[0] not in FOLDERS:
            return None
    return Claim("path", name)


def _dotted(mark: re.Match[str]) -> Claim | None:
    parts = re.split(r"\.|::|#", mark[0])
    if is_known(mark[0]) or all(len(part) < 3 for part in parts):
        return None
    return Claim("symbol", mark[0])


def _token(mark: re.Match[str]) -> Claim | None:
    name = mark[0]
    if (
        not SHAPED.fullmatch(name)
        or is_known(name)
        or re.fullmatch(r"[A-Z]{2,}s|[A-Z][a-z]?[A-Z]+", name)
    ):
        return None
    return Claim("symbol", name)
