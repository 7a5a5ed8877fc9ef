"""Reading, writing, replacing and locking of memory files.

Files are read without following links, and written so that a crash or a power cut leaves the old content or
the new one: the content is synced before it gets its name, and the name before the call returns.
"""

import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aforesaid import locks
from aforesaid.errors import MemoryRefused
from aforesaid.ids import digest
from aforesaid.memory.format import MAX_FILE_BYTES
from aforesaid.paths import PRIVATE_DIR, PRIVATE_FILE, private_dir, sync

TEMPORARY = ".writing"


class UnreadableFile(OSError):
    """Not a regular file, or far too large. The message names the fix."""


def read_file(path: Path) -> bytes | None:
    """None if there is no such file. Raises OSError, for what is not a regular file UnreadableFile."""
    return read_with_stat(path)[0]


def read_or_none(path: Path) -> bytes | None:
    """None also for what cannot be read."""
    try:
        return read_file(path)
    except OSError:
        return None


def read_with_stat(path: Path) -> tuple[bytes | None, os.stat_result | None]:
    try:
        # No link is followed, no pipe waited for.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except OSError:
        if path.is_symlink():
            raise UnreadableFile(
                "it is a link, and links are not followed: put the file there"
            ) from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableFile("it is not a file: put a Markdown file there, or nothing")
        if found.st_size > MAX_FILE_BYTES:
            raise UnreadableFile(f"it is larger than {MAX_FILE_BYTES // 1024} KB: split it")
        return file.read(MAX_FILE_BYTES + 1), found


def write_file(path: Path, data: bytes, *, private: bool = True) -> None:
    """Durable and atomic. Overwrites: see `swap_files` for files that people edit."""
    temporary = write_temporary(path, data, private=private)
    try:
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_temporary(path: Path, data: bytes, *, private: bool = True) -> Path:
    """Writes and syncs a hidden file beside that path. `private`: readable by its owner alone."""
    make_directory(path.parent, private=private)
    temporary = path.with_name(f".{path.name[:40]}.{os.urandom(6).hex()}{TEMPORARY}")
    mode = PRIVATE_FILE if private else 0o666
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return temporary


def remove_file(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
        sync(path.parent)


def make_directory(path: Path, *, private: bool = True) -> None:
    """With its parents; existing ones keep their mode."""
    if path.is_dir():
        return
    make_directory(path.parent, private=private)
    with suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_DIR if private else 0o777)
        sync(path.parent)


def remove_temporaries(folder: Path) -> None:
    """Left by a killed writer. Only under the write lock."""
    with suppress(OSError):
        for path in folder.glob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


LOCK_FILE, TURN_FILE = ".lock", ".turn"
WRITER_SECONDS = 60.0  # longer than all changes that can be waiting
READER_SECONDS = 1.0  # then it reads without a lock: a prompt does not wait for a stuck writer

_held = threading.local()


def holds_write_lock(root: Path) -> bool:
    """Whether this thread holds it."""
    return root in getattr(_held, "roots", ())


@contextmanager
def write_lock(root: Path, seconds: float = WRITER_SECONDS) -> Iterator[None]:
    """Raises MemoryRefused after that time. Not reentrant."""
    if holds_write_lock(root):
        raise MemoryRefused("A change of memories is already open. Put everything into that one.")
    private_dir(root)
    descriptor = _acquire(root, seconds, shared=False)
    if descriptor is None:
        raise MemoryRefused(
            f"Another process has been changing memories for {seconds:.0f} seconds. Try again; if it stays "
            "so, restart the worker with `aforesaid worker restart`."
        )
    _held.roots = {*getattr(_held, "roots", ()), root}
    try:
        yield
    finally:
        _held.roots -= {root}
        os.close(descriptor)


@contextmanager
def read_lock(root: Path) -> Iterator[None]:
    """Keeps writers out, if the lock can be had soon. Creates no file."""
    descriptor = None if holds_write_lock(root) else _acquire(root, READER_SECONDS, shared=True)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquire(root: Path, seconds: float, *, shared: bool) -> int | None:
    """Everybody queues for the turn first, so that readers cannot starve a writer."""
    end = time.monotonic() + seconds
    turn = locks.acquire(root / TURN_FILE, timeout=seconds, create=not shared)
    if turn is None:
        return None
    try:
        left = max(0.0, end - time.monotonic())
        return locks.acquire(root / LOCK_FILE, timeout=left, shared=shared, create=not shared)
    finally:
        os.close(turn)


