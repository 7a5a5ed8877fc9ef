"""The journal of one change: written whole before any memory is touched, taken away when all is done.

Its appearance is the moment of the change: before it nothing has happened, after it everything will, whoever
has to finish it. A file that is neither what it was nor what it is to become was edited by hand meanwhile: it
is left alone, with everything that belongs together with it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect import log
from recollect.memory.history.history import BY_HAND, Contents, History, Step
from recollect.memory.storage import files
from recollect.memory.storage.folders import PLAIN, Folder, is_memory_file, is_plain_file
from recollect.memory.storage.format import INDEX_FILE
from recollect.memory.storage.index import index_text, is_ours
from recollect.memory.storage.placing import Placing
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
    groups = _groups(root, journal)
    kept = _made(root, groups, again=again)
    placings = [each for group in groups for each in group]
    done = [each for each in journal.files if each.path not in kept]
    touched = {each.path.parent for each in done} | {
        (root / path).parent for path in journal.by_hand
    }
    for folder in sorted(touched):
        with _unless_hopeless(root, folder):
            rebuild_index(root, folder)
    entry = _record(root, journal, done, lock, again=again)
    for each in placings:
        with _unless_hopeless(root, each.path):
            if not each.end() and each.path not in kept:
                kept.append(each.path)
    _sync(root, placings)
    files.remove(root / NAME)
    return Finished(tuple(kept), entry)


def rebuild_index(root: Path, folder: Path) -> None:
    """Retired memories and plain files have none. Nothing is written if nothing changed, nor over what a
    person wrote for the team."""
    if not folder.is_dir() or any(folder.is_relative_to(root / each) for each in (RETIRED, PLAIN)):
        return
    data = index_text(Folder(folder, OF_TEAM).list(most=None)).encode()
    path = folder / INDEX_FILE
    try:
        there = files.read(path)
    except files.Strange:
        return  # somebody's own construction
    if there == (data or None) or not (is_ours(there or b"") or folder.is_relative_to(root)):
        return
    if data:
        files.write(path, data, private=folder.is_relative_to(root))
    else:
        files.remove(path)


def _made(root: Path, groups: list[list[Placing]], *, again: bool) -> list[Path]:
    """All that is new is on the disk before the first file changes: then they change within a moment. Returns
    what was edited by hand, with all that belongs together with it."""
    ready = [group for group in groups if _each(root, group, lambda each: _ready(each, again))]
    made = [group for group in ready if _placed(root, group)]
    _sync(root, [each for group in made for each in group])
    whole = [group for group in made if not any(each.is_edited_late() for each in group)]
    kept = [group for group in groups if group not in whole]
    for group in kept:
        for each in group:
            with _unless_hopeless(root, each.path):
                each.take_back()
    if kept:
        log.action("memory.kept_by_hand", files=sum(map(len, kept)))
    return [each.path for group in kept for each in group]


def _ready(each: Placing, again: bool) -> bool:
    each.prepare(again=again)
    return True


def _placed(root: Path, group: list[Placing]) -> bool:
    if any(each.is_edited() for each in group):
        return False
    # New files first: what moves is never nowhere.
    return _each(root, sorted(group, key=lambda each: each.after is None), Placing.place)


def _each(root: Path, group: list[Placing], step: Callable[[Placing], bool]) -> bool:
    for each in group:
        done = False
        with _unless_hopeless(root, each.path):
            done = step(each)
        if not done:
            return False
    return True


def _sync(root: Path, placings: Iterable[Placing]) -> None:
    for folder in sorted({each.path.parent for each in placings}):
        with _unless_hopeless(root, folder), suppress(FileNotFoundError, NotADirectoryError):
            files.sync_folder(folder)


@contextmanager
def _unless_hopeless(root: Path, path: Path) -> Iterator[None]:
    """A full disk will have room again, and then the change is finished. But a repository that is gone, or a
    file of somebody else's, must not keep all other memories from changing."""
    never = (PermissionError, NotADirectoryError, IsADirectoryError)
    try:
        yield
    except OSError as error:
        if not isinstance(error, never) and path.is_relative_to(root):
            raise
        log.warning("memory.unwritable", why=log.cause(error))


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


def _groups(root: Path, journal: Journal) -> list[list[Placing]]:
    groups: dict[str, list[Placing]] = {}
    for each in journal.files:
        private = each.path.is_relative_to(root)
        placing = Placing(each.path, each.before, each.after, journal.key, private=private)
        groups.setdefault(each.together, []).append(placing)
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
