"""Answers to hooks.

Briefs, recall for prompts and files, compaction; and the copies on disk for when no worker runs.
"""

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aforesaid import log
from aforesaid.agents.base import Agent
from aforesaid.briefing import ANSWERING, write_brief
from aforesaid.clock import MINUTE
from aforesaid.errors import AforesaidError
from aforesaid.hook.capture import brief_head, brief_name
from aforesaid.memory import claude_memory
from aforesaid.model import events
from aforesaid.model.search import Injected
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths, private_dir, write_private
from aforesaid.payload.limits import KEPT_BYTES
from aforesaid.recall import inject
from aforesaid.repository import current_branch
from aforesaid.store.store import Store
from aforesaid.text import one_line
from aforesaid.worker import health
from aforesaid.worker.context import Context
from aforesaid.worker.memory import MemoryRecall
from aforesaid.worker.rpc import Answer, nothing
from aforesaid.worker.spool import redacted_capture

if TYPE_CHECKING:
    from aforesaid.worker.session_memory import SessionMemories

SOON_TRIES, SOON_PAUSE = 10, 0.02  # together less than the hook's deadline for a prompt
SILENT_SOURCES = ("resume", "fork")  # the conversation holds its brief already
COMPACT = "compact"  # a hook, and how a session begins
NOTHING = Answer(b"")
UNPROVEN = (
    "aforesaid: the git remote of this repository is {remote}. An older project has the same remote, but "
    "this repository does not contain that project's first commit, so its notes are kept separate. If it "
    "is a shallow clone: `git fetch --unshallow`. If both belong together, run `aforesaid project link` in "
    "your terminal."
)
NOTE_EXPIRES = MINUTE  # a session whose capture has not come by then does not come
MOST_FILES = 1000  # more would cost the hook more than they are worth
MOST_SESSIONS = 200  # whose questions are remembered
FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Note(NamedTuple):
    """What was injected into a session, to be stored after the answer: the request may overtake the capture
    that creates the session, and the store may be busy."""

    agent: str
    session: str
    at: int
    hook: str
    injected: tuple[Injected, ...] = ()


@dataclass(slots=True)
class FileLists:
    """For each session, the files with observations that its hooks have not asked about yet."""

    paths: Paths
    store: Store
    _asked: dict[int, set[str]] = field(default_factory=dict)
    _written: dict[int, int] = field(default_factory=dict)  # the newest observation at that time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, session: Session, *, empty: bool = False) -> None:
        """With an empty list the hook never asks. A list is kept until there is another observation."""
        newest = -1 if empty else self.store.observations.newest_id()
        if not _listable(session) or (
            self._written.get(session.id) == newest and self.exists(session)
        ):
            return
        if len(self._written) > MOST_SESSIONS:
            self._written.clear()
        self._written[session.id] = newest
        known: list[str] = []
        if not empty:
            known = self.store.observations.files_to_recall(
                session.project_id, untold_in=session.id, limit=MOST_FILES
            )
        root = self.store.projects.get(session.project_id).root
        places = (p for path in known for p in inject.places(path, session.project_dir, root))
        with self._lock:
            asked = self._asked.get(session.id, set())
            self._put(
                session, [line for line in dict.fromkeys(map(_line, places)) if line not in asked]
            )

    def first(self, session: Session, path: str) -> bool:
        """Whether this is the session's first request for a path. The caller then reports the delivery with
        `answered`."""
        with self._lock:
            asked = self._asked.setdefault(session.id, set())
            while len(self._asked) > MOST_SESSIONS:
                self._asked.pop(next(iter(self._asked)))
            is_first = _line(path) not in asked
            asked.add(_line(path))
        return is_first

    def answered(self, session: Session, path: str, heard: bool) -> None:
        """Takes a path off the list once its answer was delivered."""
        line = _line(path)
        with self._lock:
            if not heard:
                self._asked.get(session.id, set()).discard(line)
            elif _listable(session):
                with suppress(OSError, ValueError):
                    text = (self.paths.file_lists / session.ref).read_text("utf-8")
                    before = text.split("\n")[:-1]
                    if line in before:
                        self._put(session, [other for other in before if other != line])

    def forget(self, session: Session | None) -> None:
        """Its conversation was compacted, and what was injected about files with it."""
        with self._lock:
            for each in (self._asked, self._written):
                each.pop(session.id if session else 0, None)

    def exists(self, session: Session) -> bool:
        """Whether it has a list, or cannot have one."""
        return not _listable(session) or (self.paths.file_lists / session.ref).is_file()

    def _put(self, session: Session, lines: list[str]) -> None:
        text = "".join(f"{line}\n" for line in lines).encode("utf-8", "ignore")
        write_private(private_dir(self.paths.file_lists) / session.ref, text)


