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


def apply_journal(
    root: Path, journal: Journal, *, again: bool = False
) -> tuple[tuple[Path, ...], str | None]:
    """Makes the change and records it. Can be interrupted anywhere and applied again, with `again`.

    Returns the files that were edited meanwhile and not changed, and the id of the history's entry; None if
    nothing changed."""
    groups: dict[str, list[FileSwap]] = {}
    for file in journal.files:
        private = _is_own(root, file.path)
        swap = FileSwap(file.path, file.before, file.after, journal.number, private=private)
        groups.setdefault(file.group, []).append(swap)
    swaps = [each for group in groups.values() for each in group]
    kept = _apply_groups(root, list(groups.values()), again=again)
    done = [each for each in journal.files if each.path not in kept]
    touched = {each.path.parent for each in done}
    for folder in sorted(touched | {(root / path).parent for path in journal.by_hand}):
        with _log_unwritable(root, folder):
            rebuild_index(root, folder)
    entry = _record_history(root, journal, done)
    for each in swaps:
        with _log_unwritable(root, each.path):
            if not each.finish() and each.path not in kept:
                kept.append(each.path)
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


def _apply_groups(root: Path, groups: list[list["FileSwap"]], *, again: bool) -> list[Path]:
    """Writes all new contents to the disk, then swaps the files. Returns the files of the groups that were
    edited by hand, which are as they were."""
    ready = [g for g in groups if _all_done(root, g, lambda each: each.prepare(again=again))]
    made = [group for group in ready if _swap_group(root, group)]
    _sync_directories(root, [each for group in made for each in group])
    complete = [group for group in made if not any(each.is_edited_late() for each in group)]
    kept = [each for group in groups if group not in complete for each in group]
    for each in kept:
        with _log_unwritable(root, each.path):
            each.revert()
    if kept:
        log.action("memory.kept_by_hand", files=len(kept))
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

    The old file is moved aside (`.old`) and the new one linked to the free name; an edit that comes in
    between takes the name first, and one to the old file is found aside. `number`: of the change. `private`:
    readable by its owner alone."""

    def __init__(
        self, path: Path, before: bytes | None, after: bytes | None, number: int, *, private: bool
    ) -> None:
        self.path, self.before, self.after = path, before, after
        self._private = private
        hidden = f".{path.name[:40]}.{digest(f'{number} {path.name}')}"
        self._old = path.with_name(hidden + OLD_SUFFIX)
        self._reverted = path.with_name(hidden + NEW_SUFFIX)
        self._temporary: Path | None = None  # the new content, written
        self._is_ours = False  # the file is the one that we have put there

    def prepare(self, *, again: bool) -> bool:
        """Writes the new content beside the file. `again`: after a crash."""
        if again:
            self._recover()
        content = _read(self.path)
        self._is_ours = again and content == [self.after]
        if content == [self.before] and self.after is not None:
            self._temporary = write_temporary(self.path, self.after, private=self._private)
        return True

    def is_edited(self) -> bool:
        return _read(self.path) not in ([self.before], [self.after])

    def swap(self) -> bool:
        """False if the file is being edited; it is as it was left."""
        content = _read(self.path)
        if content == [self.after]:
            return True
        if content != [self.before] or not self._set_aside(self._old, self.before):
            return False
        self._is_ours = self.after is None or self._link(self.after)
        return self._is_ours

    def is_edited_late(self) -> bool:
        """By somebody who had opened the file before it was moved aside."""
        return os.path.lexists(self._old) and _read(self._old) != [self.before]

    def revert(self) -> None:
        """Puts the old file back, unless the new one was edited."""
        self._discard_temporary()
        if not self._is_ours:
            if os.path.lexists(self._old):  # interrupted before the new file was linked
                _link_if_free(self._old, self.path)
            return
        if not self._set_aside(self._reverted, self.after):
            return
        self._is_ours = False
        if os.path.lexists(self._old):
            _link_if_free(self._old, self.path)
        elif self.before is not None:
            self._link(self.before)
        self._reverted.unlink(missing_ok=True)

    def finish(self) -> bool:
        """Removes the old file. False if it was edited after all; then it is back."""
        self._discard_temporary()
        late = self.is_edited_late()
        if late:
            self._is_ours = True
            self.revert()
        if self.is_edited_late():  # both were edited
            _keep_beside(self._old, self.path)
        self._old.unlink(missing_ok=True)
        return not late

    def _recover(self) -> None:
        for aside, known in ((self._reverted, self.after), (self._old, self.before)):
            if not os.path.lexists(aside):
                continue
            edited = _read(aside) != [known]
            if _is_same_file(aside, self.path):
                aside.unlink()
            elif not os.path.lexists(self.path) and (edited or aside is self._old):
                _link_if_free(aside, self.path)
            elif aside is self._reverted and edited:
                _keep_beside(aside, self.path)
            elif aside is self._reverted:
                aside.unlink()

    def _set_aside(self, aside: Path, known: bytes | None) -> bool:
        if known is None:
            return not os.path.lexists(self.path)
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return False
        if _read(aside) == [known]:
            return True
        if not _link_if_free(aside, self.path):
            _keep_beside(aside, self.path)
        return False

    def _link(self, data: bytes) -> bool:
        """Gives the content its name; False if the name is taken."""
        temporary = self._temporary or write_temporary(self.path, data, private=self._private)
        self._temporary = None
        if _link_if_free(temporary, self.path):
            return True
        temporary.unlink(missing_ok=True)
        return False

    def _discard_temporary(self) -> None:
        if self._temporary:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None


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
    except (
        OSError,
        NotImplementedError,
    ):  # no hard links on this file system, or not a regular file
        if os.path.lexists(path):
            return False
        file.rename(path)
    else:
        file.unlink(missing_ok=True)
    return True


def _keep_beside(aside: Path, path: Path) -> None:
    """Of two versions saved at the same time, the first stays beside the last, under a visible name."""
    aside.rename(path.with_name(f"{path.name[:50]}{EDITED_SUFFIX}{os.urandom(3).hex()}"))


def _is_same_file(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(one.lstat(), other.lstat())
    return False
