"""The running worker: one thread ingests, one runs jobs, one heals, a few answer hooks. It ends when idle."""

import json
import os
import threading

from recollect import __version__, log
from recollect.backups import accounts
from recollect.clock import Clock
from recollect.ids import lease_name
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.wiring import AGENTS, Home, redactor, searcher
from recollect.wiring import provider as choose_provider
from recollect.worker import chores
from recollect.worker.announcing import Announcing
from recollect.worker.backfill import Backfill
from recollect.worker.briefs import Briefs
from recollect.worker.changed import Changed
from recollect.worker.control import Control
from recollect.worker.gate import Gate
from recollect.worker.idleness import Idleness
from recollect.worker.indexing import Indexer, IndexingThread
from recollect.worker.ingest import Ingest
from recollect.worker.jobs import JobRunner, lease
from recollect.worker.jobs_loop import LEAST_WAIT, JobsLoop
from recollect.worker.listener import Answer, Listener
from recollect.worker.memory_work import MemoryWork
from recollect.worker.orders import Orders, as_json
from recollect.worker.precedence import MOMENT, Precedence
from recollect.worker.projects import ProjectFinder
from recollect.worker.reconcile import Reconciler
from recollect.worker.report import Report
from recollect.worker.safekeeping import Safekeeping
from recollect.worker.tally import Tally
from recollect.worker.transcript_thread import TranscriptThread
from recollect.worker.vitals import Vitals
from recollect.worker.wake import SpoolWatch
from recollect.worker.web import Web

LOSS_SECONDS = 1.0  # how long a deletion may take
FAULT_SECONDS = (0.5, 30.0)  # first and longest pause after the store or the disk refused


