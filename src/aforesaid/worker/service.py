"""The running worker: one thread ingests, others run jobs, read transcripts, index and make backups, and a
few answer hooks. It ends when idle."""

import json
import os
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid import __version__, log
from aforesaid.backups import recovery_log
from aforesaid.clock import MINUTE, SECOND
from aforesaid.ids import lease_name
from aforesaid.worker import health
from aforesaid.worker.commands import Commands, as_json
from aforesaid.worker.context import Context, Loop
from aforesaid.worker.database import BackupThread
from aforesaid.worker.hook_answers import HookAnswers
from aforesaid.worker.indexing import IndexingThread
from aforesaid.worker.ingest import Ingest
from aforesaid.worker.jobs import (
    LEAST_WAIT,
    DraftsLoop,
    JobRunner,
    JobsLoop,
    lease_milliseconds,
)
from aforesaid.worker.maintenance import FileWatchdog, Housekeeper
from aforesaid.worker.memory import MemoryWork
from aforesaid.worker.purge import Purger
from aforesaid.worker.reconcile import Reconciler, TranscriptThread
from aforesaid.worker.rpc import Answer, Handler
from aforesaid.worker.web import Web

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

LOSS_SECONDS = 1.0  # how long the deletion of a home may take
POLL_SECONDS = 2.0  # between looks, on a system that gives no file events
SAFETY_SECONDS = 20.0  # events get dropped under load, and the folder may be deleted
MAINTENANCE_SECONDS = 3600.0
EXPECT_SECONDS = 0.01  # a hook writes its capture first, then asks


def watch_spool(folder: Path, wake: threading.Event) -> "BaseObserver | None":
    """Sets an event for each new file. None where the system's limit of watches is used up."""
    # Loaded when the worker answers already.
    from watchdog.events import FileCreatedEvent, FileMovedEvent, FileSystemEventHandler
    from watchdog.observers import Observer

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: object) -> None:  # noqa: ARG002
            wake.set()

    observer = Observer()
    try:
        # Our own reading and deleting makes events too, which are ignored.
        kinds = [FileCreatedEvent, FileMovedEvent]
        observer.schedule(Handler(), str(folder), event_filter=kinds)
        observer.start()
    except OSError as error:
        log.warning("wake.blind", error=error)
        return None
    return observer


