"""Work that waits in the store, and what may come of a try."""

from dataclasses import dataclass
from typing import NamedTuple

from aforesaid.model.requests import Misconfigured, RateLimited, Unavailable

DRAFT = "draft"  # who wrote, where a model is still to write
OBSERVE, SUMMARIZE = "observe", "summarize"
MAX_TRIES = 3


@dataclass(frozen=True, slots=True)
class Job:
    """`tries` counts this try and fences it. `written_by`: whose work it is to replace."""

    id: int
    kind: str
    session_id: int
    prompt_number: int
    tries: int
    holder: str = ""
    written_by: str | None = None
    state: str = "pending"
    due_at: int = 0
    last_error: str | None = None


class Again(NamedTuple):
    """Which finished jobs to do again: those whose result `author` did not write. None: no limit."""

    author: str
    session_id: int | None = None
    project_id: int | None = None
    since: int | None = None


class Done(NamedTuple):
    """The effect is stored and the job acknowledged, in one transaction. `written`: ids of what is new."""

    written: tuple[int, ...] = ()


class Retry(NamedTuple):
    """`unusable`: the model's reply and its repair could not be used; asking again hardly helps."""

    why: str
    unusable: bool = False


@dataclass(frozen=True, slots=True)
class Fenced:
    """Another worker has taken the job over; this try had no effect."""


class Postponed(NamedTuple):
    """Nobody was there to do it. The job is as good as before, and the try does not count."""

    absence: Unavailable | RateLimited | Misconfigured


Outcome = Done | Retry | Postponed | Fenced
