"""The lock of all memories: one writer, or any number of readers. It is gone when its holder dies.

Whoever wants it waits in a second lock, the turn, and lets go of that only with the first one in hand. So
somebody who writes all the time cannot keep the others out: while it writes, another one takes the turn.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.errors import MemoryRefused
from recollect.paths import PRIVATE_FILE, private_dir

NAME, TURN = ".lock", ".turn"
WRITER_SECONDS = 60.0  # longer than any number of changes that could be waiting
READER_SECONDS = 1.0  # then it reads without: a prompt does not wait for a stuck writer
PAUSE = 0.005

_mine = threading.local()


def held(root: Path) -> bool:
    """Whether this thread is the writer."""
    return root in getattr(_mine, "roots", ())


@contextmanager
def writing(root: Path, seconds: float = WRITER_SECONDS) -> Iterator[int]:
    """Alone. The descriptor is for programs that we start: the lock lasts until they are done, too."""
    if held(root):
        raise MemoryRefused("A change of memories is already open. Put everything into that one.")
    private_dir(root)
    descriptor = _in_turn(root, fcntl.LOCK_EX, seconds)
    if descriptor is None:
        raise MemoryRefused(
            f"Another process has been changing memories for {seconds:.0f} seconds. Try again; if it stays "
            "so, restart the worker with `recollect worker restart`."
        )
    _mine.roots = {*getattr(_mine, "roots", ()), root}
    try:
        yield descriptor
    finally:
        _mine.roots -= {root}
        os.close(descriptor)


@contextmanager
def reading(root: Path) -> Iterator[None]:
    """While nobody writes, if that can be had soon. Never makes a file."""
    descriptor = None if held(root) else _in_turn(root, fcntl.LOCK_SH, READER_SECONDS)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _in_turn(root: Path, kind: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    turn = _locked(root / TURN, fcntl.LOCK_EX, end, make=kind == fcntl.LOCK_EX)
    if turn is None:
        return None
    try:
        return _locked(root / NAME, kind, end, make=kind == fcntl.LOCK_EX)
    finally:
        os.close(turn)


def _locked(path: Path, kind: int, end: float, *, make: bool) -> int | None:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_RDWR | os.O_CREAT if make else os.O_RDONLY)
    while True:
        try:
            descriptor = os.open(path, flags, PRIVATE_FILE)
        except OSError:
            if make:
                raise
            return None  # nobody has ever written
        if _taken(path, descriptor, kind):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > end:
            return None
        time.sleep(PAUSE)


def _taken(path: Path, descriptor: int, kind: int) -> bool:
    """Also sure that it is still the file that others would lock."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False
