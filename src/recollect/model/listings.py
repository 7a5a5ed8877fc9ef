"""What people look through, as rows: no more of a thing than a list shows."""

from dataclasses import dataclass
from typing import NamedTuple

Cursor = tuple[int, ...]  # behind which row a page begins
TOP: Cursor = (2**62, 2**62)  # behind none, where the latest come first


@dataclass(frozen=True, slots=True)
class ProjectTotals:
    """`last_at`: when something last happened there; None where nothing has."""

    id: int
    name: str
    root: str
    sessions: int
    observations: int
    last_at: int | None


@dataclass(frozen=True, slots=True)
class PromptRow:
    id: int
    number: int
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """`text`: the begin of what it says, as far as it is indexed. `size`: of the bytes as captured."""

    id: int
    session_id: int
    kind: str
    tool: str | None
    at: int
    prompt_number: int
    subagent_type: str | None
    size: int
    healed: bool
    text: str | None


@dataclass(frozen=True, slots=True)
class ObservationRow:
    id: int
    session_id: int
    project_id: int
    prompt_number: int
    at: int
    type: str
    title: str | None
    subtitle: str | None
    pinned: bool
    edited: bool
    doubted: bool
    repeats: int | None
    follows: int | None


class Mark(NamedTuple):
    """An observation as a point in time. There are thousands of them at a time."""

    id: int
    at: int
    type: str
    title: str


class Happened(NamedTuple):
    """How often something happened in a quarter of an hour since the epoch, in a session or in any."""

    quarter: int
    session_id: int | None
    number: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions; None: any."""

    project_id: int | None = None
    agent: str | None = None
    status: str | None = None
