"""From the spool into the store: read a batch, commit it durably, then unlink the files.

A kill between commit and unlink delivers the batch again, and the store drops what it has. A file that
cannot be read is moved to `spool/bad` with its reason; it is never parsed in part and never deleted.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from types import UnionType

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.errors import StoreError
from recollect.model.arrivals import Arrival, Ingested, SessionRef
from recollect.model.captures import PAUSED, Capture, Unreadable
from recollect.model.events import (
    Event,
    Happening,
    SessionEnded,
    SessionStarted,
    ToolUsed,
    TurnEnded,
)
from recollect.paths import Paths, private_dir
from recollect.payload.limits import LOSSLESS
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.worker import spool_files
from recollect.worker.pausing import Pausing
from recollect.worker.projects import ProjectFinder
from recollect.worker.redacting import has_private, redacted_capture, set_aside
from recollect.worker.spool_files import SpoolFile, shortened

BATCH_FILES = 256
BATCH_BYTES = 16 * 1024 * 1024
# Faults of the machine, not of a file.
OURS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EROFS)
CUT_PRIVATE = "it is so large that it would be cut, and has private parts: nothing of it is kept"
MOST_PLACES = 256  # sessions whose directory is kept in mind


@dataclass(slots=True)
class Ingest:
    paths: Paths
    store: Store
    agents: Mapping[str, Agent]
    finder: ProjectFinder
    boring: tuple[str, ...]
    clock: Clock
    on_stored: Callable[[list[Arrival]], None] = lambda _: None
    thrift: Callable[[], int] = lambda: 0  # see worker/disk.py
    redactor: Redactor = field(default_factory=Redactor)
    pausing: Pausing | None = None
    _places: dict[SessionRef, str] = field(default_factory=dict)

    def drain(self, go_on: Callable[[], bool] = lambda: True) -> Ingested:
        """Everything that waits now, oldest first, while `go_on` says so before each batch."""
        batches = _batches(_waiting(self.paths.spool_new))
        return _sum([self._keep(batch) for batch in takewhile(lambda _: go_on(), batches)])

    def _keep(self, batch: list[SpoolFile]) -> Ingested:
        arrivals = [a for file in batch if (a := self._try_to_read(file)) is not None]
        try:
            result = self.store.add_events(arrivals, self.clock())
        except (StoreError, OSError):
            raise  # nothing was unlinked: the batch waits
        except Exception as error:
            if len(batch) > 1:  # one of them is poison: find it without holding up the others
                return _sum([self._keep([file]) for file in batch])
            self._quarantine(batch[0], f"it cannot be stored: {log.cause(error)}")
            return Ingested(0, 0, 0, frozenset())
        for file in batch:
            file.path.unlink(missing_ok=True)
        for arrival in arrivals:  # the capture's id leads from the hook's file to the stored row
            event, capture = arrival.event, arrival.capture
            log.action("ingest.event", capture=capture.id, kind=event.kind, session=event.session)
        counts = {"added": result.added, "duplicates": result.duplicates}
        log.action("ingest.stored", **counts, closed_turns=result.closed_turns)
        self.on_stored(arrivals)
        return replace(
            result,
            begun=_sessions(arrivals, SessionStarted),
            ended=_sessions(arrivals, TurnEnded | SessionEnded),
        )

    def _try_to_read(self, file: SpoolFile) -> Arrival | None:
        """Whatever is wrong with one file must not hold up the others."""
        try:
            return self._read(file)
        except (StoreError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OURS:
                raise
            self._quarantine(file, f"it cannot be read: {log.cause(error)}")
            return None

    def _read(self, file: SpoolFile) -> Arrival | None:
        """None when there is nothing to store: quarantined, gone, or of no interest."""
        try:
            capture = spool_files.read(file)
        except FileNotFoundError:
            return None
        if isinstance(capture, Unreadable):
            self._quarantine(file, capture.why)
            return None
        if file.size > LOSSLESS and has_private(file.path):
            self._quarantine(file, CUT_PRIVATE)
            return None
        return self._understand(file, redacted_capture(self.redactor, capture))

    def _understand(self, file: SpoolFile, capture: Capture) -> Arrival | None:
        agent = self.agents.get(capture.agent)
        if agent is None:
            self._quarantine(file, f"the agent {capture.agent!r} is not known")
            return None
        if capture.hook == PAUSED:
            if self.pausing is not None:
                self.pausing.note(capture)
            return None
        event = agent.parse(capture)
        if isinstance(event, Unreadable):
            self._quarantine(file, event.why)
            return None
        if event is None:
            log.action("ingest.ignored", capture=capture.id, hook=capture.hook)
            return None
        capture = replace(capture, project_dir=self._directory(capture, event))
        if self._is_refused(capture, event):
            log.action("ingest.paused", capture=capture.id, session=event.session)
            return None
        project_id = self.finder.of(capture.project_dir)
        boring = event.tool is not None and is_boring(event.tool, self.boring)
        if isinstance(event.what, ToolUsed) and self.thrift() > (0 if boring else 1):
            capture = replace(capture, body=shortened(capture.body))
        return Arrival(capture, event, project_id, boring)

    def _is_refused(self, capture: Capture, event: Event) -> bool:
        """The user wants it not recorded, or has had its session erased."""
        session = (event.agent, event.session)
        return self.pausing is not None and self.pausing.refuses(
            session, capture.project_dir, capture.at
        )

    def _directory(self, capture: Capture, event: Event) -> str:
        """Where it happened. An agent that says nothing of it is where its session is, if that is known:
        it may stand before it in the spool."""
        session = (event.agent, event.session)
        if found := capture.project_dir or event.cwd:
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            self._places.setdefault(session, found)
            return found
        known = self.store.session_by_ref(*session)
        return known.project_dir if known else self._places.get(session, str(Path.home()))

    def _quarantine(self, file: SpoolFile, why: str) -> None:
        """The row first: a kill in between leaves the file to be judged again."""
        name, why = file.path.name, self.redactor.text(why)
        self.store.add_quarantine(name, why, file.size, self.clock())
        private_dir(self.paths.spool_bad)  # somebody may have tidied up
        try:
            set_aside(self.redactor, file.path, self.paths.spool_bad / name)
        except FileNotFoundError:
            return
        log.warning("ingest.quarantined", capture=name, why=why, size=file.size)


def _sessions(arrivals: list[Arrival], what: type[Happening] | UnionType) -> frozenset[SessionRef]:
    events = (arrival.event for arrival in arrivals)
    return frozenset((e.agent, e.session) for e in events if isinstance(e.what, what))


def is_boring(tool: str, patterns: tuple[str, ...]) -> bool:
    return any(tool.startswith(p[:-1]) if p.endswith("*") else tool == p for p in patterns)


def _waiting(folder: Path) -> list[SpoolFile]:
    """By the time their last byte was written; the name breaks ties, so that the order is total."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(status.st_mode):
                path, owner = Path(entry.path), status.st_uid
                found.append(SpoolFile(path, status.st_mtime_ns, status.st_size, owner))
    return sorted(found, key=lambda file: (file.at_ns, file.path.name))


def _batches(files: list[SpoolFile]) -> Iterator[list[SpoolFile]]:
    batch: list[SpoolFile] = []
    size = 0
    for file in files:
        if batch and (len(batch) == BATCH_FILES or size + file.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def _sum(parts: list[Ingested]) -> Ingested:
    return Ingested(
        sum(p.added for p in parts),
        sum(p.duplicates for p in parts),
        sum(p.closed_turns for p in parts),
        frozenset().union(*(p.projects for p in parts)),
        frozenset().union(*(p.begun for p in parts)),
        frozenset().union(*(p.ended for p in parts)),
    )
