"""What is erased for good: what was asked for, and the rows that it comes to."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from recollect.needle import MARK as ERASED

__all__ = ["ERASED", "Changing", "Erasure", "Matching", "Progress", "Reach", "Rows", "read"]

What = Literal["observation", "prompt", "session", "project", "period", "text", "secrets", "memory"]
WHATS: tuple[str, ...] = get_args(What)
Matching = Callable[[str], bool]
Changing = Callable[[str], str]
Progress = Callable[[int, int], None]  # done, of how many


@dataclass(frozen=True, slots=True)
class Erasure:
    """`id`: of an observation, a prompt, a session or a project. `since`, `until`: a period, in milliseconds,
    of all projects or of the project `id`. `text`: what to look for. `name`: of a memory, as it is told from
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
    forgotten: frozenset[int] = frozenset()

    def __or__(self, other: "Rows") -> "Rows":
        names = [field.name for field in fields(self)]
        return Rows(**{name: getattr(self, name) | getattr(other, name) for name in names})

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True)
class Reach:
    """What an erasure comes to. `projects`, `sessions`: whose prepared texts have to follow."""

    rows: Rows
    counts: dict[str, int]
    projects: frozenset[int]
    sessions: frozenset[int]


def read(said: dict[str, Any]) -> Erasure:
    """As it is noted in JSON. Raises ValueError."""
    known = {field.name for field in fields(Erasure)}
    if said.get("what") not in WHATS or not set(said) <= known:
        raise ValueError("no erasure")
    return Erasure(**said)
