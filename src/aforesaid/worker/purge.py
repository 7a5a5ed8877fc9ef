"""Purge: deletes rows, index entries, memories with their history, files and backups for good.

One purge at a time, in its own thread, and no job runs meanwhile: a job could write back what it has
read. The request is on disk before anything is deleted and is removed last, so the next worker resumes an
interrupted purge.
"""

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from aforesaid import log
from aforesaid.backups import database_state, repository
from aforesaid.errors import AforesaidError
from aforesaid.memory.changes import Memories, iter_all_files
from aforesaid.memory.files import remove_file, write_file
from aforesaid.memory.folders import (
    PLAIN_FOLDER,
    PROJECT_FILE,
    RETIRED_FOLDER,
    find_project_folder,
    is_memory_file,
)
from aforesaid.model.names import EVENT, OBSERVATION
from aforesaid.model.observations import cited
from aforesaid.model.purge import ERASED, Changing, Erasure, Matching, Needle, Reach, Rows, read
from aforesaid.paths import Paths, walk
from aforesaid.privacy import payloads
from aforesaid.privacy.redactor import Redactor
from aforesaid.store.store import Store
from aforesaid.worker.context import Context
from aforesaid.worker.database import BackupStopped
from aforesaid.worker.hook_answers import HookAnswers
from aforesaid.worker.maintenance import sweep_session_files
from aforesaid.worker.memory import MemoryWork
from aforesaid.worker.spool import contains, entries

Json = dict[str, Any]
SPOOL_SECONDS, PAUSE = 60.0, 0.05
INDEXED = 64  # rows in a step
BUSY = "Another purge is running. Try again when it has finished."
STOPPED = "The erasure stopped ({}; see `aforesaid worker logs`)."
RESUME = " `aforesaid worker restart` resumes it."
UNREADABLE = (
    "An erasure was not finished; its order cannot be read. Erase it again with `aforesaid purge`."
)
HEAD = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n.*?\n---", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Plan:
    """`observations`, `events`: deleted ones, which memories may cite. `places`: files and folders of
    memories that are deleted as a whole, below the folder of all memories. `names`: of deleted memories.
    `at`: the time of the request. `found`: there was something to erase, and an earlier run may have."""

    wanted: Erasure
    at: int
    observations: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    found: bool = False

    def save(self, paths: Paths) -> None:
        """From here on the purge is finished, by this worker or the next."""
        write_file(paths.erasing_file, json.dumps(asdict(self)).encode())


def load(paths: Paths) -> Plan | None:
    """The unfinished request. One that cannot be read is deleted, and AforesaidError raised."""
    try:
        saved: Json = json.loads(paths.erasing_file.read_bytes())
        lists = {name: tuple(saved[name]) for name in ("observations", "events", "places", "names")}
        return Plan(
            read(saved["wanted"]), int(saved["at"]), found=bool(saved.get("found", True)), **lists
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        remove_file(paths.erasing_file)
        raise AforesaidError(UNREADABLE) from None


class Filter:
    """What is left of texts and of the files of memories. `matching`: where a text or secrets are purged.
    `deleted`: names of memories of which nothing is left; `touched`: something was changed. Raises
    ConfigError for a text that is too short."""

    def __init__(self, plan: Plan, redactor: Redactor) -> None:
        self.plan = plan
        self.matching: Matching | None = None
        self._changing: Changing = str
        if plan.wanted.what == "text":
            needle = Needle(plan.wanted.text)
            self.matching, self._changing = needle.found, needle.changed
        elif plan.wanted.what == "secrets":
            self.matching = lambda text: self._changing(text) != text
            self._changing = partial(_redacted, redactor)
        self.deleted: set[str] = set()
        self.touched = False
        # A name of one word may be any word, so it is not searched for in texts.
        names = sorted((name for name in plan.names if "-" in name), key=len, reverse=True)
        any_of = "|".join(map(re.escape, names)) or r"(?!)"
        self._names = re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])")
        self.searches = bool(names) or self.matching is not None

    def found(self, text: str) -> bool:
        return self._names.search(text) is not None or self._matches(text)

    def changed(self, text: str) -> str:
        return self._names.sub(ERASED, self._changing(text))

    def __call__(self, path: str, data: bytes) -> bytes | None:
        """Returns the new content; None: the file is deleted. Without a path it is the reason of a change."""
        text = data.decode("utf-8", "surrogateescape")
        if not path or not self._is_deleted(path, text):
            kept = self.changed(text)
            self.touched |= kept != text
            return kept.encode("utf-8", "surrogateescape")
        self.touched = True
        if _is_memory(path):
            self.deleted.add(PurePosixPath(path).stem)
        return None

    def _is_deleted(self, path: str, text: str) -> bool:
        plan, name = self.plan, PurePosixPath(path).stem
        head = HEAD.match(text)
        is_text = plan.wanted.what == "text" and not path.endswith(PROJECT_FILE)
        return (
            name in plan.names
            or self._matches(name.replace("-", " "))
            or any(path == each or path.startswith(f"{each}/") for each in plan.places)
            or bool(head and cited(OBSERVATION, head[0]) & {*plan.observations})
            or bool(head and cited(EVENT, head[0]) & {*plan.events})
            or (is_text and self._matches(text))
        )

    def _matches(self, text: str) -> bool:
        return self.matching is not None and self.matching(text)


