"""Folders of memories: what is in one, and which there are for a directory.

Reading changes nothing. A file that is no memory is reported with what to mend. At most 200 files of a folder
are looked at, newest first; the rest is counted.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from recollect.memory.storage import files, projects
from recollect.memory.storage.format import ENDING, INDEX_FILE, checksum, parse
from recollect.memory.storage.names import same_name, unsafe
from recollect.model.memories import (
    OF_PROJECT,
    OF_TEAM,
    OF_USER,
    Broken,
    Memory,
    StoredMemory,
)
from recollect.paths import Paths
from recollect.repository import Repository, identify
from recollect.settings import Settings

MOST_FILES = 200
# The same files are read at every prompt: what was in them is remembered.
REMEMBERED, REMEMBERED_BYTES = 1024, 16 * 1024
LISTED = 64  # folders
SETTLED = 1_000_000_000  # nanoseconds
PLAIN = "files"  # in the folder of all memories: what an agent keeps there beside them


@dataclass(frozen=True, slots=True)
class Listing:
    """`left_out`: files that were not looked at."""

    memories: tuple[StoredMemory, ...] = ()
    broken: tuple[Broken, ...] = ()
    left_out: int = 0

    def get(self, name: str) -> StoredMemory | None:
        return next((each for each in self.memories if each.memory.name == name), None)


class Entry(NamedTuple):
    """A file as the system tells of it: as long as this is the same, so is what is in it."""

    age: int  # the newer, the smaller
    name: str
    changed: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class Folder:
    """It need not be there: then it is empty. `scope`: see model/memories.py."""

    path: Path
    scope: str
    writable: bool = True

    def list(self, most: int | None = MOST_FILES) -> Listing:
        """Newest first. `most` None looks at all."""
        began = time.time_ns()
        try:
            state = self._entries()
        except OSError as error:
            why = f"the folder cannot be read ({error.strerror}): give yourself the right to"
            return Listing(broken=(Broken(self.path, why),))
        key = (self.path, self.scope, most)
        if (known := _LISTED.get(key)) and known[0] == state:
            return known[1]
        listing = self._look(state, most)
        # A file that was changed just now may change again without another time.
        if all(entry.changed < began - SETTLED for entry in state):
            if len(_LISTED) >= LISTED:
                _LISTED.clear()
            _LISTED[key] = state, listing
        return listing

    def _look(self, state: tuple[Entry, ...], most: int | None) -> Listing:
        found, clashes = _distinct(self._paths(state))
        looked_at = found[:most]
        memories: list[StoredMemory] = []
        broken = list(clashes)
        for path in looked_at:
            match self._read(path):
                case StoredMemory() as stored:
                    memories.append(stored)
                case Broken() as bad:
                    broken.append(bad)
        return Listing(tuple(memories), tuple(broken), len(found) - len(looked_at))

    def get(self, name: str) -> StoredMemory | Broken | None:
        """By its name, without looking at the others."""
        return None if unsafe(name) else self._read(self.file(name))

    def file(self, name: str) -> Path:
        return self.path / f"{name}{ENDING}"

    def names(self) -> tuple[str, ...]:
        """Of all files that could be memories."""
        return tuple(path.name.removesuffix(ENDING) for path in self._paths(self._entries()))

    def _paths(self, state: tuple[Entry, ...]) -> tuple[Path, ...]:
        return tuple(self.path / entry.name for entry in state)

    def _entries(self) -> tuple[Entry, ...]:
        """Newest first."""
        found = []
        try:
            with os.scandir(self.path) as entries:
                for entry in filter(is_memory_entry, entries):
                    with suppress(FileNotFoundError):  # somebody deletes it just now
                        told = entry.stat(follow_symlinks=False)
                        times = -told.st_mtime_ns, entry.name, told.st_ctime_ns
                        found.append(Entry(*times, told.st_size, told.st_ino))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted(found))

    def _read(self, path: Path) -> StoredMemory | Broken | None:
        if why := unsafe(path.name.removesuffix(ENDING)):
            return Broken(path, f"its name cannot be used, {why}: rename it")
        try:
            data, found = files.look(path)
        except files.Strange as error:
            return Broken(path, str(error))
        except OSError as error:
            return Broken(path, f"it cannot be read ({error.strerror}): give yourself the right to")
        if data is None or found is None:
            return None
        match _parsed(data, path) if len(data) <= REMEMBERED_BYTES else parse(data, path):
            case Broken() as broken:
                return broken
            case memory:
                modified = found.st_mtime_ns // 1_000_000
                return StoredMemory(memory, self.scope, path, checksum(data), modified)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the memories for one directory stand. `root` holds all that are ours, with lock and history.
    `problems`: folders that were refused."""

    root: Path
    user: Folder
    project: Folder
    team: Folder | None = None
    theirs: Folder | None = None
    repository: Repository | None = None
    problems: tuple[Broken, ...] = ()

    @property
    def top(self) -> str:
        """The directory that files are named from; empty where nothing is known of a project."""
        return self.repository.root if self.repository else ""

    @property
    def own(self) -> tuple[Folder, Folder]:
        """Names are unique over both."""
        return self.user, self.project

    @property
    def all(self) -> tuple[Folder, ...]:
        return tuple(each for each in (*self.own, self.team, self.theirs) if each is not None)

    @property
    def retired(self) -> tuple[Folder, Folder]:
        return self.retired_of(self.user), self.retired_of(self.project)

    @property
    def files(self) -> Path:
        """Plain files of the project, which are no memories: see memory_tool.py."""
        return self.root / PLAIN / self.project.path.name

    def retired_of(self, folder: Folder) -> Folder:
        return Folder(self.root / "retired" / folder.path.relative_to(self.root), folder.scope)

    def of(self, scope: str) -> Folder | None:
        return next((each for each in self.all if each.scope == scope), None)


