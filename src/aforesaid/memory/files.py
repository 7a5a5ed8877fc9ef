"""Reading, writing and locking of memory files.

Files are read without following links, and written so that a crash or a power cut leaves the old content or
the new one: the content is synced before it gets its name, and the name before the call returns.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aforesaid import locks
from aforesaid.errors import MemoryRefused
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
    """Durable and atomic. Overwrites: see `history.FileSwap` for files that people edit."""
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
