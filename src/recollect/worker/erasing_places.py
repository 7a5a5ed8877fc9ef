"""Which files and folders of memories an erasure takes as a whole."""

from pathlib import Path
from typing import Protocol

from recollect.memory.history.git_erasing import Keeping
from recollect.memory.storage import projects
from recollect.memory.storage.erasing import every_file
from recollect.memory.storage.folders import PLAIN, is_memory_file
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


def memories_with(root: Path, keeping: Keeping) -> int:
    """How many would change, told and retired; a session's own is no memory that somebody would miss."""
    found = (path for path in every_file(root) if is_memory_file(path.name))
    named = {_below(root, path): path.read_bytes() for path in found}
    own = {name: data for name, data in named.items() if not name.startswith("sessions/")}
    return sum(keeping(name, data) != data for name, data in own.items())


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
