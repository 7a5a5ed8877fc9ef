"""The gate before the model: closed while it is away, out of quota or wrongly set up.

A job that comes to a closed gate waits without losing a try. However many jobs wait, an absent model is
asked once per pause, and the pauses grow.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from recollect.clock import SECOND, Clock
from recollect.model.jobs import Job
from recollect.model.requests import (
    Away,
    Failure,
    Misconfigured,
    Refused,
    Reply,
    Request,
    Wait,
)
from recollect.providers.protocol import Model

FIRST_PAUSE = 5 * SECOND
LONGEST_PAUSE = 600 * SECOND
Absence = Away | Wait | Misconfigured


@dataclass(frozen=True, slots=True)
class Closed:
    """`for_user`: only the user can open it, or should know why the memory rests."""

    why: str
    until: int
    for_user: bool


def pause(failures: int, luck: float) -> int:
    """Exponential, with `luck` in 0..1 spreading it by half either way: retries must not march in step."""
    doublings = min(failures - 1, 10)
    return round(min(LONGEST_PAUSE, FIRST_PAUSE << doublings) * (0.5 + luck))


@dataclass(slots=True)
class Gate:
    clock: Clock
    luck: Callable[[], float] = random.random
    _closed: Closed | None = None
    _failures: int = 0
    _answered_at: int = 0
    _first_away: dict[int, int] = field(default_factory=dict)  # by job that waits
    _failing: set[int] = field(default_factory=set)  # jobs, since the last answer

    def closed(self) -> Closed | None:
        """Why nothing may be asked now. A reason outlives its time until something is answered."""
        return self._closed if self._closed and self.clock() < self._closed.until else None

    def reason(self) -> Closed | None:
        return self._closed

    def answered(self) -> None:
        self._closed, self._failures, self._answered_at = None, 0, self.clock()
        self._failing.clear()

    def done(self, job: Job) -> None:
        """Perhaps without asking: that says nothing about the model."""
        self._first_away.pop(job.id, None)

    def shut(self, absence: Absence) -> int:
        """Until when."""
        self._failures += 1
        soonest = self.clock() + pause(self._failures, self.luck())
        match absence:
            case Away(why=why):
                self._closed = Closed(why, soonest, for_user=False)
            case Wait(why=why, until=until):
                self._closed = Closed(why, max(until, soonest), for_user=True)
            case Misconfigured(why=why):
                self._closed = Closed(why, self.clock() + LONGEST_PAUSE, for_user=True)
            case _:
                assert_never(absence)
        return self._closed.until

    def blames(self, job: Job) -> bool:
        """Whether the job itself, not the model, is at fault: others were answered since it failed first,
        it fails again, and nobody else does."""
        first = self._first_away.setdefault(job.id, self.clock())
        self._failing.add(job.id)
        return self._answered_at > first and self._failing == {job.id}

    def open(self) -> None:
        """The user says that it should be tried now."""
        self._closed, self._failures = None, 0


@dataclass(frozen=True, slots=True)
class GatedModel:
    """A model whose answers open the gate."""

    real: Model
    gate: Gate

    @property
    def name(self) -> str:
        return self.real.name

    @property
    def model(self) -> str:
        return self.real.model

    @property
    def longest_seconds(self) -> float:
        return self.real.longest_seconds

    def ask(self, request: Request) -> Reply | Failure:
        answer = self.real.ask(request)
        if isinstance(answer, Reply | Refused):
            self.gate.answered()
        return answer

    def idle(self) -> None:
        self.real.idle()

    def close(self) -> None:
        self.real.close()
