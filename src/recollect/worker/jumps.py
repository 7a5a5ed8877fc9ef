"""Whether somebody set the clock back: what was to be done in a minute would then wait for an hour.

Work is due, and leases end, at a time of day. A clock that is set forward makes things due early, which
harms nobody: one worker holds the lock, and a settled lease is fenced. One that is set back is noticed
here, by a clock that only runs.
"""

import time
from collections.abc import Callable

from recollect.clock import MINUTE, SECOND, Clock

ENOUGH = MINUTE  # less is what time servers do


class Jumps:
    def __init__(self, clock: Clock, running: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._running = clock, running
        self._apart = self._now_apart()

    def back(self) -> bool:
        """Since this was asked last."""
        before, self._apart = self._apart, self._now_apart()
        return self._apart < before - ENOUGH

    def _now_apart(self) -> int:
        return self._clock() - round(self._running() * SECOND)
