"""A capture that was read and understood, ready to be stored."""

from dataclasses import dataclass

from recollect.model.captures import Capture
from recollect.model.events import Event

SessionRef = tuple[str, str]  # the agent, and its own id of the session
NOBODY: frozenset[SessionRef] = frozenset()


@dataclass(frozen=True, slots=True)
class Arrival:
    """`healed`: the transcript tells of it, and no hook did."""

    capture: Capture
    event: Event
    project_id: int
    boring: bool
    healed: bool = False


@dataclass(frozen=True, slots=True)
class Ingested:
    """What storing a batch came to. `begun` and `ended`: sessions that started, or that ended a turn."""

    added: int
    duplicates: int
    closed_turns: int
    projects: frozenset[int]
    begun: frozenset[SessionRef] = NOBODY
    ended: frozenset[SessionRef] = NOBODY


@dataclass(frozen=True, slots=True)
class Healed:
    """What a transcript's telling came to: events that were missing, turns that got work for it."""

    added: int
    turns: int
