"""The thread that has transcripts read: when a turn has ended, when a session begins, and now and then.

Live work comes first: a look at all transcripts is made in small steps, and steps aside for a session that
has just ended a turn. So does an import of old ones, which waits for the look. While nothing
happens, the thread sleeps without a timer.
"""

import threading
import time
from collections.abc import Callable

from recollect.model.arrivals import Healed, Ingested, SessionRef
from recollect.worker.backfill import Backfill
from recollect.worker.reconcile import YOUNG, Reconciler

# After a Stop the agent still writes, and other hooks of the turn may be under way.
SETTLE_SECONDS = YOUNG / 1000 + 0.1
STEP_SECONDS = 0.2
PAUSE_SECONDS = 0.05  # between two steps, for whoever waits for the store or for the processor


class TranscriptThread:
    def __init__(
        self,
        reconciler: Reconciler,
        *,
        on_healed: Callable[[], None],
        on_looked: Callable[[], None],
        on_fault: Callable[[Exception | None], None],
        retry_seconds: float,
        backfill: Backfill | None = None,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self._reconciler = reconciler
        self._on_healed, self._on_looked, self._on_fault = on_healed, on_looked, on_fault
        self._retry_seconds, self._backfill = retry_seconds, backfill
        self._give_way = give_way
        self._stopping = threading.Event()
        self._wake = threading.Event() if backfill is None else backfill.wake
        self._lock = threading.Lock()
        self._ended: dict[SessionRef, float] = {}  # and when to look
        self._begun: set[SessionRef] = set()
        self._asked = 0  # looks at everything; one that is asked for during a look is another
        self._serving = 0
        self._answered = 0
        self._looked = threading.Event()
        self._settled = threading.Event()  # no turn that has just ended waits for its look
        self._settled.set()

    def after(self, ingested: Ingested) -> None:
        """Sessions of which hooks have told something that makes a look worthwhile."""
        ended = [ref for ref in ingested.ended if self._reconciler.has_transcript(*ref)]
        if not ended and not ingested.begun:
            return
        with self._lock:
            due = time.monotonic() + SETTLE_SECONDS
            self._ended |= dict.fromkeys(ended, due)
            if ended:
                self._settled.clear()
            self._begun |= ingested.begun
        self._wake.set()

    def look(self) -> None:
        """At everything, when there is time."""
        with self._lock:
            self._asked += 1
        self._wake.set()

    def wait_for_look(self, seconds: float) -> None:
        """Until everything was looked at once, or for long enough."""
        self._looked.wait(seconds)

    def wait_for_turns(self) -> None:
        """Until what hooks missed of turns that have just ended is read; not for long."""
        self._settled.wait(2 * SETTLE_SECONDS)

    def idle(self) -> bool:
        imports = self._backfill is not None and self._backfill.waits()
        busy = self._ended or self._begun or self._looking() or imports
        return self._looked.is_set() and not busy

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        self._looked.set()
        self._settled.set()

    def run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                wait = self._turn()
                self._on_fault(None)
            except Exception as error:
                # A locked database, most likely. What was to be looked at is still to be.
                self._on_fault(error)
                wait = self._retry_seconds
            self._wake.wait(wait)

    def _turn(self) -> float | None:
        """Do what is due. Seconds until the next thing is; None if there is none."""
        for ref in [ref for ref, due in list(self._ended.items()) if due <= time.monotonic()]:
            due = self._ended[ref]
            self._tell(self._reconciler.session(*ref, self._goes_on))
            with self._lock:
                if self._ended[ref] == due:  # else another turn of it has ended meanwhile
                    del self._ended[ref]
                if not self._ended:
                    self._settled.set()
        for ref in list(self._begun):
            self._tell(self._reconciler.before(*ref, self._goes_on))
            with self._lock:
                self._begun.discard(ref)
        if self._looking() and self._goes_on():
            self._serving = self._serving or self._asked
            healed, over = self._reconciler.recent(STEP_SECONDS, self._goes_on)
            self._tell(healed)
            if not over:
                return PAUSE_SECONDS
            self._on_looked()
            self._answered, self._serving = self._serving, 0
            self._looked.set()
            if self._looking():
                return PAUSE_SECONDS
        if self._backfill is not None and self._backfill.waits():
            if self._backfill.step(self._goes_on):
                self._on_healed()
            return PAUSE_SECONDS
        if not self._ended:
            return None
        return max(0.0, min(self._ended.values()) - time.monotonic())

    def _looking(self) -> bool:
        return self._answered < self._asked

    def _goes_on(self) -> bool:
        """Asked between two parts: a hook that waits for its answer comes first."""
        self._give_way()
        return not self._stopping.is_set()

    def _tell(self, healed: Healed) -> None:
        if healed.added:
            self._on_healed()
