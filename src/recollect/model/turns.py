"""A turn: one user prompt and everything the agent did until it stopped."""

from dataclasses import dataclass

from recollect.model.events import Event
from recollect.model.observations import ObservationDraft


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """An event with its place in time."""

    id: int
    at: int
    event: Event


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything a provider may know when it writes about one turn.

    `before`: the session's earlier events, newest last, so that a command which failed in one turn and
    works in the next is seen as mended. `recorded`: titles already written for this session. `observed`:
    what was written about this turn, for its summary. `goal`: the session's first prompt. `top`: the
    project's own directory. `told`: what recollect itself has told the session.
    """

    project: str
    root: str
    session: str
    prompt_number: int
    prompt: str | None
    at: int
    events: tuple[TurnEvent, ...]
    before: tuple[TurnEvent, ...]
    recorded: tuple[str, ...]
    last_message: str | None
    interrupted: bool
    observed: tuple[ObservationDraft, ...] = ()
    goal: str | None = None
    top: str | None = None
    told: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        return (self.root, self.top) if self.top else (self.root,)
