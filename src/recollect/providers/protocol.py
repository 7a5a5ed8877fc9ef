"""What a provider is. It returns values, failures included; it never touches the store.

A `Writer` turns a turn into observations and a summary. `rules` is one by itself; a `Model` only answers
questions, and `synthesis` makes a writer of it.
"""

from dataclasses import dataclass
from typing import Protocol

from recollect.model.observations import Author, ObservationDraft, SummaryDraft, SummarySkipped
from recollect.model.requests import Failure, Reply, Request
from recollect.model.turns import Turn

PATIENCE = 5  # times as long as it may say nothing, a model may take for a whole request


class Model(Protocol):
    @property
    def name(self) -> str:
        """The provider's name, as in the settings."""

    @property
    def model(self) -> str:
        """The model's name, as it was asked for."""

    @property
    def longest_seconds(self) -> float:
        """After which `ask` has come back, whatever the model does."""

    def ask(self, request: Request) -> Reply | Failure: ...

    def idle(self) -> None:
        """Called now and then while nothing is asked: what is kept open for the next request may go."""

    def close(self) -> None:
        """From any thread, any number of times. A request that is under way comes back as `Away`; so does
        every later one."""


@dataclass(frozen=True, slots=True)
class Observed:
    drafts: tuple[ObservationDraft, ...]


@dataclass(frozen=True, slots=True)
class Summarized:
    draft: SummaryDraft | SummarySkipped


class Writer(Protocol):
    @property
    def author(self) -> Author: ...

    def observe(self, turn: Turn) -> Observed | Failure: ...

    def summarize(self, turn: Turn) -> Summarized | Failure: ...
