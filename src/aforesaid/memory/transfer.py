"""Export and import of memories: one file each, to the byte.

An import overwrites nothing. A name that another text has here gets a number, and the same text is not taken
twice. The memories of a project are one change, which can be undone; an invalid one is refused, and the rest
goes on.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from aforesaid.clock import Clock
from aforesaid.errors import Edited, TransferError
from aforesaid.memory.changes import Change, Memories
from aforesaid.memory.files import UnreadableFile, read_file
from aforesaid.memory.folders import (
    PROJECT_FILE,
    PROJECTS_FOLDER,
    RETIRED_FOLDER,
    USER_FOLDER,
    Folder,
    Places,
    find_project_folder,
    new_project_folder,
    read_project_note,
)
from aforesaid.memory.format import (
    MAX_FOREIGN_NAME_BYTES,
    SUFFIX,
    InvalidMemory,
    decode_text,
    fold_name,
    name_problem,
)
from aforesaid.model.memories import OF_PROJECT, OF_USER, Broken
from aforesaid.model.records import (
    LISTED,
    MemoryImportResult,
    MemoryRecord,
    ProjectRecord,
)
from aforesaid.repository import IDENTITY_KINDS, Repository
from aforesaid.text import one_line

IMPORT_REASON = "imported"
EDITED_MESSAGE = "its file was written by somebody else in that moment; import again"
MAX_IDENTITIES, MAX_IDENTITY = 50, 1000
MAX_SHOWN_NAME = 80
NO_PROJECT = "-"  # a folder that no project has


def user_places(root: Path) -> Places:
    """Of no project: the user's alone."""
    project = Folder(root / PROJECTS_FOLDER / NO_PROJECT, OF_PROJECT)
    return Places(root, Folder(root / USER_FOLDER, OF_USER), project)


@dataclass(slots=True)
class _Target:
    """A folder within a change. `taken`: folded names that a new file cannot have."""

    change: Change
    folder: Folder
    taken: set[str]

    def put(self, name: str, data: bytes) -> Path | None:
        """Under the first name that is free, with a number if need be; None if one of them has the text."""
        for number in count(1):
            end = f"-{number}" if number > 1 else ""
            room = MAX_FOREIGN_NAME_BYTES - len(end)
            other = name.encode()[:room].decode("utf-8", "ignore") + end
            path = self.folder.file(other)
            with suppress(Edited):  # not a regular file
                if self.change.content(path) == data:
                    return None
            if (folded := fold_name(other)) not in self.taken:
                self.change.put(path, data)
                self.taken.add(folded)
                return path
        raise AssertionError("unreachable")


class MemoryImport:
    def __init__(self, root: Path, clock: Clock) -> None:
        self._root, self._clock = root, clock

    def take(
        self, project: ProjectRecord | None, records: Iterable[MemoryRecord], *, undo: bool
    ) -> MemoryImportResult:
        """Imports the memories of a project, or of the user. `undo`: a dry run."""
        valid: list[tuple[MemoryRecord, bytes]] = []
        reasons: list[str] = []
        for record in records:
            data = _check_record(record)
            if isinstance(data, bytes):
                valid.append((record, data))
            else:
                reasons.append(_refusal_message(record.name, project, data))
        result = MemoryImportResult(refused=len(reasons), reasons=tuple(reasons[:LISTED]))
        if not valid:
            return result
        memories = Memories(self._places(project), self._clock)
        opened = memories.trial() if undo else memories.change(IMPORT_REASON, forgiving=True)
        written: dict[Path, str] = {}  # the names in the source
        try:
            with opened as change:
                places = memories.places
                home = places.project if project else places.user
                # The user's and a project's memories apply together, so their names must differ.
                others = [places.user.path]
                if not project:
                    others = list(_iter_folder(self._root / PROJECTS_FOLDER))
                taken = set().union(*(_folded_names(folder) for folder in (*others, home.path)))
                retired = places.retired_of(home)
                targets = {
                    False: _Target(change, home, taken),
                    True: _Target(change, retired, _folded_names(retired.path)),
                }
                for record, data in valid:
                    if path := targets[record.retired].put(record.name, data):
                        written[path] = record.name
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise TransferError(f"{self._root} cannot be written: {why}.") from None
        known = len(valid) - len(written)
        kept = [path for path in change.kept_by_hand if path in written]
        reasons = [_refusal_message(written.pop(path), project, EDITED_MESSAGE) for path in kept]
        renamed = tuple(path.stem for path, name in written.items() if path.stem != name)
        return result + MemoryImportResult(len(written), known, renamed, len(kept), tuple(reasons))

    def _places(self, project: ProjectRecord | None) -> Places:
        """A project that is known here keeps its folder, name, root and identities."""
        places = user_places(self._root)
        if project is None:
            return places
        source = project.repository
        short = [each for each in source.identities if len(each.identity) <= MAX_IDENTITY]
        identities = tuple(short[:MAX_IDENTITIES]) or source.identities[:1]
        source = Repository(source.name, source.root, identities)
        path = find_project_folder(self._root, source, local=False)
        if path:
            source = read_project_note(path) or source
        path = path or new_project_folder(self._root, source)
        return replace(places, project=Folder(path, OF_PROJECT), repository=source)


