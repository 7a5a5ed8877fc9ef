"""The months of development that ship with the product, as the past of a project under test."""

from pathlib import Path

from recollect import wiring
from recollect.bench.recall import coding
from recollect.model.records import ProjectRecord
from recollect.paths import Paths
from recollect.repository import identify
from recollect.store.protocol import Store
from recollect.worker.indexing import Indexer

# Months after it was solved, in other words; and what is told then.
NEEDED = (
    "invoices go out twice when Stripe sends the same webhook event again, dedupe it by event id"
)
TOLD = "event id"
UNRELATED = "write a haiku about the sea"


def remember(store: Store, project_id: int, name: str = "ledgerly") -> None:
    """All of one project of the set, in this one."""
    (memory,) = coding.shipped().memories
    store.begin_import()
    for block in memory.sessions:
        if any(isinstance(part, ProjectRecord) and part.name == name for part in block):
            store.take(block, into=project_id)
    store.end_import()
    Indexer(store, wiring.AGENTS).run()


def remember_in(paths: Paths, directory: Path) -> None:
    """For a home whose worker is not running."""
    paths.make()
    store = wiring.open_for_writing(paths, wiring.encoder(wiring.home().settings))
    try:
        found = identify(str(directory))
        remember(store, store.resolve_project(found, str(directory), 0))
    finally:
        store.close()