OLD_SUFFIX, NEW_SUFFIX = ".old", ".new"  # the old content, and the new one if it is taken back
EDITED_SUFFIX = ".edited-"  # one of two versions that somebody saved at the same time


class FileChange(NamedTuple):
    """None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None


def swap_files(changes: Sequence[FileChange], number: int, root: Path) -> list[Path]:
    """Changes all files or none, under the write lock; `number` identifies the change, which may have been
    interrupted before. Returns the files that somebody is editing: then none was changed. Raises OSError if
    one cannot be written, and none was changed."""
    swaps = [FileSwap(each, number, private=each.path.is_relative_to(root)) for each in changes]
    edited: list[Path] = []
    try:
        for each in swaps:
            each.prepare()
        edited = [each.path for each in swaps if each.is_edited()]
        # New files first: a file that moves is never missing.
        for each in sorted(swaps, key=lambda each: each.after is None):
            if not edited and not each.swap():
                edited = [each.path]
        edited = edited or [each.path for each in swaps if each.is_old_edited()]
    except OSError:
        _revert(swaps)
        raise
    if edited:
        _revert(swaps)
        return edited
    _sync_directories(swaps)
    for each in swaps:
        each.finish(reverted=False)
    _sync_directories(swaps)
    return []


def _revert(swaps: Sequence["FileSwap"]) -> None:
    try:
        for each in swaps:
            each.revert()
            each.finish(reverted=True)
        _sync_directories(swaps)
    except OSError as error:
        raise MemoryRefused(
            f"A change of memories is incomplete: {error.strerror or type(error).__name__}. Free some space "
            "or make the folder writable; the next command completes it."
        ) from error


def _sync_directories(swaps: Iterable["FileSwap"]) -> None:
    for folder in sorted({each.path.parent for each in swaps}):
        with suppress(FileNotFoundError, NotADirectoryError):
            sync(folder)


class FileSwap:
    """Replaces one file without losing an edit by hand.

    The old file is set aside (`.old`) and the new one linked to the free name; an edit that comes in between
    takes the name first, and one to the old file is found aside. `private`: readable by its owner alone."""

    def __init__(self, change: FileChange, number: int, *, private: bool) -> None:
        self.path, self.before, self.after = change
        self._private = private
        hidden = f".{self.path.name[:40]}.{digest(f'{number} {self.path.name}')}"
        self._old = self.path.with_name(hidden + OLD_SUFFIX)
        self._reverted = self.path.with_name(hidden + NEW_SUFFIX)
        self._temporary: Path | None = None  # the new content, written

    def prepare(self) -> None:
        """Puts back what a crash left aside, and writes the new content beside the file."""
        _return_aside(self._reverted, self.path, self.after)
        _return_aside(self._old, self.path, self.before)
        if self.after is not None and _read(self.path) == [self.before]:
            self._temporary = write_temporary(self.path, self.after, private=self._private)

    def is_edited(self) -> bool:
        return _read(self.path) not in ([self.before], [self.after])

    def is_old_edited(self) -> bool:
        """By somebody who had it open."""
        return os.path.lexists(self._old) and _read(self._old) != [self.before]

    def swap(self) -> bool:
        """False if the file is being edited."""
        if _read(self.path) == [self.after]:
            return True
        return _swap(self.path, self.before, self._temporary, self._old)

    def revert(self) -> None:
        """Gives the old file its name again, unless the new one was edited."""
        if self.before == self.after or _read(self.path) != [self.after]:
            return
        old: Path | None = self._old
        if not os.path.lexists(self._old):  # the change was complete before a crash
            old = None
            if self.before is not None:
                old = write_temporary(self.path, self.before, private=self._private)
        _swap(self.path, self.after, old, self._reverted)

    def finish(self, *, reverted: bool) -> None:
        """Removes what was set aside."""
        if self._temporary:
            self._temporary.unlink(missing_ok=True)
        _return_aside(self._reverted, self.path, self.after, edited_only=True)
        _return_aside(self._old, self.path, self.before, edited_only=not reverted)


def _swap(path: Path, before: bytes | None, new: Path | None, aside: Path) -> bool:
    """Gives the file `new` the name, if the content is `before`; None stands for no file."""
    with suppress(FileNotFoundError):  # just deleted
        if _read(path) != [before]:
            return False
        if before is not None:
            path.rename(aside)
            if _read(aside) != [before]:
                _return_aside(aside, path, before)
                return False
        return new is None or _link_if_free(new, path)
    return False


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
