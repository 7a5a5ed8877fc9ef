"""The journal of one change: written whole before any memory is touched, taken away when all is done.

Its appearance is the moment of the change: before it nothing has happened, after it everything will, whoever
has to finish it. A file that is neither what it was nor what it is to become was edited by hand meanwhile: it
is left alone, with everything that belongs together with it.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect import log
from recollect.memory.history.history import BY_HAND, Contents, History, Step
from recollect.memory.storage import files
from recollect.memory.storage.folders import PLAIN, Folder, is_memory_file, is_plain_file
from recollect.memory.storage.format import INDEX_FILE
from recollect.memory.storage.index import index_text
from recollect.model.memories import OF_TEAM

NAME = ".change"
FORMAT = 1
RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class FileChange:
    """`together`: files with the same word change together or not at all."""

    path: Path
    before: bytes | None
    after: bytes | None
    together: str


@dataclass(frozen=True, slots=True)
class Journal:
    """`by_hand`: what people had changed before, by path below the root; it is recorded first."""

    key: str
    at: int
    reason: str
    files: tuple[FileChange, ...]
    by_hand: Contents


@dataclass(frozen=True, slots=True)
class Finished:
    """`kept_by_hand`: files that were edited meanwhile and therefore not changed. `entry`: in the history."""

    kept_by_hand: tuple[Path, ...]
    entry: str | None


def save(root: Path, journal: Journal) -> None:
    """From here on the change is made."""
    said = {
        "format": FORMAT,
        "key": journal.key,
        "at": journal.at,
        "reason": journal.reason,
        "files": [
            {
                "path": _named(root, each.path),
                "before": files.packed(each.before),
                "after": files.packed(each.after),
                "together": each.together,
            }
            for each in journal.files
        ],
        "by_hand": {path: files.packed(data) for path, data in journal.by_hand.items()},
    }
    files.write(root / NAME, json.dumps(said, indent=1).encode() + b"\n")


def load(root: Path) -> Journal | None:
    """The one that was left. One that cannot be read was not written by us: it is put aside."""
    try:
        data = (root / NAME).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _read(root, json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("memory.journal_unreadable", bytes=len(data))
        (root / NAME).replace(root / f"{NAME}.unreadable")
        return None


def finish(
    root: Path, journal: Journal, lock: int | None = None, *, again: bool = False
) -> Finished:
    """Everything after the commit point. May be interrupted anywhere and done again."""
    kept = [path for group in _groups(journal.files) for path in _apply(root, group)]
    done = [each for each in journal.files if each.path not in kept]
    touched = {each.path.parent for each in done} | {
        (root / path).parent for path in journal.by_hand
    }
    for folder in sorted(touched):
        try:
            rebuild_index(root, folder)
        except OSError as error:
            if not _hopeless(root, folder, error):
                raise
            log.warning("memory.unwritable", why=log.cause(error))
    entry = _record(root, journal, done, lock, again=again)
    files.remove(root / NAME)
    return Finished(tuple(kept), entry)


def rebuild_index(root: Path, folder: Path) -> None:
    """Retired memories and plain files have none. Nothing is written if nothing changed."""
    if not folder.is_dir() or any(folder.is_relative_to(root / each) for each in (RETIRED, PLAIN)):
        return
    data = index_text(Folder(folder, OF_TEAM).list(most=None)).encode()
    path = folder / INDEX_FILE
    try:
        if files.read(path) == (data or None):
            return
    except files.Strange:
        return  # somebody's own construction
    if data:
        files.write(path, data, private=folder.is_relative_to(root))
    else:
        files.remove(path)


def _apply(root: Path, group: list[FileChange]) -> list[Path]:
    """Nothing, or what was edited by hand."""
    current = {each.path: _current(each.path) for each in group}
    edited = [
        each.path for each in group if current[each.path] not in ([each.before], [each.after])
    ]
    if edited:
        log.action("memory.kept_by_hand", files=len(edited))
        return [each.path for each in group]
    # New files first: what moves is never nowhere.
    for each in sorted(group, key=lambda change: change.after is None):
        if current[each.path] == [each.after]:
            continue
        try:
            _put(root, each)
        except OSError as error:
            if not _hopeless(root, each.path, error):
                raise
            log.warning("memory.unwritable", why=log.cause(error))
            return [change.path for change in group]
    return []


def _put(root: Path, change: FileChange) -> None:
    if change.after is None:
        files.remove(change.path)
    else:
        files.write(change.path, change.after, private=change.path.is_relative_to(root))


def _hopeless(root: Path, path: Path, error: OSError) -> bool:
    """A full disk will have room again, and then the change is finished. But a repository that is gone, or a
    file of somebody else's, must not keep all other memories from changing."""
    never = (PermissionError, NotADirectoryError, IsADirectoryError)
    return isinstance(error, never) or not path.is_relative_to(root)


def _current(path: Path) -> list[bytes | None]:
    """Its content, in a list; an empty one for what is no file."""
    try:
        return [files.read(path)]
    except (files.Strange, OSError):
        return []


def _record(
    root: Path, journal: Journal, done: list[FileChange], lock: int | None, *, again: bool
) -> str | None:
    history = History(root, lock)
    own = [each for each in done if each.path.is_relative_to(root)]
    steps = []
    if journal.by_hand:
        steps.append(Step(f"{journal.key}-h", journal.at, BY_HAND, journal.by_hand))
    if own:
        after = {_named(root, each.path): each.after for each in own}
        steps.append(Step(journal.key, journal.at, journal.reason, after))
    if not steps:
        return None
    before = {_named(root, each.path): each.before for each in own}
    entry = history.record(steps, before, again=again)
    return entry if own else None


def _groups(changes: Iterable[FileChange]) -> list[list[FileChange]]:
    groups: dict[str, list[FileChange]] = {}
    for each in changes:
        groups.setdefault(each.together, []).append(each)
    return list(groups.values())


def _named(root: Path, path: Path) -> str:
    """Below the root; in full for the team's."""
    with suppress(ValueError):
        return path.relative_to(root).as_posix()
    return str(path)


def _read(root: Path, said: Any) -> Journal:
    if said["format"] != FORMAT:
        raise ValueError("of another version")
    changes = []
    for each in said["files"]:
        path = root / each["path"]
        if ".." in path.parts or not (is_memory_file(path.name) or is_plain_file(path, root)):
            raise ValueError("not a memory's path")
        before, after = files.unpacked(each["before"]), files.unpacked(each["after"])
        changes.append(FileChange(path, before, after, str(each["together"])))
    by_hand = {str(path): files.unpacked(data) for path, data in said["by_hand"].items()}
    return Journal(str(said["key"]), int(said["at"]), str(said["reason"]), tuple(changes), by_hand)
