"""The provider protocols. Providers return values, failures included, and never touch the store.

A `Writer` turns a turn into observations and a summary. `Rules` is one by itself; a `Model` only answers
requests, and `synthesis` builds a writer from it.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from aforesaid.model.observations import (
    Author,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    Turn,
)
from aforesaid.model.requests import Failure, Misconfigured, Reply, Request, Unavailable
from aforesaid.privacy.redactor import Redactor

LOOK_SECONDS = 0.2  # how soon a request notices that its model was closed
PATIENCE = 5  # a whole request may take so many times as long as a model may be silent


class Model(Protocol):
    """`name`: the provider, as in the settings. `model`: as it was asked for. `longest_seconds`: after
    that, `ask` has returned, whatever the model does."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def longest_seconds(self) -> float: ...

    def ask(self, request: Request) -> Reply | Failure: ...

    def close(self) -> None:
        """Idempotent, from any thread. Pending and later requests return `Unavailable`."""


class Writer(Protocol):
    @property
    def author(self) -> Author: ...

    def observe(self, turn: Turn) -> tuple[ObservationDraft, ...] | Failure: ...

    def summarize(self, turn: Turn) -> SummaryDraft | SummarySkipped | Failure: ...


class RedactingModel:
    """Redacts messages on their way to a model, and its replies."""

    def __init__(self, within: Model, redactor: Redactor) -> None:
        self.within, self.redactor = within, redactor
        self.name, self.model = within.name, within.model
        self.longest_seconds = within.longest_seconds
        self.close = within.close

    def ask(self, request: Request) -> Reply | Failure:
        message = self.redactor.text(request.message)
        redacted = request if message is request.message else replace(request, message=message)
        answer = self.within.ask(redacted)
        if isinstance(answer, Reply):
            return self._reply(answer)
        answer = replace(answer, why=self.redactor.text(answer.why))
        if isinstance(answer, Unavailable) and answer.partial:
            return replace(answer, partial=self._reply(answer.partial))
        return answer

    def _reply(self, reply: Reply) -> Reply:
        return replace(reply, text=self.redactor.text(reply.text))


@dataclass(frozen=True, slots=True)
class MisconfiguredModel:
    name: str
    why: str
    model: str = ""
    longest_seconds: float = 0.0

    def ask(self, _: Request) -> Misconfigured:
        return Misconfigured(self.why)

    def close(self) -> None: ...
