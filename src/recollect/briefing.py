"""What the next session of a project is told at its start: put together from the memories, the store and the
work at hand. What of it cannot be had is left out; the rest stands."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect import log
from recollect.errors import RecollectError, StoreError
from recollect.memory.choosing import selecting
from recollect.memory.storage.changes import Memories
from recollect.model.memories import StoredMemory
from recollect.model.sessions import Session
from recollect.model.told import Handed
from recollect.recall import brief
from recollect.recall.brief import Brief
from recollect.recall.current_work import bearing
from recollect.recall.search import Searcher
from recollect.repository import current_work
from recollect.store.protocol import Reading

ANSWERING, PREPARING = 0.15, 2.0  # seconds that each question to git may take


@dataclass(frozen=True, slots=True)
class Briefing:
    store: Reading
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
        handed: Handed | None = None,
        with_memories: bool = True,
        with_work: bool = True,
    ) -> Brief:
        """For a session in that directory, within so many tokens. `seconds`: for git, to tell what is being
        worked on. `resuming`, `handed`: see `brief.write`."""
        work = with_work and tokens > 0
        return brief.write(
            self.store,
            project_id,
            tokens,
            resuming=resuming,
            bearing=self._bearing(project_id, directory, seconds) if work else (),
            handed=handed,
            memories=self._index(directory) if with_memories else (),
        )

    def _index(self, directory: str) -> list[StoredMemory]:
        """Of the curated memories. Files are somebody else's to break."""
        try:
            return selecting.index(self.memories(directory))
        except (OSError, RecollectError) as error:
            log.warning("brief.without_memories", error=log.cause(error))
            return []

    def _bearing(self, project_id: int, directory: str, seconds: float) -> list[tuple[int, str]]:
        if not Path(directory).is_dir():
            return []
        try:
            work = current_work(directory, seconds)
            return bearing(self.searcher, self.store, project_id, work)
        except StoreError as error:  # a broken index
            log.warning("brief.without_search", error=log.cause(error))
            return []