PROGRESS = ("name", "step", "done", "total", "counts", "over")


@dataclass(slots=True)
class Run:
    """`dry`: nothing is deleted. `counts`: what is affected, once that is known."""

    name: str
    plan: Plan
    dry: bool
    step: str = "waiting"
    done: int = 0
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    over: bool = False


@dataclass(slots=True)
class Purger:
    """`new_backup`: makes one and returns its name, None if it could not."""

    context: Context
    answers: HookAnswers
    memories: MemoryWork
    new_backup: Callable[[], str | None]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _run: Run | None = None
    _thread: threading.Thread | None = None

    def at_work(self) -> bool:
        return self._run is not None and not self._run.over

    def begin(self, request: Json) -> Json:
        """`wanted`, `dry_run`. Returns the name to ask with; the same request twice is one purge."""
        wanted = read(request["wanted"])
        self._filter(Plan(wanted, self.context.clock()))
        with self._lock:
            if self.context.stopping.is_set():
                return {"lost": True}
            dry = bool(request["dry_run"])
            first = self._run if self.at_work() else None if dry else self._resume_left()
            if first is not None:
                same = (first.plan.wanted, first.dry) == (wanted, dry)
                if not same:
                    raise AforesaidError(BUSY)
                return {"name": first.name}
            plan = Plan(wanted, self.context.clock(), places=self._find_places(wanted))
            if not dry:
                plan.save(self.context.paths)
            return {"name": self._start(plan, dry=dry).name}

    def progress(self, request: Json) -> Json:
        run = self._run
        if run is None or run.name != request["name"]:
            return {"lost": True}
        if run.error:
            raise AforesaidError(run.error + ("" if run.dry else RESUME))
        return {name: getattr(run, name) for name in PROGRESS}

    def resume(self) -> None:
        """Continues what an earlier worker did not finish, unless a request has done so already."""
        with self._lock:
            if not self.at_work():
                self._resume_left()

    def wait(self) -> None:
        """When the worker ends: the current step is finished, and the request stays on disk."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _resume_left(self) -> Run | None:
        """An unfinished purge goes first: the file holds one request, and another would replace it."""
        try:
            left = load(self.context.paths)
        except AforesaidError as error:
            self.context.note_fault("purge", error)
            return None
        return self._start(left, dry=False) if left else None

    def _start(self, plan: Plan, *, dry: bool) -> Run:
        run = self._run = Run(os.urandom(8).hex(), plan, dry)
        self._thread = threading.Thread(target=self._work, args=(run,), name="purge", daemon=True)
        self._thread.start()
        return run

    def _work(self, run: Run) -> None:
        try:
            self._wait_for_spool(run.plan.at)
            with self.context.busy, self.context.drafting:
                self._look(run) if run.dry else self._purge(run)
            if not self.context.paths.erasing_file.exists():  # a dry run resolves no fault
                self.context.note_fault("purge", None)
        except BackupStopped:  # the request is on disk, and the next worker continues
            log.action("erase.waits", what=run.plan.wanted.what)
        except Exception as error:
            self.context.note_fault("purge", error)
            known = isinstance(error, AforesaidError)
            run.error = str(error) if known else STOPPED.format(type(error).__name__)
        run.over = True

    def _wait_for_spool(self, before: int) -> None:
        """Earlier captures are stored first, so that they are found."""
        end = time.monotonic() + SPOOL_SECONDS
        spool = self.context.paths.spool_new
        while time.monotonic() < end and any(e[0] // 1_000_000 <= before for e in entries(spool)):
            self._step()
            self.context.wake_ingest.set()
            time.sleep(PAUSE)

    def _look(self, run: Run) -> Reach:
        run.step = "looking"
        store, paths, wanted = self.context.store, self.context.paths, run.plan.wanted
        matching = self._filter(run.plan).matching
        found = store.purge.search(matching, self._progress(run)) if matching else Rows()
        rows = store.purge.select(wanted)
        reach = store.purge.reach(rows | found if wanted.what == "text" else rows)
        run.plan = replace(
            run.plan,
            observations=tuple({*run.plan.observations, *reach.rows.observations}),
            events=tuple({*run.plan.events, *reach.rows.events}),
        )
        memories = count_memories(paths.memory, self._filter(run.plan))
        run.counts = reach.counts | {"memories": memories}
        if wanted.what == "secrets":
            run.counts["rows"] = len(found)
        if matching:
            run.counts["files"] = sum(1 for _ in find_files(paths, matching, run.plan.at))
        # A text may have been erased here since the backups were made; who names it wants it gone there, too.
        named = run.plan.wanted.what in ("text", "secrets")
        run.plan = replace(run.plan, found=run.plan.found or named or any(run.counts.values()))
        run.counts["backups"] = len(every(paths)) if run.plan.found else 0
        return reach

    def _purge(self, run: Run) -> None:
        store, paths = self.context.store, self.context.paths
        reach = self._look(run)
        # What memories are called has to be known before the first one is deleted.
        kept = self._filter(run.plan)
        self._every_memory().look(kept)
        names = tuple({*run.plan.names, *kept.deleted})
        run.plan = replace(run.plan, names=names, found=run.plan.found or kept.touched)
        run.plan.save(paths)
        run.step = "erasing"
        run.done, run.total = 0, len(reach.rows)
        for count in store.purge.delete(reach.rows, run.plan.at):
            run.done += count
            self._step()
        self.context.pauses.reload()
        kept = self._filter(run.plan)
        if kept.searches:  # also in what was stored meanwhile
            for _ in store.purge.replace_text(kept.found, kept.changed, self._progress(run)):
                self._step()
        run.step = "files"
        self._purge_derived(kept, reach.sessions)
        run.step = "cleaning"
        while store.index.update(INDEXED):
            self._step()
        store.maintenance.scrub()
        if run.plan.found:  # else they may be all that is left of other things
            run.counts["backups"] = len(every(paths))
            replace_backups(paths, self.new_backup)
        remove_file(paths.erasing_file)
        log.action("erase.done", what=run.plan.wanted.what, **run.counts)

    def _purge_derived(self, kept: Filter, sessions: frozenset[int]) -> None:
        """Files beside the database, and what is derived from it."""
        store, paths = self.context.store, self.context.paths
        self.context.projects.forget_all()
        sweep_session_files(paths, store)
        for session_id in sessions:
            self.answers.sessions.refresh(session_id)
        self._every_memory().erase(kept)
        self.memories.forget_folders()
        if kept.searches:
            purge_files(paths, store, kept, kept.plan.at)
        for path in chain(_below(paths.file_lists), _below(paths.briefs)):
            path.unlink(missing_ok=True)  # a hook without its list asks
        for project in store.projects.all():
            self.answers.prepare_brief(project.id)

    def _find_places(self, wanted: Erasure) -> tuple[str, ...]:
        """Files and folders of memories that are deleted, relative to the folder of all memories."""
        root, store = self.context.paths.memory, self.context.store
        if wanted.what == "memory":
            held = self.memories.find(wanted.directory).places
            folders = (*held.own, *held.retired)
            return tuple(_relative(root, folder.file(wanted.name)) for folder in folders)
        if wanted.what == "project" and wanted.id is not None:
            known = any(each.id == wanted.id for each in store.projects.all())
            repository = store.projects.repository(wanted.id) if known else None
            folder = find_project_folder(root, repository) if repository else None
            if folder is not None:
                own = _relative(root, folder)
                return own, f"{RETIRED_FOLDER}/{own}", f"{PLAIN_FOLDER}/{folder.name}"
        return ()

    def _every_memory(self) -> Memories:
        from aforesaid.memory.transfer import user_places

        return Memories(user_places(self.context.paths.memory), self.context.clock)

    def _filter(self, plan: Plan) -> Filter:
        return Filter(plan, self.context.redactor)

    def _progress(self, run: Run) -> Callable[[int, int], None]:
        def report(done: int, total: int) -> None:
            run.done, run.total = done, total
            self._step()

        return report

    def _step(self) -> None:
        """Between two steps. If the worker ends here, the next one continues."""
        if not self.context.go_on():
            raise BackupStopped


def _redacted(redactor: Redactor, text: str) -> str:
    body = text.encode("utf-8", "surrogateescape")
    return payloads.redacted(redactor, body).decode("utf-8", "surrogateescape")


def every(paths: Paths) -> list[Path]:
    """All backups and damaged databases."""
    folders = (each for each in (paths.backups, paths.damaged) if each.is_dir())
    return [each for folder in folders for each in folder.iterdir() if each.is_dir()]


def replace_backups(paths: Paths, new_backup: Callable[[], str | None]) -> None:
    """`new_backup`: makes one and returns its name, None if there is no room; if it raises, all stay. An
    unfinished one is deleted too, but not while another process makes it."""
    database_state.record_exclusion(paths)
    if not every(paths):
        return
    new = new_backup()
    with repository.lock_repository(paths):
        for each in every(paths):
            if each.name != new:
                shutil.rmtree(each)


def find_files(paths: Paths, matching: Matching, before: int) -> Iterator[Path]:
    """Those that hold a text, outside of the database, the memories and the log. Captures that are newer than
    `before` (milliseconds) are left."""
    for path in chain([paths.health_note], _below(paths.spool)):
        with suppress(OSError):
            late = path.stat().st_mtime_ns // 1_000_000 > before and path != paths.health_note
            if not late and contains(path, matching):
                yield path


def purge_files(paths: Paths, store: Store, kept: Filter | Needle, before: int) -> None:
    """Deletes what can be made again or was only captured."""
    for path in find_files(paths, kept.found, before):
        if path.parent == paths.spool_bad:
            store.events.drop_quarantine(path.name)
        path.unlink(missing_ok=True)
    log.rewrite(paths.log_file, kept.changed)


def _below(folder: Path) -> Iterator[Path]:
    return (Path(each.path) for each in walk(folder) if each.is_file(follow_symlinks=False))


def count_memories(root: Path, kept: Filter) -> int:
    """How many would change, retired ones included; a session's own memory does not count."""
    found = ((_relative(root, path), path.read_bytes()) for path in iter_all_files(root))
    return sum(kept(name, data) != data for name, data in found if _is_memory(name))


def _is_memory(path: str) -> bool:
    return is_memory_file(PurePosixPath(path).name) and not path.startswith("sessions/")


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
