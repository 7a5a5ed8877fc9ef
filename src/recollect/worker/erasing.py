"""Erasing for good, in a thread of its own: rows, index, memories and their history, files, backups.

One at a time, and no job runs meanwhile: what it has read could come back with what it writes. The order is
on the disk before anything goes, and is taken away when nothing is left; a worker that finds one goes on.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.errors import RecollectError
from recollect.memory.storage import files
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.outgoing import places_of_user
from recollect.model.erasing import Changing, Erasure, Matching, Reach, Rows, read
from recollect.needle import Needle
from recollect.paths import Paths
from recollect.privacy import payloads
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.worker import erasing_backups, erasing_plan
from recollect.worker.briefs import Briefs
from recollect.worker.erasing_files import ErasingFiles
from recollect.worker.erasing_names import Names
from recollect.worker.erasing_places import memories_with, places_of
from recollect.worker.erasing_plan import Plan, Sieve
from recollect.worker.erasing_run import Ends, Run
from recollect.worker.memory_work import MemoryWork
from recollect.worker.pausing import Pausing
from recollect.worker.projects import ProjectFinder

Json = dict[str, Any]
SPOOL_SECONDS, PAUSE = 60.0, 0.05
ROUNDS = 3  # what is written while we look is found the next time
INDEXED = 64  # rows in a step
STOPPED = "The erasure stopped ({}; see `recollect worker logs`)."
NOTHING_LEFT = Reach(Rows(), {}, frozenset(), frozenset())


@dataclass(slots=True)
class Eraser:
    paths: Paths
    store: Store
    clock: Clock
    busy: threading.Lock  # held while jobs are run
    briefs: Briefs
    finder: ProjectFinder
    pausing: Pausing
    memories: MemoryWork
    redactor: Redactor
    new_backup: Callable[[], str | None]  # its name, if it could be made
    go_on: Callable[[], bool]  # waits while a hook is answered; False: the worker ends
    wake: Callable[[], None]  # has the spool read
    on_fault: Callable[[Exception | None], None]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _run: Run | None = None
    _thread: threading.Thread | None = None

    def verbs(self) -> dict[str, Callable[[Json], Json]]:
        return {"erase-begin": self.begin, "erase-progress": self.progress}

    def at_work(self) -> bool:
        return self._run is not None and not self._run.over

    def begin(self, order: Json) -> Json:
        """`wanted`, `dry_run`. The name to ask with; the same order twice is one."""
        try:
            wanted = read(order["wanted"])
            self._sieve(Plan(wanted, self.clock()))
        except RecollectError as error:
            return {"refused": str(error)}
        with self._lock:
            dry = bool(order["dry_run"])
            first = self._run if self.at_work() else None if dry else self._take_up()
            if first is not None:
                same = (first.plan.wanted, first.dry) == (wanted, dry)
                return {"name": first.name} if same else {"busy": True}
            plan = Plan(wanted, self.clock(), places=places_of(self, wanted))
            if not dry:
                plan.save(self.paths)
            return {"name": self._start(plan, dry=dry).name}

    def progress(self, order: Json) -> Json:
        run = self._run
        return run.told() if run is not None and run.name == order["name"] else {"lost": True}

    def resume(self) -> None:
        """What an earlier worker did not finish, unless somebody asked for it before we got here."""
        with self._lock:
            if not self.at_work():
                self._take_up()

    def wait(self) -> None:
        """For the end of the worker: what is under way comes to the end of a step, and the order stays."""
        if self._thread is not None:
            self._thread.join()

    def _take_up(self) -> Run | None:
        """What was left goes first: the file holds one order, and another would take its place."""
        try:
            left = erasing_plan.load(self.paths)
        except RecollectError as error:
            self.on_fault(error)
            return None
        if left is None:
            return None
        log.action("erase.resumed", what=left.wanted.what)
        return self._start(left, dry=False)

    def _start(self, plan: Plan, *, dry: bool) -> Run:
        run = self._run = Run(os.urandom(8).hex(), plan, dry)
        self._thread = threading.Thread(target=self._work, args=(run,), name="erasing", daemon=True)
        self._thread.start()
        return run

    def _work(self, run: Run) -> None:
        try:
            self._wait_for_spool(run.plan)
            with self.busy:
                self._look(run) if run.dry else self._erase(run)
            if not self.paths.erasing_file.exists():  # looking mends nothing
                self.on_fault(None)
        except Ends:
            log.action("erase.waits", what=run.plan.wanted.what)
        except Exception as error:
            self.on_fault(error)
            known = isinstance(error, RecollectError)
            run.error = str(error) if known else STOPPED.format(type(error).__name__)
        run.over = True

    def _wait_for_spool(self, plan: Plan) -> None:
        """What was captured before is stored first, so that it is found."""
        end = time.monotonic() + SPOOL_SECONDS
        while time.monotonic() < end and self._spooled(plan.at):
            self._step()
            self.wake()
            time.sleep(PAUSE)

    def _spooled(self, before: int) -> bool:
        with os.scandir(self.paths.spool_new) as entries:
            return any(_is_older(each, before) for each in entries)

    def _look(self, run: Run) -> Reach:
        run.step = "looking"
        sieve = self._sieve(run.plan)
        wanted = run.plan.wanted
        rows = self.store.rows_of(wanted)
        if wanted.what == "text" and sieve.matching:
            rows |= self.store.rows_with(sieve.matching, self._shown(run))
        reach = self.store.reach(rows)
        plan = run.plan = run.plan.knowing(reach.rows.observations | reach.rows.forgotten)
        run.counts = reach.counts | {
            "memories": memories_with(self.paths.memory, self._sieve(plan))
        }
        if wanted.what == "secrets" and sieve.matching:
            run.counts["rows"] = _number(self.store.rows_with(sieve.matching, self._shown(run)))
        if sieve.matching:
            found = ErasingFiles(self.paths, self.store).with_text(sieve.matching, plan.at)
            run.counts["files"] = len(found)
        run.counts["backups"] = len(erasing_backups.every(self.paths))
        return reach

    def _erase(self, run: Run) -> None:
        touched = NOTHING_LEFT
        for number in range(ROUNDS):
            reach = self._look(run) if number == 0 else self._rest(run)
            if number and not reach.rows:
                break
            touched = Reach(
                reach.rows,
                {},
                touched.projects | reach.projects,
                touched.sessions | reach.sessions,
            )
            # What memories are called has to be known before the first one goes.
            sieve = self._sieve(run.plan)
            self._every_memory().look(sieve)
            run.plan = run.plan.knowing(names=sieve.dropped)
            run.plan.save(self.paths)
            self._rows(run, reach.rows)
        self._others(run, touched)
        run.step = "cleaning"
        while self.store.index_waiting(INDEXED):
            self._step()
        self.store.scrub()
        erasing_backups.replace(self.paths, self.new_backup)
        files.remove(self.paths.erasing_file)
        log.action("erase.done", what=run.plan.wanted.what, **run.counts)

    def _rest(self, run: Run) -> Reach:
        """Of a text: what came while we were at it."""
        matching = self._sieve(run.plan).matching
        if run.plan.wanted.what != "text" or matching is None:
            return NOTHING_LEFT
        return self.store.reach(self.store.rows_with(matching, self._shown(run)))

    def _rows(self, run: Run, rows: Rows) -> None:
        run.step = "erasing"
        total, done = _number(rows), 0
        for count in self.store.erase(rows, run.plan.at):
            done += count
            run.shown(done, total)
            self._step()
        self.pausing.reload()
        sieve = self._sieve(run.plan)
        if sieve.matching and sieve.changing:
            self._replace(run, sieve.matching, sieve.changing)

    def _replace(self, run: Run, matching: Matching, changing: Changing) -> None:
        for _ in self.store.replace_text(matching, changing, self._shown(run)):
            self._step()

    def _others(self, run: Run, touched: Reach) -> None:
        """What lies beside the database, and what is told from it."""
        run.step = "files"
        sieve = self._sieve(run.plan)
        own = ErasingFiles(self.paths, self.store)
        self.finder.forget_all()
        self.briefs.sessions.sweep()
        for session_id in touched.sessions:
            self.briefs.sessions.refresh(session_id)
        self._every_memory().erase(sieve)
        self.memories.look_again()
        names = Names(run.plan.names)
        if sieve.matching and sieve.changing:
            own.erase(sieve.matching, sieve.changing, run.plan.at)
        if names:
            self._replace(run, names.found, names.changed)
            own.erase(names.found, names.changed, run.plan.at)
        own.drop_lists()
        own.drop_briefs()
        known = {each.id for each in self.store.projects()}
        for project_id in touched.projects & known if not sieve.matching else known:
            self.briefs.prepare(project_id)

    def _every_memory(self) -> Memories:
        return Memories(places_of_user(self.paths.memory), self.clock)

    def _step(self) -> None:
        """Between two: the order is on the disk, and the next worker goes on."""
        if not self.go_on():
            raise Ends

    def _sieve(self, plan: Plan) -> Sieve:
        """Raises ConfigError for a text that means nothing."""
        match plan.wanted:
            case Erasure(what="text", text=text):
                needle = Needle(text)
                return Sieve(plan, needle.found, needle.changed)
            case Erasure(what="secrets"):
                return Sieve(plan, self._has_secret, self._redacted)
            case _:
                return Sieve(plan)

    def _redacted(self, text: str) -> str:
        body = text.encode("utf-8", "surrogateescape")
        return payloads.redacted(self.redactor, body).decode("utf-8", "surrogateescape")

    def _has_secret(self, text: str) -> bool:
        return self._redacted(text) != text

    def _shown(self, run: Run) -> Callable[[int, int], None]:
        def shown(done: int, total: int) -> None:
            run.shown(done, total)
            self._step()

        return shown


def _number(rows: Rows) -> int:
    return sum(len(getattr(rows, name)) for name in Rows.__dataclass_fields__)


def _is_older(entry: os.DirEntry[str], before: int) -> bool:
    try:
        return entry.is_file() and entry.stat().st_mtime_ns // 1_000_000 <= before
    except FileNotFoundError:  # it was stored between listing it and looking at it
        return False
