"""Reconciliation: what transcripts tell is compared with what hooks delivered, and the rest is added.

Of its own accord it reads the transcripts of sessions that the store knows, and of new sessions in
directories where it has recorded before, as far as they were written to since. What is older, or lies
elsewhere, is for `aforesaid import`. A place in a transcript is noted once everything before it is stored, so
a kill costs a second look and nothing else.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.clock import DAY, MINUTE, SECOND
from aforesaid.errors import StoreError
from aforesaid.model.events import (
    Arrival,
    Event,
    Healed,
    Ingested,
    PromptSubmitted,
    SessionRef,
    TranscriptEvent,
    TranscriptFile,
)
from aforesaid.worker.context import DOCTOR_PREFIX, Context, Loop
from aforesaid.worker.health import has_captures
from aforesaid.worker.spool import redacted_capture

Json = dict[str, Any]
# A transaction is cut where a turn ends, once it has enough; it may hold one long turn, but not any.
ENOUGH_EVENTS, MOST_EVENTS = 200, 1_000
MOST_BYTES = 16 * 1024 * 1024
YOUNG = SECOND // 2  # the hook of an event that is no older may still be under way
COARSE = 2 * SECOND  # file times may lag behind the clock
LOOK = ""  # stands for a session in the marks: when all transcripts were looked at last
# Until a transcript is read to its end, no job of its session begins: a turn would be processed in pieces, or
# with events of another. If the worker is killed meanwhile, that is how long the job waits.
HOLD = 10 * MINUTE
NOTHING = Healed(0, 0)
SETTLE_SECONDS = (
    YOUNG / 1000 + 0.1
)  # after a Stop the agent still writes, and hooks may be under way
STEP_SECONDS = 0.2
PAUSE_SECONDS = 0.05  # between two steps, for whoever waits for the store or for the processor
BREATH, LONGEST_WAY = 0.01, 2.0  # seconds


@dataclass(slots=True)
class Reconciler:
    """`importing`: `import_session` lets the jobs begin. `replay_since`: events since then may have been lost
    with a damaged database."""

    context: Context
    importing: bool = False
    replay_since: int | None = None
    _faulty: set[str] = field(default_factory=set)

    def has_transcript(self, agent: str, ref: str) -> bool:
        """Whether the file that the hooks named exists. Fast: looks nowhere else."""
        known = self.context.store.events.transcript_path(agent, ref) is not None
        return known and self._file(agent, ref) is not None

    def session(self, agent: str, ref: str) -> Healed:
        """Adds what its transcript has since the last time, while the worker goes on."""
        file, total = self._file(agent, ref), NOTHING
        for part in self.file(file) if file else ():
            total = Healed(total.added + part.added, total.turns + part.turns)
            if not self.context.go_on():
                break
        return total

    def is_faulty(self, file: TranscriptFile) -> bool:
        """Whether something in it could not be read."""
        return file.path in self._faulty

    def interrupt_stale(self) -> None:
        """Ends sessions that were silent for a day, after reading the rest of their transcripts."""
        sessions, now = self.context.store.sessions, self.context.clock()
        stale = sessions.stale(now - DAY)
        for session in stale:
            self.session(session.agent, session.ref)
        # No others: one that was imported meanwhile has not been read.
        read = frozenset(session.id for session in stale)
        if self.context.go_on() and (interrupted := sessions.interrupt_stale(now - DAY, now, read)):
            log.action("session.interrupted", count=interrupted)

    def look(self) -> Iterator[Healed]:
        """Adds what all transcripts have that were written to since the last look, newest first."""
        events = self.context.store.events
        for agent in self.context.agents.values():
            began = self.context.clock()
            looked = int(events.transcript_mark(agent.name, LOOK) or 0)
            for file in agent.transcripts(self.context.env):
                if file.modified < looked - COARSE:
                    break
                if self._is_ours(file):
                    yield from self.file(file)
                yield NOTHING
            events.set_transcript_mark(agent.name, LOOK, str(began), began)

    def _is_ours(self, file: TranscriptFile) -> bool:
        store = self.context.store
        if store.sessions.find(file.agent, file.session) is not None:
            return True
        if self.replay_since is not None and file.modified >= self.replay_since:
            return True  # hooks were at work then, wherever it was
        project = self.context.projects.find(file.cwd) if file.cwd else None
        return project is not None and file.modified >= store.projects.known_since(project)

    def file(self, file: TranscriptFile) -> Iterator[Healed]:
        """One transcript, in transactions of bounded size. Whatever is wrong with it stops no other."""
        if file.session.startswith(DOCTOR_PREFIX) or self.context.pauses.is_off(file.cwd):
            return
        try:
            yield from self._parts(file)
        except StoreError:
            raise  # a lock or a full disk: it is read again when that is over
        except Exception as error:
            if file.path not in self._faulty:
                self._faulty.add(file.path)
                log.warning("heal.failed", session=file.session, error=log.cause(error))

    def _parts(self, file: TranscriptFile) -> Iterator[Healed]:
        store, clock = self.context.store, self.context.clock
        session = store.sessions.find(file.agent, file.session)
        project_id = session.project_id if session else self.context.projects.of(file.cwd)
        last_at = session.last_event_at if session else None
        part: list[TranscriptEvent] = []
        size = 0
        held = False
        for found in self._read_events(file, last_at):
            wait = found.capture.at + YOUNG - clock()
            if self.importing and 0 < wait <= YOUNG:  # an import takes all that there is
                time.sleep(wait / SECOND)
                wait = found.capture.at + YOUNG - clock()
            if wait > 0:  # too recent: it is read the next time
                break
            begins = isinstance(found.event.what, PromptSubmitted)
            enough = len(part) >= (ENOUGH_EVENTS if begins else MOST_EVENTS) or size >= MOST_BYTES
            if part and enough:
                yield self._keep(file, project_id, part, hold=True)
                part, size, held = [], 0, True
            part.append(found)
            size += len(found.capture.body)
        if part:
            yield self._keep(file, project_id, part, hold=self.importing)
        if held and not self.importing:
            store.jobs.release_held(file.agent, file.session, clock())

    def _read_events(self, file: TranscriptFile, last_at: int | None) -> Iterator[TranscriptEvent]:
        """Without secrets, parsed again: then a key is that of the hook's event. A file that was copied is as
        new as its copy, so an import goes by its last entry: what is open in it is over after a day."""

        agent = self.context.agents[file.agent]

        def redact(found: TranscriptEvent) -> TranscriptEvent:
            capture = redacted_capture(self.context.redactor, found.capture)
            if capture is found.capture:
                return found
            event = agent.parse(capture)
            assert isinstance(event, Event)  # as it was before, with other words in it
            return replace(found, capture=capture, event=event)

        mark = self.context.store.events.transcript_mark(file.agent, file.session)
        for found in agent.read_transcript(file, mark, lambda _: self._faulty.add(file.path)):
            mark, last_at = found.mark, found.capture.at
            yield redact(found)
        if self.importing and last_at is not None and self.context.clock() - last_at > DAY:
            yield from map(redact, agent.read_transcript(replace(file, modified=0), mark))

    def _keep(
        self, file: TranscriptFile, project_id: int, part: list[TranscriptEvent], *, hold: bool
    ) -> Healed:
        session, events = (file.agent, file.session), self.context.store.events
        arrivals = []
        for found in part:
            if not self.context.pauses.covered(session, project_id, found.capture.at):
                boring = self.context.is_boring(found.event.tool)
                arrivals.append(
                    Arrival(found.capture, found.event, project_id, boring, healed=True)
                )
        now = self.context.clock()
        healed = events.heal(arrivals, now + (HOLD if hold else 0))
        if healed.added:
            counts = {"events": healed.added, "turns": healed.turns}
            log.action("heal.stored", session=file.session, **counts)
        if part[-1].mark != events.transcript_mark(*session):
            events.set_transcript_mark(*session, part[-1].mark, now)
        return healed

    def _file(self, agent: str, ref: str) -> TranscriptFile | None:
        """Where the hooks said that it is; else where the agent keeps such files."""
        session = self.context.store.sessions.find(agent, ref)
        path = self.context.store.events.transcript_path(agent, ref)
        if session is None or ref.startswith(DOCTOR_PREFIX) or agent not in self.context.agents:
            return None
        if path is None:
            files = self.context.agents[agent].transcripts(self.context.env)
            return next((file for file in files if file.session == ref), None)
        try:
            status = Path(path).stat()
        except (OSError, ValueError) as error:
            if ref not in self._faulty:
                self._faulty.add(ref)
                log.action("heal.no_transcript", session=ref, error=log.cause(error))
            return None
        modified = status.st_mtime_ns // 1_000_000
        return TranscriptFile(agent, path, ref, session.project_dir, status.st_size, modified)


def import_session(reconciler: Reconciler, file: TranscriptFile) -> Iterator[Healed]:
    """All of a session, and its end if it was silent for long. Then its jobs may begin."""
    context = reconciler.context
    yield from reconciler.file(file)
    reconciler.interrupt_stale()
    context.store.jobs.release_held(file.agent, file.session, context.clock())


@dataclass(slots=True)
class _Import:
    """Transcripts that a command has selected. `place`: how many are done; `faulty`: paths."""

    files: list[TranscriptFile]
    place: int = 0
    events: int = 0
    faulty: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return self.place == len(self.files)


class TranscriptThread(Loop):
    """Reads a transcript when a turn of it has ended, and all that have changed when a session begins and
    every hour; otherwise imports those that a command has selected. Imports that are over are kept, to report
    how they went."""

    name = "healing"

    def __init__(
        self,
        reconciler: Reconciler,
        *,
        on_healed: Callable[[], None],
        on_looked: Callable[[], None],
    ) -> None:
        super().__init__(reconciler.context)
        self._reconciler = reconciler
        self._importer = Reconciler(reconciler.context, importing=True)
        self._on_healed, self._on_looked = on_healed, on_looked
        self._ended: dict[SessionRef, float] = {}  # and when to look
        self._imports: dict[str, _Import] = {}  # by name
        self._look: Iterator[Healed] | None = None
        self._look_wanted = False  # one that is wanted during a look is another
        self._looked = threading.Event()
        self._settled = threading.Event()  # no turn that has just ended waits for its look
        self._settled.set()

    def after(self, ingested: Ingested) -> None:
        """Schedules a look at the sessions whose turn ended, and at all if one began: the one before it may
        have been killed."""
        ended = [ref for ref in ingested.ended if self._reconciler.has_transcript(*ref)]
        with self._lock:
            self._ended |= dict.fromkeys(ended, time.monotonic() + SETTLE_SECONDS)
            if ended:
                self._settled.clear()
        if ingested.begun:
            self._look_wanted = True
        if ended or ingested.begun:
            self._wake.set()

    def look(self) -> None:
        """At everything, when there is time."""
        self._look_wanted = True
        self._wake.set()

    def wait_for_look(self, seconds: float) -> None:
        """Until everything was looked at once, or for long enough."""
        self._looked.wait(seconds)

    def wait_for_turns(self) -> None:
        """Until what hooks missed of turns that have just ended is read; not for long."""
        self._settled.wait(2 * SETTLE_SECONDS)

    def begin_import(self, request: Json) -> Json:
        """`files`: what to import. The name to ask with; who asks for the same again gets the same."""
        files = [TranscriptFile(**each) for each in request["files"]]
        with self._lock:
            for name, each in self._imports.items():
                if not each.over and [f.path for f in each.files] == [f.path for f in files]:
                    return {"name": name}
            name = os.urandom(8).hex()
            self._imports[name] = _Import(files)
        log.action("backfill.began", sessions=len(files))
        self._wake.set()
        return {"name": name}

    def import_progress(self, request: Json) -> Json:
        """`lost`: the worker was replaced meanwhile; begin again."""
        found = self._imports.get(request["name"])
        if found is None:
            return {"lost": True}
        sizes = [file.size for file in found.files]
        done = {"done": sum(sizes[: found.place]), "total": sum(sizes), "over": found.over}
        return done | {"events": found.events, "faulty": found.faulty}

    def describe_imports(self) -> Json | None:
        """How many sessions of those that were asked for are done, while some are not."""
        if not (waiting := self._waiting_imports()):
            return None
        sessions = sum(len(each.files) for each in waiting)
        return {"done": sum(each.place for each in waiting), "sessions": sessions}

    def idle(self) -> bool:
        busy = self._ended or self._look or self._look_wanted or self._waiting_imports()
        return self._looked.is_set() and not busy

    def stop(self) -> None:
        super().stop()
        self._looked.set()
        self._settled.set()

    def turn(self) -> float | None:
        """Does what is due. Returns the seconds until the next; None if there is none."""
        for ref in [ref for ref, due in list(self._ended.items()) if due <= time.monotonic()]:
            due = self._ended[ref]
            self._report(self._reconciler.session(*ref).added)
            with self._lock:
                if self._ended[ref] == due:  # else another turn of it has ended meanwhile
                    del self._ended[ref]
                if not self._ended:
                    self._settled.set()
        if self._look or self._look_wanted:
            self._continue_look()
        else:
            self._import()
        if self._look or self._look_wanted or self._waiting_imports():
            return PAUSE_SECONDS
        return max(0.0, min(self._ended.values()) - time.monotonic()) if self._ended else None

    def _continue_look(self) -> None:
        """For a moment. One that fails is begun again."""
        if self._look is None:
            self._look, self._look_wanted = self._reconciler.look(), False
        end = time.monotonic() + STEP_SECONDS
        try:
            for part in self._look:
                self._report(part.added)
                if time.monotonic() >= end or not self.context.go_on():
                    return
            self._on_looked()
        except Exception:
            self._look, self._look_wanted = None, True
            raise
        self._look = None
        self._looked.set()

    def _report(self, added: int) -> None:
        if added:
            self._on_healed()

    def _waiting_imports(self) -> list[_Import]:
        return [each for each in list(self._imports.values()) if not each.over]

    def _import(self) -> None:
        """For a moment, at least one session."""
        end = time.monotonic() + STEP_SECONDS
        for each in self._waiting_imports():
            while not each.over:
                file = each.files[each.place]
                for part in import_session(self._importer, file):
                    self._report(part.added)
                    each.events += part.added
                    self._yield()
                    if not self.context.go_on():
                        return
                if self._importer.is_faulty(file):
                    each.faulty.append(file.path)
                each.place += 1
                if time.monotonic() >= end:
                    return
            log.action("backfill.ended", sessions=len(each.files), faulty=len(each.faulty))

    def _yield(self) -> None:
        """To other threads, and to captures until they are stored."""
        end = time.monotonic() + LONGEST_WAY
        time.sleep(BREATH)
        while has_captures(self.context.paths) and time.monotonic() < end:
            time.sleep(BREATH)
