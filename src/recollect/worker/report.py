"""How the worker is doing: what `status` and `doctor` show, and what the next session is told."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from recollect import __version__, log
from recollect.clock import SECOND, Clock
from recollect.errors import StoreDamaged
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.wiring import Choice
from recollect.worker.gate import Gate
from recollect.worker.health import capture_failures, memory_kb, problem, waiting
from recollect.worker.making_room import Housekeeper


@dataclass(slots=True)
class Report:
    paths: Paths
    store: Store
    choice: Choice
    gate: Gate
    clock: Clock
    started_at: int
    faults: dict[str, str] = field(default_factory=dict)  # by thread
    ended: Callable[[], list[str]] = list  # threads that should run and do not
    disk: Housekeeper | None = None
    on_fault: Callable[[str, str], None] = lambda *_: None
    on_damage: Callable[[StoreDamaged], None] = lambda _: None
    redacted: Callable[[], dict[str, int]] = dict

    def note_fault(self, thread: str, error: Exception | None) -> None:
        """Shown until the thread gets on again: None."""
        if error is None:
            self.faults.pop(thread, None)
            return
        self.faults[thread] = f"{type(error).__name__}: {error}"
        log.warning(f"{thread}.waits", error=log.cause(error))
        self.on_fault(thread, log.cause(error))
        if isinstance(error, StoreDamaged):
            self.on_damage(error)

    def status(self, *, idle: bool) -> dict[str, object]:
        health = self.store.health()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": (self.clock() - self.started_at) // SECOND,
            "memory_kb": memory_kb(),
            "provider": str(self.choice.author),
            "provider_why": self.choice.why,
            "parked": asdict(parked) if (parked := self.gate.reason()) else None,
            "spool": waiting(self.paths),
            "quarantine": health.quarantined,
            "capture_failures": capture_failures(self.paths),
            "idle": idle,
            "fault": self._fault(),
            "problem": self.problem(),
            "disk": asdict(self.disk.room) if self.disk else None,
            "queue": asdict(health),
            "redacted": self.redacted(),
            "index": asdict(self.store.index_health()),
        }

    def problem(self) -> str | None:
        health = self.store.health()
        closed = self.gate.reason()
        parked = None
        if closed and closed.for_user and (health.pending or self.gate.closed()):
            rests = "nothing is written down for now"
            parked = f"{'the rules stand in' if self.choice.stands_in else rests}: {closed.why}"
        disk = self.disk.room.warning if self.disk else None
        return problem(self.paths, health, self.clock(), self._fault(), parked, disk)

    def _fault(self) -> str | None:
        if ended := self.ended():
            return f"its work on {', '.join(ended)} has ended; `recollect worker restart` begins it anew"
        return next(iter(list(self.faults.values())), None)
