"""The brief that is injected at the start of a session: from the memories, the store and the current work.
A part that cannot be read is left out."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aforesaid import log
from aforesaid.errors import AforesaidError, StoreError
from aforesaid.memory.changes import Memories
from aforesaid.memory.selection import memories_for_brief
from aforesaid.model.memories import StoredMemory
from aforesaid.model.search import Context
from aforesaid.model.sessions import Session
from aforesaid.recall import brief
from aforesaid.recall.brief import Brief
from aforesaid.recall.inject import find_for_work
from aforesaid.recall.search import Searcher
from aforesaid.repository import current_work
from aforesaid.store.store import Store

ANSWERING, PREPARING = 0.15, 2.0  # seconds that each question to git may take


@dataclass(frozen=True, slots=True)
class Briefing:
    store: Store
    searcher: Searcher
    memories: Callable[[str], Memories]

    def write(
        self,
        project_id: int,
        directory: str,
        tokens: int,
        *,
        seconds: float = PREPARING,
        resuming: Session | None = None,
        session_memory: Context | None = None,
        with_memories: bool = True,
        with_work: bool = True,
    ) -> Brief:
        """`seconds`: for git, to tell what is being worked on. The others: see `brief.write`."""
        work = with_work and tokens > 0
        return brief.write(
            self.store,
            project_id,
            tokens,
            resuming=resuming,
            for_work=self._for_work(project_id, directory, seconds) if work else (),
            session_memory=session_memory,
            memories=self._index(directory) if with_memories else (),
        )

    def _index(self, directory: str) -> list[StoredMemory]:
        """The curated memories. Users may have broken the files."""
        try:
            return memories_for_brief(self.memories(directory))
        except (OSError, AforesaidError) as error:
            log.warning("brief.without_memories", error=log.cause(error))
            return []

    def _for_work(self, project_id: int, directory: str, seconds: float) -> list[tuple[int, str]]:
        if not Path(directory).is_dir():
            return []
        try:
            work = current_work(directory, seconds)
            return find_for_work(self.searcher, self.store, project_id, work)
        except StoreError as error:  # a broken index
            log.warning("brief.without_search", error=log.cause(error))
            return []
