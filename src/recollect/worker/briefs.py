"""Answers for hooks, and the copies on disk for when there is no worker to answer."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from recollect import log
from recollect.agents.protocol import Agent
from recollect.briefing import ANSWERING, Briefing
from recollect.clock import MINUTE, Clock
from recollect.errors import RecollectError
from recollect.hook.capture import brief_name
from recollect.model.captures import Capture, Unreadable, parse_capture
from recollect.model.events import (
    CompactionBegan,
    Event,
    FileWanted,
    PromptSubmitted,
    SessionStarted,
)
from recollect.model.sessions import Session
from recollect.model.told import Told, ToldMemory
from recollect.paths import Paths, write_private
from recollect.privacy.redactor import Redactor
from recollect.recall import file_recall, prompt
from recollect.recall.search import Searcher
from recollect.settings import Settings
from recollect.store.protocol import Store
from recollect.wiring import Home
from recollect.worker.file_lists import FileLists
from recollect.worker.listener import Answer, nothing
from recollect.worker.memory_telling import MemoryTelling
from recollect.worker.pausing import Pausing
from recollect.worker.precedence import Precedence
from recollect.worker.projects import ProjectFinder
from recollect.worker.redacting import redacted_capture
from recollect.worker.session_memory import SessionMemories
from recollect.worker.sharing import Sharing

SOON_TRIES, SOON_PAUSE = 10, 0.02  # together less than the hook's deadline for a prompt
SILENT_SOURCES = ("resume", "fork")  # the conversation holds its brief already
COMPACT = "compact"  # a hook, and how a session begins
NOTHING = Answer(b"")
FORGOTTEN = MINUTE  # a session whose capture has not come by then does not come


@dataclass(frozen=True, slots=True)
class Note:
    """What a session was told, and what is to be done for it beside the answer, which is not kept back: the
    question overtakes the capture that creates the session, and the store may be busy."""

    agent: str
    session: str
    at: int
    hook: str
    told: tuple[Told, ...] = ()
    memories: tuple[ToldMemory, ...] = ()


@dataclass(slots=True)
class Briefs:
    paths: Paths
    store: Store
    agents: Mapping[str, Agent]
    finder: ProjectFinder
    settings: Settings
    clock: Clock
    problem: Callable[[], str | None]
    searcher: Searcher
    memories: MemoryTelling
    expect_a_question: Callable[
        [], None
    ]  # a session has begun: the first prompt will want to search
    precedence: Precedence = field(default_factory=Precedence)
    redactor: Redactor = field(default_factory=Redactor)
    pausing: Pausing | None = None
    sessions: SessionMemories = field(init=False)
    sharing: Sharing = field(init=False)
    _briefing: Briefing = field(init=False)
    _lists: FileLists = field(init=False)
    _notes: list[Note] = field(default_factory=list)
    _recording: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._briefing = Briefing(self.store, self.searcher, self.memories.memories)
        self._lists = FileLists(self.paths, self.store)
        self.sessions = SessionMemories(self.paths, self.store, self.agents, self.clock)
        self.sharing = Sharing(Home(self.paths, self.settings), self.clock)

    def answer(self, request: bytes) -> Answer:
        """What the hook prints for this capture. It counts as told once the hook was there to hear it."""
        capture = parse_capture("asked", request, self.clock())
        if isinstance(capture, Unreadable) or capture.agent not in self.agents:
            return NOTHING
        agent = self.agents[capture.agent]
        # Reasons quote what was asked, and a model may be asked about it.
        capture = redacted_capture(self.redactor, capture)
        if capture.hook == file_recall.HOOK:
            wanted = agent.file_wanted(capture)
            if wanted is None or self._why_paused(capture.project_dir, agent.name, wanted.session):
                return NOTHING
            return self._file(agent, wanted)
        event = agent.parse(capture)
        if isinstance(event, Unreadable) or event is None:
            return NOTHING
        place = capture.project_dir or event.cwd
        if why := self._why_paused(place, event.agent, event.session):
            return self._paused(agent, event, why)
        if isinstance(event.what, SessionStarted) and event.what.source == COMPACT:
            self._forget_files(event)  # before the note, which has them listed again
        if isinstance(event.what, SessionStarted | PromptSubmitted):
            self._note(event.agent, event.session, capture.hook)
        match event.what:
            case SessionStarted(source=source) if source not in SILENT_SOURCES:
                with self.precedence:
                    return self._session_start(agent, capture, event, source)
            case PromptSubmitted(by_machine=False, text=text):
                return self._prompt(agent, event, text)
            case CompactionBegan() if event.subagent is None:
                with self.precedence:
                    return self._compaction(agent, event)
            case _:
                return NOTHING

    def _why_paused(self, directory: str, agent: str, session: str) -> str | None:
        return self.pausing.why(directory, (agent, session)) if self.pausing is not None else None

    def _paused(self, agent: Agent, event: Event, why: str) -> Answer:
        """Nothing is told; but that it is so, at the start."""
        if not isinstance(event.what, SessionStarted):
            return NOTHING
        note = f"recollect is paused here: nothing is recorded or told. {why}."
        return Answer(agent.reply("context", "", note=note))

    def prepare(self, project_id: int) -> None:
        """A copy per directory of the project, in the form that the hook prints unread."""
        self.sharing.settle(self.store.project(project_id).root)
        root = self.store.project(project_id).root
        text = self._briefing.write(project_id, root, self.settings.number("brief.tokens")).text
        for directory in self.store.dirs_of_project(project_id):
            for agent in (each for each in self.agents.values() if each.has_hooks):
                reply = agent.reply("context", text)
                head = directory.encode("utf-8", "surrogateescape") + b"\0\n"
                write_private(self.paths.briefs / brief_name(directory), head + reply)
        log.action("brief.prepared", project=project_id, size=len(text))

    def drop(self, directory: str) -> None:
        (self.paths.briefs / brief_name(directory)).unlink(missing_ok=True)

    def prepare_missing(self, project_ids: frozenset[int]) -> None:
        for project_id in project_ids:
            dirs = self.store.dirs_of_project(project_id)
            if any(not (self.paths.briefs / brief_name(d)).exists() for d in dirs):
                self.prepare(project_id)

    def record(self) -> None:
        """Stores what sessions were told and lists what they may ask about, as soon as they are known."""
        with self._recording:
            for note in list(self._notes):
                session = self.store.session_by_ref(note.agent, note.session)
                if session is not None and (note.told or note.memories):
                    self.store.add_told(session.id, note.hook, note.told, note.at)
                    self.store.add_told_memories(session.id, note.hook, note.memories, note.at)
                elif session is not None:
                    silent = self.settings.number("recall.file_tokens") == 0
                    self._lists.write(session, empty=silent)
                    if note.hook == "context":
                        self.sharing.settle(session.project_dir)
                        self.memories.prepare(session.project_dir)
                if session is not None or note.at < self.clock() - FORGOTTEN:
                    self._notes.remove(note)

    def _session_start(self, agent: Agent, capture: Capture, event: Event, source: str) -> Answer:
        self.expect_a_question()
        project_id = self.finder.of(capture.project_dir or event.cwd)
        current = self.store.session_by_ref(event.agent, event.session)
        resuming = current if source == COMPACT else None
        written = self._briefing.write(
            project_id,
            capture.project_dir or event.cwd,
            self.settings.number("brief.tokens"),
            seconds=ANSWERING,
            resuming=resuming,
            handed=self.sessions.handed_back(resuming) if resuming else None,
        )
        log.action("brief.answered", source=source, project=project_id, size=len(written.text))
        reply = agent.reply("context", written.text, note=self.problem())
        told = (written.told, written.memories)
        return Answer(reply, self._once_heard(event.agent, event.session, "context", *told))

    def _session_soon(self, event: Event) -> Session | None:
        """The question may overtake the capture that creates its session; the hook waits for a while."""
        for _ in range(SOON_TRIES):
            if found := self.store.session_by_ref(event.agent, event.session):
                return found
            time.sleep(SOON_PAUSE)
        return None

    def _prompt(self, agent: Agent, event: Event, text: str) -> Answer:
        session = self._session_soon(event)
        budget = self.settings.number("recall.tokens")
        if session is None:
            return NOTHING
        context = ""
        told: list[Told] = []
        with self.precedence:
            memories, chosen = self._memories(session, text)
            if budget:
                context, told = prompt.recall(self.searcher, self.store, session, text, budget)
        context = "\n".join(filter(None, (memories, context)))
        if told or chosen:
            items = len(told) + len(chosen)
            log.action("recall.answered", session=session.id, items=items, size=len(context))
        heard = self._once_heard(agent.name, session.ref, "new", tuple(told), tuple(chosen))
        return Answer(agent.reply("new", context), heard)

    def _memories(self, session: Session, text: str) -> tuple[str, list[ToldMemory]]:
        try:
            return self.memories.at_prompt(session, text)
        except (OSError, RecollectError) as error:
            log.warning("recall.without_memories", error=log.cause(error))
            return "", []

    def _compaction(self, agent: Agent, event: Event) -> Answer:
        session = self.store.session_by_ref(event.agent, event.session)
        if session is None or self.settings.number("brief.tokens") == 0:
            return NOTHING
        kept = self.sessions.kept(session)
        log.action("compaction.answered", session=session.id, size=len(kept.text))
        heard = self._once_heard(event.agent, event.session, COMPACT, kept.told)
        return Answer(agent.reply(COMPACT, kept.text), heard)

    def _file(self, agent: Agent, wanted: FileWanted) -> Answer:
        """The agent waits for a moment only: a session that is not known yet is told nothing."""
        session = self.store.session_by_ref(agent.name, wanted.session)
        budget = self.settings.number("recall.file_tokens")
        if session is None:
            return NOTHING
        if not self._lists.exists(session):
            self._note(agent.name, session.ref, file_recall.HOOK)
        if budget == 0 or not self._lists.first(session, wanted.path):
            return NOTHING
        answered = partial(self._lists.answered, session, wanted.path)
        try:
            with self.precedence:
                context, told = file_recall.recall(self.store, session, wanted.path, budget)
        except Exception:
            answered(False)
            raise
        if told:
            sizes = {"items": len(told), "size": len(context)}
            log.action("file.answered", session=session.id, tool=wanted.tool, **sizes)
        note = self._once_heard(
            agent.name, session.ref, file_recall.HOOK, tuple(told), then=answered
        )
        return Answer(agent.reply(file_recall.HOOK, context), note)

    def _forget_files(self, event: Event) -> None:
        session = self.store.session_by_ref(event.agent, event.session)
        if session is not None:
            self._lists.forget(session)

    def _once_heard(
        self,
        agent: str,
        session: str,
        hook: str,
        told: tuple[Told, ...],
        memories: tuple[ToldMemory, ...] = (),
        then: Callable[[bool], None] = nothing,
    ) -> Callable[[bool], None]:
        """A hook that has gone on was told nothing, and is told it the next time."""

        def done(heard: bool) -> None:
            if heard and (told or memories):
                self._note(agent, session, hook, told, memories)
            then(heard)

        return done

    def _note(
        self,
        agent: str,
        session: str,
        hook: str,
        told: tuple[Told, ...] = (),
        memories: tuple[ToldMemory, ...] = (),
    ) -> None:
        self._notes.append(Note(agent, session, self.clock(), hook, told, memories))