def _folded_names(folder: Path) -> set[str]:
    """Of all files, even what is not a regular file."""
    names = (path.name for path in _iter_folder(folder) if path.name.endswith(SUFFIX))
    return {fold_name(name.removesuffix(SUFFIX)) for name in names}


def _check_record(record: MemoryRecord) -> bytes | str:
    """The bytes of the file, or why it is refused."""
    if why := name_problem(record.name):
        return why
    try:
        data = record.text.encode()
        decode_text(data)
    except UnicodeEncodeError:
        return "it is not text"
    except InvalidMemory as error:
        return str(error)
    return data


def _refusal_message(name: str, project: ProjectRecord | None, why: str) -> str:
    whose = f"of {one_line(project.name, MAX_SHOWN_NAME)}" if project else "of the user"
    return f"The memory {one_line(name, MAX_SHOWN_NAME)!r} {whose} was not imported: {why}."


def _iter_folder(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from folder.iterdir()


class MemoryExport:
    """All memories as they are now; or of one project `only`, and then without the user's, which are
    personal. `left_out`: files that cannot be exported; complete when all records were read."""

    def __init__(self, root: Path, only: ProjectRecord | None = None) -> None:
        self.left_out: list[Broken] = []
        self._root = root
        with Memories(user_places(root)).trial():
            self._user = [] if only else self._read(user_places(root).user)
            if only:
                folders = {self._folder_name(only)}
            else:
                both = (root / PROJECTS_FOLDER, root / RETIRED_FOLDER / PROJECTS_FOLDER)
                folders = {p.name for each in both for p in _iter_folder(each) if p.is_dir()}
            self._projects = {each: self._read(self._folder(each)) for each in sorted(folders)}

    def __len__(self) -> int:
        return len(self._user) + sum(map(len, self._projects.values()))

    def of_user(self) -> Iterator[MemoryRecord]:
        yield from self._user

    def of(self, project: ProjectRecord) -> Iterator[MemoryRecord]:
        for record in self._projects.pop(self._folder_name(project), []):
            yield replace(record, project=project.project)

    def of_others(self, number: int) -> Iterator[ProjectRecord | MemoryRecord]:
        """The projects that were not asked for, numbered on from `number`."""
        for folder, records in self._projects.items():
            if not records:
                continue
            if project := self._project(folder, f"p{number + 1}"):
                number += 1
                yield project
                yield from (replace(record, project=project.project) for record in records)
            else:
                why = f"its {PROJECT_FILE} does not say which project it belongs to"
                self.left_out.append(Broken(self._folder(folder).path, why))

    def _folder_name(self, project: ProjectRecord) -> str:
        found = project.repository
        folder = find_project_folder(self._root, found) or new_project_folder(self._root, found)
        return folder.name

    def _folder(self, name: str) -> Folder:
        return Folder(self._root / PROJECTS_FOLDER / name, OF_PROJECT)

    def _project(self, folder: str, key: str) -> ProjectRecord | None:
        path = self._folder(folder).path
        note = read_project_note(path)
        if note is None or not note.identities:
            return None
        made = (path / PROJECT_FILE).stat().st_mtime_ns // 1_000_000
        known = sorted(note.identities, key=lambda each: IDENTITY_KINDS.index(each.kind))
        return ProjectRecord(key, note.name, note.root, made, tuple(known))

    def _read(self, folder: Folder) -> list[MemoryRecord]:
        """With the retired ones; `project` is filled in later."""
        found = []
        retired = user_places(self._root).retired_of(folder)
        for each in (folder, retired):
            try:
                names = sorted(each.names())
            except OSError as error:
                why = f"it cannot be read ({error.strerror}): check its permissions"
                self.left_out.append(Broken(each.path, why))
                continue
            for name in names:
                try:
                    if problem := name_problem(name):
                        raise InvalidMemory(f"its name cannot be used, {problem}: rename it")
                    data = read_file(each.file(name))
                    if data is not None:  # else it was just deleted
                        text = decode_text(data)
                        found.append(MemoryRecord(None, name, each is retired, text))
                except (InvalidMemory, UnreadableFile) as error:
                    self.left_out.append(Broken(each.file(name), str(error)))
        return found
