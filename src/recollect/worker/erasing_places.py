"""Which files and folders of memories an erasure takes as a whole."""

from pathlib import Path
from typing import Protocol

from recollect.memory.storage import projects
from recollect.memory.storage.folders import PLAIN
from recollect.memory.storage.journal import RETIRED
from recollect.model.erasing import Erasure
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker.memory_work import MemoryWork
from recollect.worker.projects import ProjectFinder


class Asking(Protocol):
    @property
    def paths(self) -> Paths: ...
    @property
    def store(self) -> Reading: ...
    @property
    def finder(self) -> ProjectFinder: ...
    @property
    def memories(self) -> MemoryWork: ...


def places_of(asking: Asking, wanted: Erasure) -> tuple[str, ...]:
    """Below the folder of all memories."""
    root = asking.paths.memory
    if wanted.what == "memory":
        held = asking.memories.of(wanted.directory).places
        folders = (*held.own, *held.retired)
        return tuple(_below(root, folder.file(wanted.name)) for folder in folders)
    if wanted.what == "project" and wanted.id is not None:
        known = {each.id: each.root for each in asking.store.projects()}
        found = known.get(wanted.id)
        folder = projects.find(root, asking.finder.repository(found)) if found else None
        if folder is not None:
            own = _below(root, folder)
            return own, f"{RETIRED}/{own}", f"{PLAIN}/{folder.name}"
    return ()


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
