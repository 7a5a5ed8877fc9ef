"""Session memories, kept current: made of what is stored, written when a turn was summarised or a compaction
comes, and gone with their session."""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import DAY, SECOND, Clock
from recollect.errors import StoreError
from recollect.memory import session_text
from recollect.memory.sessions import SessionMemory, gather
from recollect.model.captures import Unreadable
from recollect.model.events import Event
from recollect.model.sessions import Session
from recollect.model.told import Handed
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker.recent_events import read

DOCTORS = "doctor-"
KEPT = 30 * DAY // SECOND  # a session that is taken up again after that gets a new file


@dataclass(frozen=True, slots=True)
class SessionMemories:
    paths: Paths
    store: Reading
    agents: Mapping[str, Agent]
    clock: Clock
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, session: Session) -> None:
        """The file of a session that goes on, or did lately: one of long ago that is imported needs none.
        Whatever fails here costs the file and nothing else."""
        if session.last_event_at < self.clock() - DAY:
            return
        try:
            self.current(session)
        except StoreError as error:
            log.warning("session_memory.failed", session=session.id, error=log.cause(error))

    def refresh(self, session_id: int) -> None:
        """If it has a file: something that it may tell was forgotten, put back or edited."""
        session = self.store.session(session_id)
        file = session_text.path(self.folder, session.agent, session.ref) if session else None
        if session is None or file is None or not file.exists():
            return
        try:
            self.current(session)
        except StoreError as error:
            file.unlink(missing_ok=True)  # rather none than one that tells what was forgotten
            log.warning("session_memory.failed", session=session.id, error=log.cause(error))

    def handed_back(self, session: Session) -> Handed | None:
        """After a compaction: the whole of it, where it can serve as the summary."""
        memory = self.current(session)
        return session_text.page(memory, level=3) if memory.serves else None

    def kept(self, session: Session) -> Handed:
        """Before a compaction: what it must keep."""
        return session_text.keep(self.current(session))

    def drop(self, agent: str, ref: str) -> None:
        """With the session: whoever takes one out of the store says so here. `sweep` finds the others."""
        if file := session_text.path(self.folder, agent, ref):
            file.unlink(missing_ok=True)

    def sweep(self) -> int:
        """Files whose session is gone, or was silent for long. How many there were."""
        oldest = time.time() - KEPT
        swept = 0
        for file in sorted(self.folder.glob("*.md")):
            agent = next((name for name in self.agents if file.name.startswith(f"{name}-")), "")
            ref = file.name.removeprefix(f"{agent}-").removesuffix(".md")
            known = not agent or self.store.session_by_ref(agent, ref) is not None
            if not known or file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
                swept += 1
        return swept

    def current(self, session: Session) -> SessionMemory:
        """As it is now, and written down. One at a time, so that no older version is written last."""
        with self._writing:
            memory = gather(
                session,
                self.store.prompts(session.id),
                self.store.summaries_of_session(session.id),
                self.store.observations_of_session(session.id),
                read(self._newest_first(session)),
            )
            if not session.ref.startswith(DOCTORS):
                self._put(memory, self.store.project(session.project_id).name)
        return memory

    def _put(self, memory: SessionMemory, project: str) -> None:
        try:
            session_text.write(self.folder, memory, project)
        except OSError as error:  # a full disk; what is asked for can be told all the same
            log.warning("session_memory.unwritten", error=log.cause(error))

    @property
    def folder(self) -> Path:
        return self.paths.memory / "sessions"

    def _newest_first(self, session: Session) -> Iterator[Event]:
        """Turn by turn: only as much is read as somebody asks for."""
        agent = self.agents[session.agent]
        for number in range(session.prompts, -1, -1):
            for row in reversed(self.store.events_of_prompt(session.id, number)):
                event = agent.parse(replace(row.capture, project_dir=session.project_dir))
                if event is not None and not isinstance(event, Unreadable):
                    yield event
