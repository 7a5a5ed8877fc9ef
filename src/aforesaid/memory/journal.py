"""The journal of a change: written before any memory is touched, removed when the change is complete.

Writing it is the commit point: a change that is interrupted earlier has not happened, one that is interrupted
later is completed by the next reader or writer. A file whose content is neither the old nor the new one was
edited by hand meanwhile; it is left alone, with all files of its group.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.ids import digest
from aforesaid.memory.files import (
    UnreadableFile,
    read_file,
    remove_file,
    sync_directory,
    write_file,
    write_temporary,
)
from aforesaid.memory.folders import (
    PLAIN_FOLDER,
    RETIRED_FOLDER,
    Folder,
    is_generated_index,
    is_memory_file,
    is_plain_file,
    render_index,
)
from aforesaid.memory.format import INDEX_FILE
from aforesaid.memory.history import BY_HAND, Contents, History
from aforesaid.model.memories import OF_TEAM

JOURNAL_FILE, JOURNAL_FORMAT = ".change", 2
OLD_SUFFIX, NEW_SUFFIX = ".old", ".new"  # the old content, and the new one if it is taken back
EDITED_SUFFIX = ".edited-"  # one of two versions that somebody saved at the same time


@dataclass(frozen=True, slots=True)
class FileChange:
    """`group`: files of one group change together or not at all."""

    path: Path
    before: bytes | None
    after: bytes | None
    group: str


@dataclass(frozen=True, slots=True)
class Journal:
    """`number`: of its entry in the history. `by_hand`: earlier edits by hand, by path below the root; they
    are the entry before."""

    number: int
    at: int
    reason: str
    files: tuple[FileChange, ...]
    by_hand: Contents


def save_journal(root: Path, journal: Journal) -> None:
    """Commits the change."""
    stored = {
        "format": JOURNAL_FORMAT,
        "number": journal.number,
        "at": journal.at,
        "reason": journal.reason,
        "files": [
            {
                "path": str(each.path.relative_to(root) if _is_own(root, each.path) else each.path),
                "before": _encode(each.before),
                "after": _encode(each.after),
                "group": each.group,
            }
            for each in journal.files
        ],
        "by_hand": {path: _encode(data) for path, data in journal.by_hand.items()},
    }
    write_file(root / JOURNAL_FILE, json.dumps(stored, indent=1).encode() + b"\n")


def load_journal(root: Path) -> Journal | None:
    """The journal of an interrupted change. One that cannot be read is set aside."""
    try:
        data = (root / JOURNAL_FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        return _parse_journal(root, json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("memory.journal_unreadable", bytes=len(data))
        (root / JOURNAL_FILE).replace(root / f"{JOURNAL_FILE}.unreadable")
        return None


def _parse_journal(root: Path, stored: Any) -> Journal:
    if stored["format"] != JOURNAL_FORMAT:
        raise ValueError("unknown format")
    changes = []
    for each in stored["files"]:
        path = root / each["path"]
        if ".." in path.parts or not (is_memory_file(path.name) or is_plain_file(path, root)):
            raise ValueError("not the path of a memory")
        before, after = _decode(each["before"]), _decode(each["after"])
        changes.append(FileChange(path, before, after, str(each["group"])))
    return Journal(
        number=int(stored["number"]),
        at=int(stored["at"]),
        reason=str(stored["reason"]),
        files=tuple(changes),
        by_hand={str(path): _decode(data) for path, data in stored["by_hand"].items()},
    )


def _encode(data: bytes | None) -> str | None:
    """Any bytes as a JSON string."""
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _decode(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "surrogateescape")


def apply_journal(root: Path, journal: Journal) -> tuple[tuple[Path, ...], str | None]:
    """Makes the change and records it. Can be interrupted anywhere and applied again.

    Returns the files that were edited meanwhile and not changed, and the id of the history's entry; None if
    nothing changed."""
    groups: dict[str, list[FileSwap]] = {}
    for file in journal.files:
        swap = FileSwap(file, journal.number, private=_is_own(root, file.path))
        groups.setdefault(file.group, []).append(swap)
    swaps = [each for group in groups.values() for each in group]
    kept = _apply_groups(root, list(groups.values()))
    for each in swaps:
        with _log_unwritable(root, each.path):
            if not each.finish(reverted=each.path in kept) and each.path not in kept:
                kept.append(each.path)
    if kept:
        log.action("memory.kept_by_hand", files=len(kept))
    done = [each for each in journal.files if each.path not in kept]
    touched = {each.path.parent for each in done}
    for folder in sorted(touched | {(root / path).parent for path in journal.by_hand}):
        with _log_unwritable(root, folder):
            rebuild_index(root, folder)
    entry = _record_history(root, journal, done)
    _sync_directories(root, swaps)
    remove_file(root / JOURNAL_FILE)
    return tuple(kept), entry


def rebuild_index(root: Path, folder: Path) -> None:
    """Retired memories and plain files have no index. An index that a person wrote for the team stays."""
    if not folder.is_dir() or any(
        folder.is_relative_to(root / each) for each in (RETIRED_FOLDER, PLAIN_FOLDER)
    ):
        return
    data = render_index(Folder(folder, OF_TEAM).list(most=None)).encode()
    path = folder / INDEX_FILE
    try:
        found = read_file(path)
    except UnreadableFile:
        return  # a link or a folder of the user's
    if found == (data or None) or not (is_generated_index(found or b"") or _is_own(root, folder)):
        return
    if data:
        write_file(path, data, private=_is_own(root, folder))
    else:
        remove_file(path)


def _apply_groups(root: Path, groups: list[list["FileSwap"]]) -> list[Path]:
    """Writes all new contents to the disk, then swaps the files. Returns the files of the groups that were
    edited by hand, which are as they were."""
    ready = [group for group in groups if _all_done(root, group, FileSwap.prepare)]
    made = [group for group in ready if _swap_group(root, group)]
    kept = [each for group in groups if group not in made for each in group]
    for each in kept:
        with _log_unwritable(root, each.path):
            each.revert()
    _sync_directories(root, [each for group in groups for each in group])
    return [each.path for each in kept]


def _swap_group(root: Path, group: list["FileSwap"]) -> bool:
    if any(each.is_edited() for each in group):
        return False
    # New files first: a file that moves is never missing.
    return _all_done(root, sorted(group, key=lambda each: each.after is None), FileSwap.swap)


def _all_done(root: Path, group: list["FileSwap"], step: Callable[["FileSwap"], bool]) -> bool:
    for each in group:
        with _log_unwritable(root, each.path):
            if step(each):
                continue
        return False
    return True


def _sync_directories(root: Path, swaps: Iterable["FileSwap"]) -> None:
    for folder in sorted({each.path.parent for each in swaps}):
        with _log_unwritable(root, folder), suppress(FileNotFoundError, NotADirectoryError):
            sync_directory(folder)


@contextmanager
def _log_unwritable(root: Path, path: Path) -> Iterator[None]:
    """A full disk raises, and the change is completed when there is room again. A repository that is gone, or
    a file that belongs to somebody else, is skipped: it must not block all other changes."""
    permanent = (PermissionError, NotADirectoryError, IsADirectoryError)
    try:
        yield
    except OSError as error:
        if not isinstance(error, permanent) and _is_own(root, path):
            raise
        log.warning("memory.unwritable", why=log.cause(error))


def _record_history(root: Path, journal: Journal, done: list[FileChange]) -> str | None:
    after = {
        each.path.relative_to(root).as_posix(): each.after
        for each in done
        if _is_own(root, each.path)
    }
    history = History(root)
    if journal.by_hand:
        history.record(journal.number - 1, journal.at, BY_HAND, journal.by_hand)
    return history.record(journal.number, journal.at, journal.reason, after) if after else None


def _is_own(root: Path, path: Path) -> bool:
    """False in the team's folder, which is part of a repository."""
    return path.is_relative_to(root)


