"""When the worker has nothing to do, and since when. It ends when that has been long enough and nobody
looks."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.clock import Clock
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker.health import waiting


@dataclass(slots=True)
class Idleness:
    """`rest`: each says whether its own work rests. `watched`: whether somebody looks at the
    viewer, which counts as something that happens."""

    paths: Paths
    store: Reading
    clock: Clock
    limit_seconds: float
    busy: threading.Lock  # held while a job is run
    rest: tuple[Callable[[], bool], ...]
    watched: Callable[[], bool]
    _active_at: float = field(default_factory=time.monotonic)

    def interrupted(self) -> None:
        """Something happened."""
        self._active_at = time.monotonic()

    def since(self) -> float:
        """For how many seconds nothing has happened."""
        return time.monotonic() - self._active_at

    def seconds_left(self) -> float:
        """Until nothing has happened for long enough."""
        if self.watched():
            self.interrupted()
        return self.limit_seconds - self.since()

    def now(self) -> bool:
        """Nothing waits and nothing is being done."""
        if waiting(self.paths) or not self.busy.acquire(blocking=False):
            return False
        try:
            due = self.store.next_due()
            at_rest = due is None or due > self.clock()
            return at_rest and all(rests() for rests in self.rest)
        finally:
            self.busy.release()

    def for_long(self) -> bool:
        return self.seconds_left() <= 0 and self.now() and self.store.next_due() is None
