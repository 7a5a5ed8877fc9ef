"""Memories on their way in: a file each, as it was elsewhere, to the byte.

Nothing that is here is overwritten. A name that another text has here gets a number, and the same text is not
taken twice. What comes from a project is one change, so it can be undone; what could be no memory is refused,
and the rest goes on.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from recollect.clock import Clock
from recollect.errors import Edited, TransferError
from recollect.memory.storage import projects
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import Folder, Places
from recollect.memory.storage.format import ENDING, text_of
from recollect.memory.storage.front_matter import Unreadable
from recollect.memory.storage.names import LONGEST_FOUND, same_name, unsafe
from recollect.memory.storage.outgoing import PROJECTS, places_of_user
from recollect.memory.storage.staging import Change
from recollect.model.memories import OF_PROJECT
from recollect.model.records import LISTED, MemoryRecord, ProjectRecord, TakenMemories
from recollect.repository import Repository
from recollect.text import one_line

REASON = "imported"
EDITED = "its file was written by somebody else in that moment; import again"
MOST_IDENTITIES, LONGEST_IDENTITY = 50, 1000
LONGEST_NAME = 80  # of one that is refused


@dataclass(slots=True)
class _Shelf:
    """One folder within a change. `names`: of the files there, by what they are called everywhere; `beside`:
    names that are taken though the files stand elsewhere."""

    change: Change
    folder: Folder
    names: dict[str, str]
    beside: frozenset[str] = frozenset()

    def has(self, name: str, data: bytes) -> bool:
        """Under that name, or one that some file systems cannot tell from it."""
        for there in {name, self.names.get(same_name(name), name)}:
            with suppress(Edited, OSError):  # no plain file, or none that we may read
                if self.change.content(self.folder.file(there)) == data:
                    return True
        return False

    def is_free(self, name: str) -> bool:
        return same_name(name) not in self.names and same_name(name) not in self.beside

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder.file(name)
        self.change.put(path, data)
        self.names[same_name(name)] = name
        return path


@dataclass(slots=True)
class _Taking:
    """The memories of one owner, being taken. `written`: which file has which name of the source."""

    known: int = 0
    written: dict[Path, str] = field(default_factory=dict)
    renamed: list[Path] = field(default_factory=list)

    def all(self, sound: list[tuple[_Shelf, str, bytes]]) -> None:
        """Those first that keep their names: another one's number must not take one of these."""
        clashing = []
        for shelf, name, data in sound:
            if shelf.has(name, data):
                self.known += 1
            elif shelf.is_free(name):
                self.written[shelf.put(name, data)] = name
            else:
                clashing.append((shelf, name, data))
        for shelf, name, data in clashing:
            for other in _numbered(name):
                if shelf.has(other, data):
                    self.known += 1
                    break
                if shelf.is_free(other):
                    path = shelf.put(other, data)
                    self.written[path] = name
                    self.renamed.append(path)
                    break


class Incoming:
    """For one import. A trial remembers what it would have written."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root, self._clock = root, clock
        self._trial: dict[Path, bytes] = {}

    def take(
        self, project: ProjectRecord | None, records: Iterable[MemoryRecord], *, undo: bool
    ) -> TakenMemories:
        """All of a project's, or of the user's. `undo`: only see what would be."""
        sound: list[tuple[MemoryRecord, bytes]] = []
        refused: list[str] = []
        number = 0
        for record in records:
            why = _unfit(record)
            if isinstance(why, bytes):
                sound.append((record, why))
                continue
            number += 1
            if len(refused) < LISTED:
                refused.append(_refusal(record.name, project, why))
        told = TakenMemories(refused=number, reasons=tuple(refused))
        return told + self._take(project, sound, undo=undo) if sound else told

    def _take(
        self,
        project: ProjectRecord | None,
        sound: list[tuple[MemoryRecord, bytes]],
        *,
        undo: bool,
    ) -> TakenMemories:
        memories = Memories(self._places(project), self._clock)
        taking = _Taking()
        try:
            with memories.trial() if undo else memories.change(REASON, forgiving=True) as change:
                for path, data in self._trial.items():
                    change.put(path, data)
                shelves = self._shelves(memories.places, change, of_user=project is None)
                taking.all([(shelves[each.retired], each.name, data) for each, data in sound])
                if undo:
                    self._trial |= {path: change.content(path) or b"" for path in taking.written}
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise TransferError(f"{self._root} cannot be written: {why}.") from None
        kept = [path for path in change.kept_by_hand if path in taking.written]
        return TakenMemories(
            new=len(taking.written) - len(kept),
            known=taking.known,
            renamed=tuple(path.stem for path in taking.renamed if path not in kept),
            refused=len(kept),
            reasons=tuple(_refusal(taking.written[path], project, EDITED) for path in kept),
        )

    def _places(self, project: ProjectRecord | None) -> Places:
        """A project that is known here keeps its folder, its name and its place."""
        own = places_of_user(self._root)
        if project is None:
            return own
        there = project.repository
        known = [each for each in there.identities if len(each.value) <= LONGEST_IDENTITY]
        identities = tuple(known[:MOST_IDENTITIES]) or there.identities[:1]
        there = Repository(there.name, there.root, identities)
        path = projects.find(self._root, there) or projects.new(self._root, there)
        if said := projects.noted(path):
            there = Repository(said.name, said.root, identities)
        return Places(self._root, own.user, Folder(path, OF_PROJECT), repository=there)

    def _shelves(self, places: Places, change: Change, *, of_user: bool) -> dict[bool, _Shelf]:
        """Where what is told goes, and what is retired."""
        home = places.user if of_user else places.project
        # Those of the user and of a project are told together, so their names must differ.
        others = self._project_folders() if of_user else [places.user.path]
        beside = frozenset(name for folder in others for name in self._names(folder))
        retired = places.retired_of(home)
        return {
            False: _Shelf(change, home, self._names(home.path), beside),
            True: _Shelf(change, retired, self._names(retired.path)),
        }

    def _project_folders(self) -> list[Path]:
        with suppress(OSError):
            return list((self._root / PROJECTS).iterdir())
        return []

    def _names(self, folder: Path) -> dict[str, str]:
        """Of whatever stands there, even what is no plain file."""
        found = [path.name for path in self._trial if path.parent == folder]
        with suppress(FileNotFoundError, NotADirectoryError):
            found += [each.name for each in folder.iterdir() if each.name.endswith(ENDING)]
        names = (name.removesuffix(ENDING) for name in found)
        return {same_name(name): name for name in names}


def _unfit(record: MemoryRecord) -> bytes | str:
    """The file's bytes; or why there can be no such file."""
    if why := unsafe(record.name):
        return why
    try:
        data = record.text.encode()
        text_of(data)
    except UnicodeEncodeError:
        return "it is not a text"
    except Unreadable as error:
        return str(error)
    return data


def _numbered(name: str) -> Iterator[str]:
    for number in count(2):
        end = f"-{number}"
        yield name.encode()[: LONGEST_FOUND - len(end)].decode("utf-8", "ignore") + end


def _refusal(name: str, project: ProjectRecord | None, why: str) -> str:
    whose = f"of {one_line(project.name, LONGEST_NAME)}" if project else "of the user"
    return f"The memory {one_line(name, LONGEST_NAME)!r} {whose} was not taken: {why}."
