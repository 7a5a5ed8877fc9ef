"""The thread that runs jobs, and does what is done beside them. It sleeps until one is due."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from recollect.clock import SECOND, Clock
from recollect.providers.protocol import Model
from recollect.store.protocol import Store
from recollect.worker.idleness import Idleness
from recollect.worker.jobs import JobRunner
from recollect.worker.transcript_thread import TranscriptThread

LEAST_WAIT = 0.05  # seconds
LOOK_EVERY_SECONDS, LOOK_AFTER_SECONDS = 30.0, 600.0
HEAL_FIRST_SECONDS = 10.0  # how long jobs wait for the first look at the transcripts
FAULT_SECONDS = 30.0  # after the store or the disk refused


@dataclass(frozen=True, slots=True)
class JobsLoop:
    """`busy`: held while jobs are run, and what is done `beside` them. `on_fault`: None once it gets on."""

    store: Store
    clock: Clock
    model: Model | None
    runner: JobRunner
    busy: threading.Lock
    transcripts: TranscriptThread
    idleness: Idleness
    wake: threading.Event
    stopping: threading.Event
    go_on: Callable[[], bool]
    beside: Callable[[], None]
    on_fault: Callable[[Exception | None], None]

    def run(self) -> None:
        # What the last worker left half told is written about once, when it is whole.
        self.transcripts.wait_for_look(HEAL_FIRST_SECONDS)
        while not self.stopping.is_set():
            self.wake.clear()
            if self.model is not None:  # an event that is told late costs another request
                self.transcripts.wait_for_turns()
            try:
                with self.busy:
                    if self.runner.run_due(self.go_on):
                        self.idleness.interrupted()
                    self.beside()
                wait = self._until_next()
                self.on_fault(None)
            except Exception as error:  # a thread that died in silence would be worse
                self.on_fault(error)
                wait = FAULT_SECONDS
            self.wake.wait(wait)

    def _until_next(self) -> float:
        """Seconds. A model that was asked a while ago is looked after: what it keeps open may go."""
        wait = max(LEAST_WAIT, self.idleness.seconds_left())
        due = self.store.next_due()
        if due is not None:
            closed = self.runner.rests()
            wait = max(0.01, (max(due, closed.until if closed else 0) - self.clock()) / SECOND)
        if self.model is not None:
            self.model.idle()
            if self.idleness.since() < LOOK_AFTER_SECONDS:
                wait = min(wait, LOOK_EVERY_SECONDS)
        return wait
