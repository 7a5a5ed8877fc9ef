"""A capture that was read and understood, ready to be stored."""

from dataclasses import dataclass

from recollect.model.captures import Capture
from recollect.model.events import Event


@dataclass(frozen=True, slots=True)
class Arrival:
    capture: Capture
    event: Event
    project_id: int
    boring: bool


@dataclass(frozen=True, slots=True)
class Ingested:
    """What storing a batch came to."""

    added: int
    duplicates: int
    closed_turns: int
    projects: frozenset[int]