class Service:
    must_restart = False  # once it has ended

    def __init__(self, home: Home, store: Store, clock: Clock) -> None:
        self._paths, self._settings = home.paths, home.settings
        self._store, self._clock = store, clock
        self._stopping, self._spool_wake, self._jobs_wake = (threading.Event() for _ in range(3))
        self._busy = threading.Lock()  # held while a job is run
        self._vitals = Vitals(self._paths.lock_file, self._paths.database, self._paths.spool_new)
        tally = Tally()
        hides = redactor(home, on_found=tally.add)
        self._choice, self._gate = choose_provider(home, clock, hides=hides), Gate(clock)
        self._announcing = announcing = Announcing(store, clock)
        self._report = Report(self._paths, store, self._choice, self._gate, clock, clock())
        self._report.on_fault, self._report.redacted = announcing.fault, tally.counts
        self._finder = finder = ProjectFinder(store, clock)
        search, faulty = searcher(store, self._settings, clock), self._report.note_fault
        self._precedence = first = Precedence()
        self._control = control = Control(home, store, clock, finder)
        self.safekeeping = Safekeeping(home, store, clock, first.give_way, self._damaged)
        self._report.on_damage = self.safekeeping.met
        self._changed = Changed(self._jobs_wake)
        self._indexing = IndexingThread(
            Indexer(store, AGENTS, self._changed.at_once),
            *(search, first.give_way, lambda error: faulty("indexing", error)),
        )
        told = self._changed.add, finder.repository, search.encoder
        self._memories = MemoryWork(
            home, store, self._choice, self._gate, clock, *told, announcing=announcing, hides=hides
        )
        self._briefs = Briefs(
            *(self._paths, store, AGENTS, finder, self._settings, clock, self._report.problem),
            *(search, self._memories.telling, self._indexing.expect_a_question, first, hides),
            control.pausing,
        )
        boring = self._settings.names("capture.boring_tools")
        self._chores = chores.Chores(home, store, clock)
        self._ingest = self._make_ingest(boring, hides)
        self._memories.dreamer.before = self.safekeeping.before_dream
        self._transcripts, backfill = self._make_healing(boring, hides)
        self._runner = self._job_runner()
        control.erase_with(
            *(self._busy, self._briefs, finder, self._memories, hides, self.safekeeping.anew),
            *(self._goes_on, self._spool_wake.set, lambda error: faulty("erasing", error)),
        )
        self._orders = Orders(
            *(store, self._choice, self._gate, self._briefs, finder, self._busy, self._jobs_wake),
            *(clock, backfill, self._transcripts.look, self._indexing.wake, self._memories, hides),
            control.verbs(),
        )
        self.web = Web(
            *(home, announcing, search, self._memories.dreamer.finder, self._memories.of),
            *(self._orders.verbs, self.status, self._stopping.is_set, first.give_way, hides),
        )
        self._idleness = self._make_idleness()
        self._jobs = JobsLoop(
            *(store, clock, self._choice.model, self._runner, self._busy, self._transcripts),
            *(self._idleness, self._jobs_wake, self._stopping, self._goes_on, self._beside_jobs),
            lambda error: faulty("jobs", error),
        )

    def _make_ingest(self, boring: tuple[str, ...], hides: Redactor) -> Ingest:
        self._report.disk = disk = self._chores.disk
        disk.age_out = self._control.let_go
        found = (self._paths, self._store, AGENTS, self._finder, boring, self._clock)
        return Ingest(*found, self._announcing.captured, disk.thrift, hides, self._control.pausing)

    def _make_healing(
        self, boring: tuple[str, ...], hides: Redactor
    ) -> tuple[TranscriptThread, Backfill]:
        """Who reads transcripts, for what hooks missed and for the past."""
        shared = (self._store, AGENTS, self._finder, self._clock, os.environ, boring)
        told_by = (*shared, self._control.pausing)
        again = accounts.replay_since(self._paths)
        self._reconciler = Reconciler(*told_by, redactor=hides, replay_since=again)
        importer = Reconciler(*told_by, importing=True, redactor=hides)
        backfill = Backfill(self._paths, self._store, AGENTS, self._clock, importer)
        thread = TranscriptThread(
            self._reconciler,
            on_healed=self._healed,
            on_looked=self._looked,
            on_fault=lambda error: self._report.note_fault("healing", error),
            give_way=self._precedence.give_way,
            retry_seconds=FAULT_SECONDS[1],
            backfill=backfill,
        )
        return thread, backfill

    def _job_runner(self) -> JobRunner:
        held = lease(self._settings.number("worker.lease_seconds"), self._choice.model)
        return JobRunner(
            *(self._store, AGENTS, self._choice, self._gate, lease_name(), held, self._clock),
            *(self._changed.add, self._briefs.sessions.write, self._memories.extractor),
            self._announcing.done,
        )

    def _make_idleness(self) -> Idleness:
        resting = (
            *(self._transcripts.idle, self._indexing.idle, lambda: not self._changed),
            *(self._control.idle, self.safekeeping.idle),
            lambda: not self._orders.imports.at_work(),
        )
        seconds = self._settings.number("worker.idle_minutes") * 60
        found = (self._paths, self._store, self._clock, seconds, self._busy)
        return Idleness(*found, resting, self.web.is_wanted)

    def open(self) -> Listener:
        return Listener(
            self._paths,
            {
                "ping": lambda _: f"{__version__}\n".encode(),
                "ask": self._answer,
                "status": lambda _: json.dumps(self.status()).encode(),
                "stop": self._told_to_stop,
                "web": as_json(self.web.open),
                **self._orders.verbs(),
            },
        )

    def run(self) -> None:
        """Until told to stop, or idle for long enough."""
        watch = SpoolWatch(self._paths.spool_new, self._spool_wake)
        others = (
            threading.Thread(target=self._jobs.run, name="jobs"),
            threading.Thread(target=self._transcripts.run, name="healing"),
            threading.Thread(target=self._indexing.run, name="indexing"),
            threading.Thread(target=self.safekeeping.run, name="backups"),
        )
        for thread in others:
            thread.start()
        self._report.ended = lambda: [each.name for each in others if not each.is_alive()]
        self.web.begin()
        self._control.begin()
        try:
            self._run_ingest(watch)
            self.must_restart |= self.safekeeping.damaged
        finally:
            self._report.ended = list
            self.stop()
            self.web.close()
            self._control.wait()
            for thread in others:
                thread.join()
            watch.close()

    def stop(self) -> None:
        """What is under way is finished; what waits stays where it is."""
        self._stopping.set()
        self._spool_wake.set()
        self._jobs_wake.set()
        self._transcripts.stop()
        self._indexing.stop()
        self.safekeeping.stop()
        if self._choice.model is not None:
            self._choice.model.close()  # a request may take minutes; its job is given back

    def status(self) -> dict[str, object]:
        under_way = self._orders.backfill.under_way()
        told: dict[str, object] = {"import": under_way, "paused": self._control.pausing.status()}
        return self._report.status(idle=self._idleness.now()) | told

    def last_look(self) -> None:
        """What a hook delivered while it still saw us as running. One batch: a backlog can wait for the
        next worker, which is started as long as we hold the lock in vain."""
        self._memories.telling.close()
        once = iter([True])
        if not self._vitals.lost() and not self.safekeeping.damaged:
            self._ingest.drain(lambda: next(once, False))

    def _run_ingest(self, watch: SpoolWatch) -> None:
        pause, longest = FAULT_SECONDS
        while not self._stopping.is_set():
            self._spool_wake.clear()
            if lost := self._vitals.lost():
                # Begin anew on what is there now, unless our home is gone altogether; that takes a moment.
                log.warning("worker.lost", file=lost)
                self._stopping.wait(LOSS_SECONDS)
                self.must_restart = self._paths.run.exists()
                return
            try:
                self._precedence.give_way(MOMENT)
                self._chores.before()
                self._drain()
                if self._chores.if_due():
                    self._transcripts.look()
                    self.safekeeping.wake()
                if self._idleness.for_long():
                    log.action("worker.idle")
                    return
                self._report.note_fault("ingest", None)
                pause = FAULT_SECONDS[0]
            except Exception as error:
                # A locked database or a full disk: the spool keeps all. A silent death would be worse.
                self._report.note_fault("ingest", error)
                self._chores.disk.look_after(error)
                self._stopping.wait(pause)
                pause = min(pause * 2, longest)
                self._spool_wake.set()
            left = max(LEAST_WAIT, self._idleness.seconds_left())
            self._spool_wake.wait(min(watch.longest_wait, left))

    def _drain(self) -> None:
        ingested = self._ingest.drain(self._goes_on)
        if ingested.added or ingested.duplicates:
            self._idleness.interrupted()
            self._briefs.prepare_missing(ingested.projects)
            self._transcripts.after(ingested)
            self._indexing.wake()
        self._briefs.record()
        self.safekeeping.note()
        # Also jobs that an earlier worker left behind: the runner looks at once when it starts.
        self._jobs_wake.set()

    def _looked(self) -> None:
        chores.interrupt(self._store, self._reconciler, self._clock)
        accounts.replayed(self._paths)
        self._jobs_wake.set()

    def _damaged(self) -> None:
        """From any thread, in the middle of anything: only the word is passed on."""
        self._stopping.set()
        self._spool_wake.set()

    def _healed(self) -> None:
        self._idleness.interrupted()
        self._jobs_wake.set()

    def _beside_jobs(self) -> None:
        """After each round of them, and while none is run."""
        self._memories.dreamer.if_due()
        while self._changed:
            self._indexing.wake()
            self._briefs.prepare(self._changed.pop())
        self._memories.tidy()
        self._control.retention.if_due(self._goes_on)

    def _goes_on(self) -> bool:
        """Asked between two pieces of work: a hook that waits for its answer comes first."""
        self._precedence.give_way()
        return not self._stopping.is_set()

    def _answer(self, request: bytes) -> Answer:
        self._idleness.interrupted()
        answer = self._briefs.answer(request)

        def done(heard: bool) -> None:
            answer.done(heard)
            self._spool_wake.set()  # to record what was told, beside the answer

        # The version first: a newer hook replaces an older worker.
        return Answer(f"{__version__}\n".encode() + answer.text, done)

    def _told_to_stop(self, _: bytes) -> bytes:
        log.action("worker.told_to_stop")
        self.stop()
        return b"stopping\n"
