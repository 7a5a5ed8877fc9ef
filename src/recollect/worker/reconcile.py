"""Reconciliation: what transcripts tell is compared with what hooks delivered, and the rest is added.

Of its own accord it reads the transcripts of sessions that the store knows, and of new sessions in
directories where it has recorded before, as far as they were written to since. What is older, or lies
elsewhere, is for `recollect import`. A place in a transcript is noted once everything before it is stored, so
a kill costs a second look and nothing else.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import DAY, MINUTE, SECOND, Clock
from recollect.errors import StoreError
from recollect.model.arrivals import Arrival, Healed
from recollect.model.events import Event, PromptSubmitted
from recollect.model.transcripts import Told, TranscriptFile
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.worker.chores import DOCTORS
from recollect.worker.ingest import is_boring
from recollect.worker.pausing import Pausing
from recollect.worker.projects import ProjectFinder
from recollect.worker.redacting import redacted_capture

# A transaction is cut where a turn ends, once it has enough; it may hold one long turn, but not any.
ENOUGH_EVENTS, MOST_EVENTS = 200, 1_000
MOST_BYTES = 16 * 1024 * 1024
YOUNG = SECOND  # the hook of an event that is no older may still be under way
PREVIOUS = 5  # sessions of a project that are looked at when a new one begins
COARSE = 2 * SECOND  # file times may lag behind the clock
LOOK = ""  # stands for a session in the marks: when all transcripts were looked at last
# Until a transcript is read to its end, nobody begins to work on its session: a turn would be worked up in
# pieces, or with events of another. If we are killed meanwhile, that is how long the work waits.
HOLD = 10 * MINUTE
NOTHING = Healed(0, 0)


def always() -> bool:
    return True


@dataclass(slots=True)
class Reconciler:
    store: Store
    agents: Mapping[str, Agent]
    finder: ProjectFinder
    clock: Clock
    env: Mapping[str, str]
    boring: tuple[str, ...] = ()
    pausing: Pausing | None = None
    importing: bool = False  # then whoever imports lets the work begin; see worker/backfill.py
    replay_since: int | None = None  # what was told since then may have been lost with a database
    redactor: Redactor = field(default_factory=Redactor)
    _read: dict[str, tuple[int, int, bool]] = field(default_factory=dict)  # by path; see _state
    _faulty: set[str] = field(default_factory=set)
    _look: Iterator[Healed] | None = None

    def has_transcript(self, agent: str, ref: str) -> bool:
        """Whether there is one where the hooks said. Quick: it looks nowhere else."""
        known = self.store.transcript_path(agent, ref) is not None
        return known and self._file(agent, ref) is not None

    def session(self, agent: str, ref: str, go_on: Callable[[], bool] = always) -> Healed:
        """What its transcript tells since the last time, while `go_on` says so between two parts."""
        file = self._file(agent, ref)
        total = NOTHING
        if file is not None and agent in self.agents:
            for part in self._heal(self.agents[agent], file):
                total = Healed(total.added + part.added, total.turns + part.turns)
                if not go_on():
                    break
        return total

    def file(self, agent: Agent, file: TranscriptFile) -> Iterator[Healed]:
        """One transcript, part by part, whether or not its session is known."""
        return self._heal(agent, file)

    def is_faulty(self, file: TranscriptFile) -> bool:
        """Whether something in it could not be read."""
        return file.path in self._faulty

    def before(self, agent: str, ref: str, go_on: Callable[[], bool] = always) -> Healed:
        """The latest sessions of a session's project, without itself."""
        current = self.store.session_by_ref(agent, ref)
        total = NOTHING
        for other in self.store.sessions(current.project_id, PREVIOUS) if current else ():
            if (other.agent, other.ref) != (agent, ref) and go_on():
                part = self.session(other.agent, other.ref, go_on)
                total = Healed(total.added + part.added, total.turns + part.turns)
        return total

    def recent(self, seconds: float, go_on: Callable[[], bool] = always) -> tuple[Healed, bool]:
        """All transcripts that were written to since the last look, newest first. What a moment's work came
        to, and whether that was all; if not, the next call goes on."""
        end = time.monotonic() + seconds
        total = NOTHING
        look, self._look = self._look or self._everything(), None
        for part in look:
            total = Healed(total.added + part.added, total.turns + part.turns)
            if time.monotonic() >= end or not go_on():
                self._look = look
                return total, False
        return total, True

    def _everything(self) -> Iterator[Healed]:
        for agent in self.agents.values():
            began = self.clock()
            looked = int(self.store.transcript_mark(agent.name, LOOK) or 0)
            for file in agent.transcripts(self.env):
                if file.modified < looked - COARSE:
                    break
                if self._is_ours(agent, file):
                    yield from self._heal(agent, file)
                yield NOTHING
            self.store.set_transcript_mark(agent.name, LOOK, str(began), began)

    def _is_ours(self, agent: Agent, file: TranscriptFile) -> bool:
        if self.store.session_by_ref(agent.name, file.session) is not None:
            return True
        if self.replay_since is not None and file.modified >= self.replay_since:
            return True  # hooks were at work then, wherever it was
        project = self.store.project_of_dir(file.cwd) if file.cwd else None
        return project is not None and file.modified >= self.store.project_known_since(project)

    def _heal(self, agent: Agent, file: TranscriptFile) -> Iterator[Healed]:
        """One file, in transactions of a bearable size. Whatever is wrong with it stops no other."""
        state = self._state(file)
        if file.session.startswith(DOCTORS) or self._read.get(file.path) == state:
            return
        if self.pausing is not None and self.pausing.is_off(file.cwd):
            return
        try:
            whole = yield from self._parts(agent, file)
        except StoreError:
            raise  # a lock or a full disk: it is read again when that is over
        except Exception as error:
            if file.path not in self._faulty:
                self._faulty.add(file.path)
                log.warning("heal.failed", session=file.session, error=log.cause(error))
            whole = True
        if whole:
            self._read[file.path] = state

    def _state(self, file: TranscriptFile) -> tuple[int, int, bool]:
        """A file that has been silent for long tells more than before: what was open then is over."""
        return file.size, file.modified, self.clock() - file.modified > DAY

    def _parts(self, agent: Agent, file: TranscriptFile) -> Generator[Healed, None, bool]:
        """Returns whether nothing was too young to be taken."""
        project_id = self._project(agent, file)
        mark = self.store.transcript_mark(agent.name, file.session)
        newest = self.clock() - YOUNG
        part: list[Told] = []
        size = 0
        whole, held = True, False
        everything = agent.read_transcript(file, mark, lambda _: self._faulty.add(file.path))
        for told in (self._redacted(agent, each) for each in everything):
            if told.capture.at > newest:
                newest = self._later(told.capture.at)
            if told.capture.at > newest:
                whole = False
                break
            if part and _is_enough(len(part), size, told):
                yield self._keep(agent, file, project_id, part, hold=True)
                part, size, held = [], 0, True
            part.append(told)
            size += len(told.capture.body)
        if part:
            yield self._keep(agent, file, project_id, part, hold=self.importing)
        if held and not self.importing:
            self.store.release_held_jobs(agent.name, file.session, self.clock())
        return whole

    def _redacted(self, agent: Agent, told: Told) -> Told:
        """Read again without its secrets: then its key is that of the hook's event."""
        capture = redacted_capture(self.redactor, told.capture)
        if capture is told.capture:
            return told
        event = agent.parse(capture)
        assert isinstance(event, Event)  # as it was before, with other words in it
        return replace(told, capture=capture, event=event)

    def _later(self, at: int) -> int:
        """An import is asked for all that there is, so it waits the moment that a hook may take."""
        wait = at + YOUNG - self.clock()
        if self.importing and 0 < wait <= YOUNG:
            time.sleep(wait / SECOND)
        return self.clock() - YOUNG

    def _keep(
        self, agent: Agent, file: TranscriptFile, project_id: int, part: list[Told], *, hold: bool
    ) -> Healed:
        arrivals = [
            self._arrival(told, project_id)
            for told in part
            if not self._is_covered(agent, file, project_id, told.capture.at)
        ]
        healed = self.store.heal(arrivals, self.clock() + (HOLD if hold else 0))
        if healed.added:
            counts = {"events": healed.added, "turns": healed.turns}
            log.action("heal.stored", session=file.session, **counts)
        if part[-1].mark != self.store.transcript_mark(agent.name, file.session):
            self.store.set_transcript_mark(agent.name, file.session, part[-1].mark, self.clock())
        return healed

    def _is_covered(self, agent: Agent, file: TranscriptFile, project_id: int, at: int) -> bool:
        """By a pause, or it was erased."""
        session = (agent.name, file.session)
        return self.pausing is not None and self.pausing.covered(session, project_id, at)

    def _arrival(self, told: Told, project_id: int) -> Arrival:
        tool = told.event.tool
        boring = tool is not None and is_boring(tool, self.boring)
        return Arrival(told.capture, told.event, project_id, boring, healed=True)

    def _project(self, agent: Agent, file: TranscriptFile) -> int:
        known = self.store.session_by_ref(agent.name, file.session)
        if known is not None:
            return known.project_id
        remembered = self.store.project_of_dir(file.cwd)
        if remembered is not None and not Path(file.cwd).is_dir():
            return remembered  # nothing is there any more that could say it
        return self.finder.of(file.cwd)

    def _file(self, agent: str, ref: str) -> TranscriptFile | None:
        """Where the hooks said that it is; else where the agent keeps such files."""
        session = self.store.session_by_ref(agent, ref)
        path = self.store.transcript_path(agent, ref)
        if session is None or ref.startswith(DOCTORS) or agent not in self.agents:
            return None
        if path is None:
            found = (f for f in self.agents[agent].transcripts(self.env) if f.session == ref)
            return next(found, None)
        try:
            status = Path(path).stat()
        except (OSError, ValueError) as error:
            if ref not in self._faulty:
                self._faulty.add(ref)
                log.action("heal.no_transcript", session=ref, error=log.cause(error))
            return None
        modified = status.st_mtime_ns // 1_000_000
        return TranscriptFile(path, ref, session.project_dir, status.st_size, modified)


def _is_enough(events: int, size: int, following: Told) -> bool:
    begins = isinstance(following.event.what, PromptSubmitted)
    return events >= (ENOUGH_EVENTS if begins else MOST_EVENTS) or size >= MOST_BYTES
