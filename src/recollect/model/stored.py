"""An event as it comes back out of the store: the agent's own bytes, and its place."""

from dataclasses import dataclass

from recollect.model.captures import Capture


@dataclass(frozen=True, slots=True)
class StoredEvent:
    id: int
    session_id: int
    kind: str
    prompt_number: int
    at: int
    boring: bool
    capture: Capture


@dataclass(frozen=True, slots=True)
class Health:
    """What the store can say about itself in one look. Times are None when nothing happened yet.

    `healed`: events that only a transcript told of, because hooks missed them or were not there yet.
    """

    pending: int
    skipped: int
    oldest_pending: int | None
    last_done: int | None
    quarantined: int
    active_sessions: int
    sessions: int
    events: int
    observations: int
    summaries: int
    projects: int
    healed: int = 0


EMPTY = Health(0, 0, None, None, 0, 0, 0, 0, 0, 0, 0)