def places(
    paths: Paths,
    directory: str,
    settings: Settings,
    theirs: Folder | None = None,
    repository: Repository | None = None,
) -> Places:
    """For a directory, which need not be a repository. Nothing is made. `theirs`: the client's own folder;
    `repository`: if it is known already, since asking git takes a while."""
    repository = repository or identify(directory)
    root = paths.memory
    project = projects.find(root, repository) or projects.new(root, repository)
    found = Places(
        root=root,
        user=Folder(root / "user", OF_USER),
        project=Folder(project, OF_PROJECT),
        theirs=theirs,
        repository=repository,
    )
    if not (name := settings.text("memory.team_folder").strip()):
        return found
    match _team(Path(repository.root), name):
        case Folder() as team:
            return replace(found, team=team)
        case problem:
            return replace(found, problems=(problem,))


_LISTED: dict[tuple[Path, str, int | None], tuple[tuple[Entry, ...], Listing]] = {}


@lru_cache(maxsize=REMEMBERED)
def _parsed(data: bytes, path: Path) -> Memory | Broken:
    return parse(data, path)


def is_memory_entry(entry: os.DirEntry[str]) -> bool:
    return is_memory_file(entry.name) and not entry.is_dir(follow_symlinks=False)


def is_memory_file(name: str) -> bool:
    hidden = name.startswith(".")
    return name.endswith(ENDING) and not hidden and name.lower() != INDEX_FILE.lower()


def is_plain_file(path: Path, root: Path) -> bool:
    """One of `Places.files`, or of another project's."""
    below = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return below[:1] == (PLAIN,) and not any(part.startswith(".") for part in below)


def plain_files(folder: Path) -> list[Path]:
    """All in it, at any depth; neither links nor hidden ones."""
    found = (Path(path, name) for path, _, names in os.walk(folder) for name in names)
    return sorted(each for each in found if not each.name.startswith(".") and not each.is_symlink())


def _team(root: Path, name: str) -> Folder | Broken:
    """Whoever can write into the repository must not be able to make us read or write elsewhere."""
    path = root / name
    fix = "set memory.team_folder to a folder inside the repository"
    try:
        top, real = root.resolve(), path.resolve()
    except (OSError, RuntimeError):
        return Broken(path, f"the team's folder leads in a circle: {fix}")
    if not real.is_relative_to(top) or real == top or ".git" in real.relative_to(top).parts:
        return Broken(path, f"the team's folder leads out of the repository: {fix}")
    return Folder(real, OF_TEAM)


def _distinct(paths: Iterable[Path]) -> tuple[list[Path], list[Broken]]:
    """Names that differ in case alone are one name elsewhere; the lower case one is taken."""
    first: dict[str, Path] = {}
    paths = list(paths)
    for path in sorted(paths, key=lambda each: (each.name != each.name.lower(), each.name)):
        first.setdefault(same_name(path.name), path)
    kept = [path for path in paths if first[same_name(path.name)] == path]
    clashes = [
        Broken(path, f"{first[same_name(path.name)].name} has the same name: rename one of them")
        for path in paths
        if first[same_name(path.name)] != path
    ]
    return kept, clashes
