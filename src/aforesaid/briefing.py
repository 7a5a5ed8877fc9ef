"""The brief that is injected at the start of a session: from the memories, the store and the current work.
A part that cannot be read is left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.errors import AforesaidError, StoreError
from aforesaid.memory.changes import Memories
from aforesaid.memory.selection import memories_for_brief
from aforesaid.recall import brief
from aforesaid.recall.brief import Brief
from aforesaid.recall.inject import find_for_work
from aforesaid.recall.search import Searcher
from aforesaid.repository import current_work
from aforesaid.store.store import Store

ANSWERING, PREPARING = 0.15, 2.0  # seconds that each question to git may take


def write_brief(
    store: Store,
    searcher: Searcher,
    memories: Callable[[str], Memories] | None,
    project_id: int,
    directory: str,
    tokens: int,
    *,
    seconds: float = PREPARING,
    with_work: bool = True,
    **more: Any,
) -> Brief:
    """`seconds`: for git, to tell what is being worked on. `more`: see `brief.write`."""
    if with_work and tokens > 0:
        more["for_work"] = _find_for_work(store, searcher, project_id, directory, seconds)
    if memories is not None:
        try:
            more["memories"] = memories_for_brief(memories(directory))
        except (OSError, AforesaidError) as error:  # users may have broken the files
            log.warning("brief.without_memories", error=log.cause(error))
    return brief.write(store, project_id, tokens, **more)


def _find_for_work(
    store: Store, searcher: Searcher, project_id: int, directory: str, seconds: float
) -> list[tuple[int, str]]:
    if not Path(directory).is_dir():
        return []
    try:
        return find_for_work(searcher, store, project_id, current_work(directory, seconds))
    except StoreError as error:  # a broken index
        log.warning("brief.without_search", error=log.cause(error))
        return []
