"""Circuit breaker for the model: open while it is unavailable, out of quota or misconfigured.

A job that meets an open breaker waits without losing a try. However many jobs wait, an unavailable model
is asked once per pause, and the pauses grow.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aforesaid.clock import SECOND, Clock
from aforesaid.model import requests
from aforesaid.model.jobs import Job

if TYPE_CHECKING:
    from aforesaid.providers.base import Model

UNUSABLE_REPLIES, UNUSABLE_PAUSE = 3, 3600 * SECOND
PAUSES = (30 * SECOND, 300 * SECOND, 600 * SECOND)
LONGEST_PAUSE = PAUSES[-1]
Absence = requests.Unavailable | requests.RateLimited | requests.Misconfigured


@dataclass(frozen=True, slots=True)
class Outage:
    """`for_user`: only the user can end it, or should know why nothing is processed."""

    why: str
    until: int
    for_user: bool


def pause(failures: int, luck: float) -> int:
    """Half a minute, then minutes: notes are there without the model, so nobody waits for it. `luck` in 0..1
    spreads it by half either way, so that retries do not align."""
    return round(PAUSES[min(failures, len(PAUSES)) - 1] * (0.5 + luck))


@dataclass(slots=True)
class CircuitBreaker:
    """`outage`: the last one, until the model answers again."""

    clock: Clock
    luck: Callable[[], float] = random.random
    outage: Outage | None = None
    _failures: int = 0
    _answered_at: int = 0
    _unusable: int = 0  # replies in a row
    _first_failed: dict[int, int] = field(default_factory=dict)  # by job that waits
    _failing: set[int] = field(default_factory=set)  # jobs, since the last answer

    def blocked(self) -> Outage | None:
        """The outage, while the model must not be asked."""
        return self.outage if self.outage and self.clock() < self.outage.until else None

    def record_answer(self) -> None:
        self.outage, self._failures, self._answered_at = None, 0, self.clock()
        self._failing.clear()

    def record_unusable(self) -> None:
        """A model whose replies cannot be used, several times in a row, is not asked for a while."""
        self._unusable += 1
        if self._unusable >= UNUSABLE_REPLIES:
            why = f"the model's last {self._unusable} replies could not be used"
            self.outage = Outage(why, self.clock() + UNUSABLE_PAUSE, for_user=True)

    def record_done(self, job: Job) -> None:
        """Perhaps without a request: that says nothing about the model."""
        self._unusable = 0
        self._first_failed.pop(job.id, None)

    def trip(self, absence: Absence) -> int:
        """Returns until when the breaker stays open."""
        self._failures += 1
        until = self.clock() + pause(self._failures, self.luck())
        if isinstance(absence, requests.RateLimited):
            until = max(absence.until, until)
        elif isinstance(absence, requests.Misconfigured):
            until = self.clock() + LONGEST_PAUSE
        for_user = not isinstance(absence, requests.Unavailable)
        self.outage = Outage(absence.why, until, for_user)
        return until

    def blames(self, job: Job) -> bool:
        """Whether the job itself, not the model, is at fault: others were answered since it failed first,
        it fails again, and no other job does."""
        first = self._first_failed.setdefault(job.id, self.clock())
        self._failing.add(job.id)
        return self._answered_at > first and self._failing == {job.id}

    def reset(self) -> None:
        """The user asks for a try now."""
        self.outage, self._failures = None, 0


class MonitoredModel:
    """A model whose answers close the breaker."""

    def __init__(self, within: "Model", breaker: CircuitBreaker) -> None:
        self.within, self.breaker = within, breaker
        self.name, self.model = within.name, within.model
        self.longest_seconds = within.longest_seconds
        self.close = within.close

    def ask(self, request: requests.Request) -> requests.Reply | requests.Failure:
        answer = self.within.ask(request)
        if isinstance(answer, requests.Reply | requests.Refused):
            self.breaker.record_answer()
        return answer