class FileSwap:
    """Replaces one file without losing an edit by hand, under the write lock.

    The old file is set aside (`.old`) and the new one linked to the free name; an edit that comes in between
    takes the name first, and one to the old file is found aside. `number`: of the change. `private`:
    readable by its owner alone."""

    def __init__(self, change: FileChange, number: int, *, private: bool) -> None:
        path = change.path
        self.path, self.before, self.after = path, change.before, change.after
        self._private = private
        hidden = f".{path.name[:40]}.{digest(f'{number} {path.name}')}"
        self._old = path.with_name(hidden + OLD_SUFFIX)
        self._reverted = path.with_name(hidden + NEW_SUFFIX)
        self._temporary: Path | None = None  # the new content, written

    def prepare(self) -> bool:
        """Puts back what a crash left aside, and writes the new content beside the file."""
        _return_aside(self._reverted, self.path, self.after)
        _return_aside(self._old, self.path, self.before)
        if self.after is not None and _read(self.path) == [self.before]:
            self._temporary = write_temporary(self.path, self.after, private=self._private)
        return True

    def is_edited(self) -> bool:
        return _read(self.path) not in ([self.before], [self.after])

    def swap(self) -> bool:
        """False if the file is being edited; it is as it was left."""
        return _swap(self.path, self.before, self._temporary, self.after, self._old)

    def revert(self) -> None:
        """Puts the old content back, unless the new one was edited."""
        if self.before == self.after or _read(self.path) != [self.after]:
            return
        old = None
        if self.before is not None:
            old = write_temporary(self.path, self.before, private=self._private)
        _swap(self.path, self.after, old, self.before, self._reverted)

    def finish(self, *, reverted: bool) -> bool:
        """Removes what was set aside. False if somebody who had the old file open has edited it: then it is
        back."""
        if self._temporary:
            self._temporary.unlink(missing_ok=True)
        _return_aside(self._reverted, self.path, self.after, edited_only=True)
        edited = os.path.lexists(self._old) and _read(self._old) != [self.before]
        if edited and self.after is not None and _read(self.path) == [self.after]:
            self._old.replace(self.path)
        _return_aside(self._old, self.path, self.before, edited_only=not reverted)
        return not edited