class Service(Loop):
    """The main thread ingests."""

    name = "ingest"
    must_restart = False  # once it has ended

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._wake, self._longest_wait = context.wake_ingest, SAFETY_SECONDS
        settings, paths = context.settings, context.paths
        self._started_at, self._next_maintenance = context.clock(), 0.0
        self._tidying_due = True
        self._threads: list[threading.Thread] = []
        self._briefs = threading.Lock()  # jobs and drafts prepare them
        self._clock_offset = self._measure_clock()
        self._watchdog = FileWatchdog(paths.lock_file, paths.database, paths.spool_new)
        self.backups = BackupThread(context)
        self._housekeeper = Housekeeper(context)
        self._ingest = Ingest(
            context,
            on_stored=context.notifier.captured,
            thrift=lambda: self._housekeeper.room.thrift,
        )
        self.indexing = IndexingThread(context)
        self.memories = MemoryWork(context, self.backups.make_before_dream)
        self.answers = HookAnswers(
            context,
            self.memories.recall,
            problem=self._problem,
            expect_question=self.indexing.expect_question,
        )
        self.reconciler = Reconciler(context, replay_since=recovery_log.replay_since(paths))
        self.transcripts = TranscriptThread(
            self.reconciler, on_healed=self._healed, on_looked=self._looked
        )
        self.purger = Purger(
            context,
            answers=self.answers,
            memories=self.memories,
            new_backup=self.backups.make_replacement,
        )
        self.commands = Commands(self)
        self.web = Web(self)
        self._active_at = time.monotonic()
        runner = JobRunner(
            context,
            holder=lease_name(),
            lease=lease_milliseconds(settings.number("worker.lease_seconds"), context.choice.model),
            service=self,
        )
        self._jobs, self._drafts = JobsLoop(self, runner), DraftsLoop(self, runner)
        loops = (self._jobs, self._drafts, self.transcripts, self.indexing, self.backups)
        self._loops: tuple[Loop, ...] = loops

    def handlers(self) -> dict[str, Handler]:
        return {
            "ask": self._answer,
            "status": lambda _: json.dumps(self.status()).encode(),
            "query": as_json(self._query),
            "stop": self._stop_on_request,
            "web": as_json(self.web.open),
            **{name: as_json(command) for name, command in self.commands.all().items()},
        }

    def run(self) -> None:
        """Until asked to stop, or idle for long enough."""
        watch = watch_spool(self.context.paths.spool_new, self.context.wake_ingest)
        self._longest_wait = SAFETY_SECONDS if watch else POLL_SECONDS
        threads = [threading.Thread(target=each.run, name=each.name) for each in self._loops]
        for thread in threads:
            thread.start()
        self._threads = threads
        self.web.begin()
        self.purger.resume()
        try:
            super().run()
            self.must_restart |= self.backups.damaged
        finally:
            self._threads = []
            self.stop()
            self.web.close()
            self.purger.wait()
            self.commands.imports.wait()
            for thread in threads:
                thread.join()
            if watch:
                watch.stop()
                watch.join(timeout=2)

    def stop(self) -> None:
        """What is under way is finished; what waits stays where it is."""
        super().stop()
        for each in self._loops:
            each.stop()
        if self.context.choice.model is not None:
            self.context.choice.model.close()  # a request may take minutes; its job is given back

    def status(self) -> dict[str, object]:
        context = self.context
        queue = context.store.health()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": (context.clock() - self._started_at) // SECOND,
            "memory_kb": health.memory_kb(),
            "provider": str(context.choice.author),
            "provider_why": context.choice.why,
            "outage": asdict(outage) if (outage := context.breaker.outage) else None,
            "spool": health.waiting(context.paths),
            "quarantine": queue.quarantined,
            "idle": self.is_idle(),
            "fault": self._fault(),
            "problem": self._problem(),
            "disk": asdict(self._housekeeper.room),
            "queue": asdict(queue),
            "redacted": dict(context.redacted),
            "index": asdict(context.store.index.health()),
            "import": self.transcripts.describe_imports(),
            "paused": context.pauses.status(),
        }

    def ingest_last(self) -> None:
        """What a hook delivered while the worker still seemed to run. One batch: the next worker, which hooks
        start while this one holds the lock, takes the rest."""
        self.memories.recall.close()
        once = iter([True])
        if not self._watchdog.find_replaced() and not self.backups.damaged:
            self._ingest.drain(lambda: next(once, False))

    def _problem(self) -> str | None:
        context = self.context
        queue, outage = context.store.health(), context.breaker.outage
        fault, parked = self._fault(), None
        if outage and outage.for_user and (queue.pending or context.breaker.blocked()):
            parked = f"notes are written without the model for now: {outage.why}".rstrip(".")
        return health.problem(
            context.paths,
            queue,
            context.clock(),
            f"the worker is held up ({fault})" if fault else None,
            parked,
            self._housekeeper.room.warning,
            health.describe_lost_events(context.paths, context.store, unreported_only=True),
        )

    def _fault(self) -> str | None:
        if ended := [each.name for each in self._threads if not each.is_alive()]:
            return (
                f"its work on {', '.join(ended)} has ended; `aforesaid worker restart` restarts it"
            )
        return next(iter(list(self.context.faults.values())), None)

    def _query(self, request: dict[str, Any]) -> dict[str, Any]:
        from aforesaid.worker import queries  # loaded by the first one

        return queries.answer_in_worker(request, self.context, self.status)

    def turn(self) -> float:
        context = self.context
        if lost := self._watchdog.find_replaced():
            # Start again on what is there now, unless the home is gone altogether; that takes a moment.
            log.warning("worker.lost", file=lost)
            context.stopping.wait(LOSS_SECONDS)
            self.must_restart = context.paths.run.exists()
            context.stopping.set()
            return 0.0
        context.priority.yield_to_hooks(EXPECT_SECONDS)
        self._check_clock()
        self._drain()
        if not context.stopping.is_set():
            self._maintain()
        if self._is_over():
            log.action("worker.idle")
            context.stopping.set()
            return 0.0
        return min(self._longest_wait, max(LEAST_WAIT, self.seconds_left()))

    def failed(self, error: Exception) -> None:
        """A locked database or a full disk: the spool keeps all."""
        self._housekeeper.make_room_after(error)

    def _check_clock(self) -> None:
        """After the clock was set back, jobs would wait for a time that was past already. A change of less
        than a minute is a time server's."""
        before, self._clock_offset = self._clock_offset, self._measure_clock()
        if self._clock_offset < before - MINUTE:
            due = self.context.store.jobs.make_due(self.context.clock())
            log.warning("worker.clock_set_back", due=due)

    def _measure_clock(self) -> int:
        return self.context.clock() - round(time.monotonic() * SECOND)

    def _maintain(self) -> None:
        """At the start, then every hour."""
        if time.monotonic() < self._next_maintenance:
            return
        self._housekeeper.run()
        self._next_maintenance = time.monotonic() + MAINTENANCE_SECONDS
        self._tidying_due = True
        self._wake_jobs()
        self.transcripts.look()
        self.backups.wake()

    def _drain(self) -> None:
        ingested = self._ingest.drain(self.context.go_on)
        if ingested.added or ingested.duplicates:
            self.note_activity()
            self.answers.prepare_missing_briefs(ingested.projects)
            self.transcripts.after(ingested)
            self.indexing.wake()
        self.answers.record_notes()
        self.backups.record_newest_event()
        # Also jobs that an earlier worker left behind: the runner looks at once when it starts.
        self._wake_jobs()

    def note_activity(self) -> None:
        self._active_at = time.monotonic()

    def seconds_left(self) -> float:
        """Until nothing has happened for long enough. An open viewer counts as activity."""
        if self.web.is_wanted():
            self.note_activity()
        limit = self.context.settings.number("worker.idle_minutes") * 60
        return self._active_at + limit - time.monotonic()

    def is_idle(self) -> bool:
        """Nothing waits and nothing is being done."""
        context = self.context
        if health.has_captures(context.paths) or not context.busy.acquire(blocking=False):
            return False
        try:
            due = context.store.jobs.next_due()
            return (due is None or due > context.clock()) and self._at_rest()
        finally:
            context.busy.release()

    def _at_rest(self) -> bool:
        at_work = self.purger.at_work() or self.commands.imports.at_work()
        return (
            all(each.idle() for each in self._loops if each is not self._jobs)
            and not self.context.changed
            and not at_work
        )

    def _is_over(self) -> bool:
        ended = self.seconds_left() <= 0 and self.is_idle()
        return ended and self.context.store.jobs.next_due() is None

    def _looked(self) -> None:
        self.reconciler.interrupt_stale()
        recovery_log.mark_replayed(self.context.paths)
        self._wake_jobs()

    def _healed(self) -> None:
        self.note_activity()
        self._wake_jobs()

    def _wake_jobs(self) -> None:
        self.context.wake_jobs.set()
        self._drafts.wake()

    def prepare_briefs(self) -> None:
        with self._briefs:
            while self.context.changed:
                self.indexing.wake()
                self.answers.prepare_brief(self.context.changed.pop())

    def after_jobs(self) -> None:
        """While no job runs."""
        if self.context.paths.memory.exists():  # what dreams need is loaded by the first one
            self.memories.dreamer.run_if_due()
        self.prepare_briefs()
        if self._tidying_due:
            self._tidying_due = False
            self.memories.tidy()
            self._housekeeper.age_out()

    def _answer(self, request: bytes) -> Answer:
        self.note_activity()
        answer = self.answers.answer(request)

        def done(delivered: bool) -> None:
            answer.done(delivered)
            self.context.wake_ingest.set()  # to record what was injected

        # The version first: a newer hook replaces an older worker.
        return Answer(f"{__version__}\n".encode() + answer.text, done)

    def _stop_on_request(self, _: bytes) -> bytes:
        log.action("worker.told_to_stop")
        self.stop()
        return b"stopping\n"
