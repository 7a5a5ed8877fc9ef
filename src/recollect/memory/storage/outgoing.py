"""Memories on their way out: the user's and every project's, told and retired ones, each as its file's text.

Broken ones go along, since somebody may mend them. What could not come back (no text, too large, a name that
nobody may use) is left out and named.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from recollect.memory.storage import files, projects
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import Folder, Places
from recollect.memory.storage.format import text_of
from recollect.memory.storage.front_matter import Unreadable
from recollect.memory.storage.names import unsafe
from recollect.model.memories import OF_PROJECT, OF_USER, Broken
from recollect.model.records import IdentityKind, IdentityRecord, MemoryRecord, ProjectRecord

PROJECTS, RETIRED = "projects", "retired"
KINDS = ("remote", "commit", "path")
# In none of the projects: what is the user's alone.
NOWHERE = "-"


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    retired: bool
    text: str


class Outgoing:
    """All of them as they are now; or of one project `only`, and then without the user's, which speak of a
    person. `left_out`: files that do not go along, complete when all was asked for."""

    def __init__(self, root: Path, only: ProjectRecord | None = None) -> None:
        self.left_out: list[Broken] = []
        self._root = root
        with Memories(places_of_user(root)).trial():
            self._user = [] if only else self._read(places_of_user(root).user)
            slugs = [self._slug(only)] if only else self._slugs()
            self._shelves = {slug: self._read(self._folder(slug)) for slug in slugs}

    def __len__(self) -> int:
        return len(self._user) + sum(map(len, self._shelves.values()))

    def of_user(self) -> Iterator[MemoryRecord]:
        yield from _records(None, self._user)

    def of(self, project: ProjectRecord) -> Iterator[MemoryRecord]:
        yield from _records(project.project, self._shelves.pop(self._slug(project), []))

    def of_others(self, number: int) -> Iterator[ProjectRecord | MemoryRecord]:
        for slug, texts in self._shelves.items():
            if not texts:
                continue
            if project := self._project(slug, f"p{number + 1}"):
                number += 1
                yield project
                yield from _records(project.project, texts)
            else:
                why = f"nobody knows whose memories these are: its {projects.NOTE} does not say"
                self.left_out.append(Broken(self._folder(slug).path, why))

    def _slug(self, project: ProjectRecord) -> str:
        """The folder that a directory of that project would find."""
        found = project.repository
        return (projects.find(self._root, found) or projects.new(self._root, found)).name

    def _slugs(self) -> list[str]:
        names = set()
        for folder in (self._root / PROJECTS, self._root / RETIRED / PROJECTS):
            with suppress(OSError):
                names |= {each.name for each in folder.iterdir() if each.is_dir()}
        return sorted(names)

    def _folder(self, slug: str) -> Folder:
        return Folder(self._root / PROJECTS / slug, OF_PROJECT)

    def _project(self, slug: str, name: str) -> ProjectRecord | None:
        """From what its folder says."""
        path = self._folder(slug).path
        said = projects.noted(path)
        known = [each for each in said.identities if each.kind in KINDS] if said else []
        if said is None or not known:
            return None
        made = (path / projects.NOTE).stat().st_mtime_ns // 1_000_000
        known.sort(key=lambda each: KINDS.index(each.kind))
        identities = (IdentityRecord(cast(IdentityKind, i.kind), i.value) for i in known)
        return ProjectRecord(name, said.name, said.root, made, tuple(identities))

    def _read(self, folder: Folder) -> list[_Text]:
        retired = places_of_user(self._root).retired_of(folder)
        found = []
        for each in (folder, retired):
            for name in self._names(each):
                try:
                    if (text := _text(each.file(name), name)) is not None:
                        found.append(_Text(name, each is retired, text))
                except (files.Strange, Unreadable) as error:
                    self.left_out.append(Broken(each.file(name), str(error)))
                except OSError as error:
                    self._unreadable(each.file(name), error)
        return found

    def _names(self, folder: Folder) -> list[str]:
        try:
            return sorted(folder.names())
        except OSError as error:
            self._unreadable(folder.path, error)
            return []

    def _unreadable(self, path: Path, error: OSError) -> None:
        why = f"it cannot be read ({error.strerror}): give yourself the right to"
        self.left_out.append(Broken(path, why))


def places_of_user(root: Path) -> Places:
    return Places(
        root, Folder(root / "user", OF_USER), Folder(root / PROJECTS / NOWHERE, OF_PROJECT)
    )


def _text(path: Path, name: str) -> str | None:
    """None where it is just being deleted."""
    if why := unsafe(name):
        raise Unreadable(f"its name cannot be used, {why}: rename it")
    data = files.read(path)
    return None if data is None else text_of(data)


def _records(project: str | None, texts: list[_Text]) -> Iterator[MemoryRecord]:
    return (MemoryRecord(project, each.name, each.retired, each.text) for each in texts)
