"""The months of development that ship with the product, as the past of a project under test."""

from pathlib import Path

from aforesaid import wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.model.records import ProjectRecord
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from aforesaid.worker.indexing import index
from benchmarks.recall import coding

# Months after it was solved, in other words; and what is told then.
NEEDED = (
    "invoices go out twice when Stripe sends the same webhook event again, dedupe it by event id"
)
TOLD = "event id"
UNRELATED = "write a haiku about the sea"


def remember(store: Store, project_id: int, name: str = "ledgerly") -> None:
    """All of one project of the set, in this one."""
    (memory,) = coding.shipped().memories
    store.transfer.begin()
    for block in memory.sessions:
        if any(isinstance(part, ProjectRecord) and part.name == name for part in block):
            store.transfer.import_records(block, into=project_id)
    store.transfer.end()
    list(index(store, AGENTS))


def remember_in(paths: Paths, directory: Path) -> None:
    """For a home whose worker is not running."""
    paths.make()
    store = wiring.open_for_writing(paths, wiring.encoder(wiring.home().settings))
    try:
        found = identify(str(directory))
        remember(store, store.projects.resolve(found, str(directory), 0))
    finally:
        store.close()
