"""Keeps session memories current: written when a turn was summarised and before a compaction, removed with
their session."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid import log
from aforesaid.agents.base import Agent
from aforesaid.clock import DAY, Clock
from aforesaid.errors import StoreError
from aforesaid.memory.session import (
    MAX_TOKENS,
    RecentEvents,
    SessionMemory,
    gather_session_memory,
    render_compaction_notes,
    render_page,
    session_file,
    write_session_file,
)
from aforesaid.model import events
from aforesaid.model.search import Context
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.providers.extract.results import REFUSED, error_window, find_error
from aforesaid.store.store import Store
from aforesaid.text import one_line, tokens
from aforesaid.worker.context import DOCTOR_PREFIX


@dataclass(frozen=True, slots=True)
class SessionMemories:
    paths: Paths
    store: Store
    agents: Mapping[str, Agent]
    clock: Clock
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, session: Session) -> None:
        """The file of a session that is active or recent: one of long ago that is imported needs none.
        Whatever fails here costs the file and nothing else."""
        if session.last_event_at < self.clock() - DAY:
            return
        try:
            self.current(session)
        except StoreError as error:
            log.warning("session_memory.failed", session=session.id, error=log.cause(error))

    def refresh(self, session_id: int) -> None:
        """If it has a file: something in it may have been hidden, restored or edited."""
        session = self.store.sessions.get(session_id)
        file = session_file(self.folder, session.agent, session.ref) if session else None
        if session is None or file is None or not file.exists():
            return
        try:
            self.current(session)
        except StoreError as error:
            file.unlink(missing_ok=True)  # rather none than one with hidden content
            log.warning("session_memory.failed", session=session.id, error=log.cause(error))

    def handed_back(self, session: Session) -> Context | None:
        """After a compaction: the whole of it, where it can serve as the summary."""
        memory = self.current(session)
        return render_page(memory, level=3) if memory.serves else None

    def kept(self, session: Session) -> Context:
        """Before a compaction: what it must keep."""
        return render_compaction_notes(self.current(session))

    def drop(self, agent: str, ref: str) -> None:
        """With the session. `maintenance.sweep_session_files` finds those that were missed."""
        if file := session_file(self.folder, agent, ref):
            file.unlink(missing_ok=True)

    def current(self, session: Session) -> SessionMemory:
        """As it is now, and written down. One at a time, so that no older version is written last."""
        with self._writing:
            memory = gather_session_memory(
                session,
                self.store.sessions.prompts(session.id),
                self.store.summaries.for_session(session.id),
                self.store.observations.for_session(session.id),
                read_recent(self._newest_first(session)),
            )
            if not session.ref.startswith(DOCTOR_PREFIX):
                project = self.store.projects.get(session.project_id).name
                try:
                    write_session_file(self.folder, memory, project)
                except OSError as error:  # a full disk; the caller still gets the text
                    log.warning("session_memory.unwritten", error=log.cause(error))
        return memory

    @property
    def folder(self) -> Path:
        return self.paths.memory / "sessions"

    def _newest_first(self, session: Session) -> Iterator[events.Event]:
        """Turn by turn: only as much is read as somebody asks for."""
        agent = self.agents[session.agent]
        for number in range(session.prompts, -1, -1):
            for row in reversed(self.store.events.for_prompt(session.id, number)):
                if event := agent.parse_stored(row, session.project_dir):
                    yield event


def read_recent(newest_first: Iterable[events.Event]) -> RecentEvents:
    """Back to the last compaction, or to where there is more than a page can replace."""
    failed: dict[str, str] = {}  # by tool call, the newest failure
    succeeded: set[str] = set()
    touched: list[tuple[str, bool]] = []
    read = messages = 0
    for event in newest_first:
        what = event.what
        # The compaction that is under way may be there already, or not: nothing comes behind it.
        if isinstance(what, events.CompactionBegan) and messages + read:
            break
        if isinstance(what, events.ToolUsed):
            call, is_ours = _describe(what), event.subagent is None
            if what.failure is None:
                succeeded |= {call} if is_ours else set()
                if isinstance(what.action, events.FileChanged | events.FileRead):
                    is_changed = isinstance(what.action, events.FileChanged)
                    touched.append((what.action.path, is_changed))
            elif is_ours and call not in failed and (error := _find_error(what.failure)):
                state = "works since" if call in succeeded else "has not worked since"
                failed[call] = f"`{one_line(call, 160)}`: {one_line(error, 200)} ({state})"
        if event.subagent is None:  # what one saw is not in this conversation
            texts = [text for text in _texts(what) if text]
            read += sum(map(tokens, texts))
            messages += bool(texts) and not isinstance(what, events.ToolUsed)
        if read > MAX_TOKENS:
            break
    return RecentEvents(tuple([*failed.values()][::-1]), tuple(touched[::-1]), read, messages)


def _find_error(failure: events.Failure) -> str | None:
    refused = failure.exit_code is None and REFUSED.search(failure.error[:600])
    return None if failure.interrupted or refused else find_error(error_window(failure.error))


def _describe(tool: events.ToolUsed) -> str:
    match tool.action:
        case events.CommandRun(command=command):
            return one_line(command, 300)
        case events.FileChanged(path=path) | events.FileRead(path=path):
            return f"{tool.name} {path}"
        case _:
            return tool.name


def _texts(what: events.Happening) -> Iterator[str]:
    """About what the model has seen of it."""
    match what:
        case (
            events.PromptSubmitted(text=text, by_machine=False)
            | events.TurnEnded(last_message=text)
        ):
            yield text
        case events.ToolUsed(action=action, failure=failure):
            match action:
                case events.CommandRun(command=command, stdout=stdout, stderr=stderr):
                    yield from (command, stdout, stderr)
                case events.FileRead(content=content):
                    yield content
                case events.FileChanged(hunks=hunks, after=after):
                    yield "\n".join(line for hunk in hunks for line in hunk.lines) or after or ""
                case events.OtherTool(input=given, output=output):
                    yield from (given, output)
            yield failure.error if failure else ""
