"""What recollect needs to know about a coding agent."""

from typing import Protocol

from recollect.model.captures import Capture, Unreadable
from recollect.model.events import Event


class Agent(Protocol):
    @property
    def name(self) -> str: ...

    def parse(self, capture: Capture) -> Event | Unreadable | None:
        """An event, None for a capture we deliberately do not keep, or why it cannot be read."""

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:
        """What the hook prints: `context` for the model, `note` for the user; empty for nothing."""
