"""What is done now and then: sessions that went silent, and files that nobody will come back for."""

import time
from typing import Protocol

from recollect import log
from recollect.clock import DAY, MINUTE, Clock
from recollect.model.arrivals import Healed
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.wiring import AGENTS, Home, shelf
from recollect.worker.jumps import Jumps
from recollect.worker.making_room import Housekeeper
from recollect.worker.session_memory import SessionMemories
from recollect.worker.sweeping import sweep

DOCTORS = "doctor-"
LEFT_BEHIND = 10 * MINUTE
EVERY_SECONDS = 3600.0


class Healer(Protocol):
    def session(self, agent: str, ref: str) -> Healed: ...


class Chores:
    """Done at the first look, then every hour. A clock that is set back is seen to at each look."""

    def __init__(self, home: Home, store: Store, clock: Clock) -> None:
        self._paths, self._store, self._clock = home.paths, store, clock
        self.disk = Housekeeper(home.paths, home.settings, shelf(home, clock))
        self._next, self._jumps = 0.0, Jumps(clock)

    def before(self) -> None:
        """Before captures are looked at."""
        if self._jumps.back():
            due = self._store.make_due(self._clock())
            log.warning("worker.clock_set_back", due=due)

    def if_due(self) -> bool:
        if time.monotonic() < self._next:
            return False
        run(self._paths, self._store, self._clock)
        self.disk.look()
        self._next = time.monotonic() + EVERY_SECONDS
        return True


def run(paths: Paths, store: Store, clock: Clock) -> None:
    now = clock()
    for session in store.sessions_by_prefix(DOCTORS):
        if (
            session.last_event_at < now - LEFT_BEHIND
        ):  # a proof that failed arrived after its clean-up
            store.drop_session(session.id, session.project_id)
    sweep(paths, store, clock)
    if swept := SessionMemories(paths, store, AGENTS, clock).sweep():
        log.action("session_memory.swept", count=swept)


def interrupt(store: Store, reconciler: Healer, clock: Clock) -> None:
    """Sessions that were silent for a day are over. First their transcripts are read to the end."""
    now = clock()
    stale = store.stale_sessions(now - DAY)
    for session in stale:
        reconciler.session(session.agent, session.ref)
    # No others: one that was imported meanwhile has not been read.
    read = frozenset(session.id for session in stale)
    if interrupted := store.interrupt_stale(now - DAY, now, read):
        log.action("session.interrupted", count=interrupted)