class HookAnswers:
    """`problem`: what the user should know at the start of a session. `expect_question`: a session has begun,
    so its first prompt will want to search."""

    def __init__(
        self,
        context: Context,
        memories: MemoryRecall,
        *,
        problem: Callable[[], str | None] = lambda: None,
        expect_question: Callable[[], None] = lambda: None,
    ) -> None:
        self.context, self.memories = context, memories
        self._problem, self._expect_question = problem, expect_question
        self._write_brief = partial(write_brief, context.store, context.searcher, memories.memories)
        self._lists = FileLists(context.paths, context.store)
        self._notes: list[Note] = []
        self._recording = threading.Lock()

    @cached_property
    def sessions(self) -> "SessionMemories":
        from aforesaid.worker.session_memory import SessionMemories  # takes long to load

        context = self.context
        return SessionMemories(context.paths, context.store, context.agents, context.clock)

    def answer(self, request: bytes) -> Answer:
        """What the hook prints for this capture. It counts as injected once it was delivered."""
        if len(request) > KEPT_BYTES:
            return NOTHING  # to redact it takes longer than a hook waits, and other hooks wait meanwhile
        capture = events.parse_capture("asked", request, self.context.clock())
        if isinstance(capture, events.Unreadable) or capture.agent not in self.context.agents:
            return NOTHING
        agent, pauses = self.context.agents[capture.agent], self.context.pauses
        # Reasons quote what was asked, and a model may be asked about it.
        capture = redacted_capture(self.context.redactor, capture)
        if capture.hook == inject.HOOK:
            wanted = agent.file_wanted(capture)
            if wanted is None or pauses.why(capture.project_dir, (agent.name, wanted.session)):
                return NOTHING
            return self._file(agent, wanted)
        event = agent.parse(capture)
        if isinstance(event, events.Unreadable) or event is None:
            return NOTHING
        place = capture.project_dir or event.cwd
        if why := pauses.why(place, (event.agent, event.session)):
            note = f"aforesaid is paused here: nothing is recorded or injected. {why}."
            started = isinstance(event.what, events.SessionStarted)
            return Answer(agent.reply("context", "", note=note)) if started else NOTHING
        if isinstance(event.what, events.SessionStarted) and event.what.source == COMPACT:
            # Before the note, which has its files listed again.
            self._lists.forget(self.context.store.sessions.find(event.agent, event.session))
        if isinstance(event.what, events.SessionStarted | events.PromptSubmitted):
            self._note(event.agent, event.session, capture.hook)
        match event.what:
            case events.SessionStarted(source=source) if source not in SILENT_SOURCES:
                with self.context.priority:
                    return self._session_start(agent, place, event, source)
            case events.PromptSubmitted(by_machine=False, text=text):
                return self._prompt(agent, event, text)
            case events.CompactionBegan() if event.subagent is None:
                with self.context.priority:
                    return self._compaction(agent, event)
            case _:
                return NOTHING

    def prepare_brief(self, project_id: int) -> None:
        """Writes a copy per directory of the project, as the hook prints it. A directory that now has another
        repository gets none."""
        projects = self.context.store.projects
        project, dirs = projects.get(project_id), self._directories(project_id)
        for directory in set(projects.dirs(project_id)) - set(dirs):
            if projects.find_by_dir(directory) == project_id:  # else it is the other project's copy
                self.drop_brief(directory)
        if not dirs:
            return
        root = project.root if self.context.projects.find(project.root) == project_id else dirs[0]
        self._sync_shared(root)
        tokens = self.context.settings.number("brief.tokens")
        text = self._write_brief(project_id, root, tokens).text
        for directory in dirs:
            for agent, file in self._copies(directory):
                head = brief_head(directory) + b"\0\n"
                write_private(file, head + agent.reply("context", text))
        log.action("brief.prepared", project=project_id, size=len(text))

    def _sync_shared(self, directory: str) -> None:
        setting = self.context.settings.text("memory.client")
        found = self.memories.memories(directory)
        claude_memory.sync_shared(setting, found, directory, self.context.env)

    def prepare_missing_briefs(self, project_ids: frozenset[int]) -> None:
        for project_id in project_ids:
            copies = (c for each in self._directories(project_id) for c in self._copies(each))
            if not all(file.exists() for _, file in copies):
                self.prepare_brief(project_id)

    def drop_brief(self, directory: str) -> None:
        for _, file in self._copies(directory):
            file.unlink(missing_ok=True)

    def _copies(self, directory: str) -> list[tuple[Agent, Path]]:
        """Its prepared brief, for each agent that has hooks."""
        agents = (each for each in self.context.agents.values() if each.connection is not None)
        return [(a, self.context.paths.briefs / brief_name(a.name, directory)) for a in agents]

    def _directories(self, project_id: int) -> list[str]:
        known = self.context.store.projects.dirs(project_id)
        return [each for each in known if self.context.projects.find(each) == project_id]

    def record_notes(self) -> None:
        """Stores what was injected and lists the files to ask about, for sessions that are stored by now."""
        with self._recording:
            for note in list(self._notes):
                session = self.context.store.sessions.find(note.agent, note.session)
                if session is not None and note.injected:
                    injections = self.context.store.injections
                    injections.add(session.id, note.hook, note.injected, note.at)
                elif session is not None:
                    silent = self.context.settings.number("recall.file_tokens") == 0
                    self._lists.write(session, empty=silent)
                    if note.hook == "context":
                        self._sync_shared(session.project_dir)
                        self.memories.prepare(session.project_dir)
                if session is not None or note.at < self.context.clock() - NOTE_EXPIRES:
                    self._notes.remove(note)

    def _session_start(
        self, agent: Agent, directory: str, event: events.Event, source: str
    ) -> Answer:
        self._expect_question()
        project_id = self.context.projects.of(directory)
        current = self.context.store.sessions.find(event.agent, event.session)
        resuming = current if source == COMPACT else None
        written = self._write_brief(
            project_id,
            directory,
            self.context.settings.number("brief.tokens"),
            seconds=ANSWERING,
            resuming=resuming,
            session_memory=self.sessions.handed_back(resuming) if resuming else None,
        )
        log.action("brief.answered", source=source, project=project_id, size=len(written.text))
        unreported = health.count_unreported(self.context.paths)
        # Notes for the user, outside of what is recalled. They name only what the repository itself does.
        remote = self.context.projects.unproven_remote(directory)
        unproven = UNPROVEN.format(remote=one_line(remote, 120)) if remote else None
        note = "\n".join(filter(None, (self._problem(), unproven))) or None

        def heard(yes: bool) -> None:
            if yes:
                health.mark_reported(self.context.paths, unreported)

        injected: tuple[Injected, ...] = (*written.injections, *written.memories)
        done = self._on_delivery(event.agent, event.session, "context", injected, then=heard)
        return Answer(agent.reply("context", written.text, note=note), done)

    def _prompt(self, agent: Agent, event: events.Event, text: str) -> Answer:
        # The question may overtake the capture that creates its session; the hook waits for a while.
        for _ in range(SOON_TRIES):
            if session := self.context.store.sessions.find(event.agent, event.session):
                break
            time.sleep(SOON_PAUSE)
        else:
            return NOTHING
        budget = self.context.settings.number("recall.tokens")
        memories, context = "", ""
        injected: list[Injected] = []
        with self.context.priority:
            try:
                memories, chosen = self.memories.recall_for_prompt(session, text)
                injected += chosen
            except (OSError, AforesaidError) as error:
                log.warning("recall.without_memories", error=log.cause(error))
            if budget:
                context, found = inject.recall_for_prompt(
                    self.context.searcher,
                    self.context.store,
                    session,
                    text,
                    budget,
                    current_branch(session.project_dir),
                )
                injected += found
        context = "\n".join(filter(None, (memories, context)))
        if injected:
            log.action(
                "recall.answered", session=session.id, items=len(injected), size=len(context)
            )
        heard = self._on_delivery(agent.name, session.ref, "new", tuple(injected))
        return Answer(agent.reply("new", context), heard)

    def _compaction(self, agent: Agent, event: events.Event) -> Answer:
        session = self.context.store.sessions.find(event.agent, event.session)
        if session is None or self.context.settings.number("brief.tokens") == 0:
            return NOTHING
        kept = self.sessions.kept(session)
        log.action("compaction.answered", session=session.id, size=len(kept.text))
        heard = self._on_delivery(event.agent, event.session, COMPACT, kept.injections)
        return Answer(agent.reply(COMPACT, kept.text), heard)

    def _file(self, agent: Agent, wanted: events.FileWanted) -> Answer:
        """The agent waits for a moment only: a session that is not stored yet gets nothing."""
        session = self.context.store.sessions.find(agent.name, wanted.session)
        budget = self.context.settings.number("recall.file_tokens")
        if session is None:
            return NOTHING
        if not self._lists.exists(session):
            self._note(agent.name, session.ref, inject.HOOK)
        if budget == 0 or not self._lists.first(session, wanted.path):
            return NOTHING
        answered = partial(self._lists.answered, session, wanted.path)
        try:
            with self.context.priority:
                context, injected = inject.recall_for_file(
                    self.context.store, session, wanted.path, budget
                )
        except Exception:
            answered(False)
            raise
        if injected:
            sizes = {"items": len(injected), "size": len(context)}
            log.action("file.answered", session=session.id, **sizes)
        note = self._on_delivery(
            agent.name, session.ref, inject.HOOK, tuple(injected), then=answered
        )
        return Answer(agent.reply(inject.HOOK, context), note)

    def _on_delivery(
        self,
        agent: str,
        session: str,
        hook: str,
        injected: tuple[Injected, ...],
        then: Callable[[bool], None] = nothing,
    ) -> Callable[[bool], None]:
        """An answer that was not delivered does not count as injected."""

        def done(heard: bool) -> None:
            if heard and injected:
                self._notes.append(Note(agent, session, self.context.clock(), hook, injected))
            then(heard)

        return done

    def _note(self, agent: str, session: str, hook: str) -> None:
        self._notes.append(Note(agent, session, self.context.clock(), hook))


def _listable(session: Session) -> bool:
    """The agent chooses the session's id; only a plain one can be a file name."""
    return FILE_NAME.fullmatch(session.ref) is not None


def _line(path: str) -> str:
    return json.dumps(path, ensure_ascii=False)