def _swap(
    path: Path, before: bytes | None, new: Path | None, after: bytes | None, aside: Path
) -> bool:
    """Gives the file `new` the name, if the content is `before`; None stands for no file."""
    try:
        content = _read(path)
        if content != [before] or (new is None and after is not None):
            return content == [after]
        if before is not None:
            path.rename(aside)
            if _read(aside) != [before]:
                _return_aside(aside, path, before)
                return False
        return new is None or _link_if_free(new, path)
    except FileNotFoundError:  # just deleted
        return False
    finally:
        if new is not None:
            new.unlink(missing_ok=True)


def _return_aside(
    aside: Path, path: Path, known: bytes | None, *, edited_only: bool = False
) -> None:
    """Gives a file that was set aside its name again, if that is free. If not, it is removed; with an edit it
    stays beside the other one, under a visible name: both were saved at the same time."""
    if not os.path.lexists(aside):
        return
    content = _read(aside)
    edited = content != [known]
    if (edited or not edited_only) and _link_if_free(aside, path):
        return
    if edited and content != _read(path):
        aside.rename(path.with_name(f"{path.name[:50]}{EDITED_SUFFIX}{os.urandom(3).hex()}"))
    else:
        aside.unlink()


def _read(path: Path) -> list[bytes | None]:
    """The content in a list; an empty list for what is not a regular file."""
    try:
        return [read_file(path)]
    except OSError:
        return []


def _link_if_free(file: Path, path: Path) -> bool:
    """Renames a file, but never over another one: False if the name is taken."""
    try:
        os.link(file, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):  # no hard links here, or not a regular file
        if os.path.lexists(path):
            return False
        file.rename(path)
    else:
        file.unlink(missing_ok=True)
    return True
