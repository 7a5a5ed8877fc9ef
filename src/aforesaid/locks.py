"""File locks (`flock`). The kernel releases a lock when the process that holds it ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aforesaid.paths import PRIVATE_FILE

POLL_SECONDS = 0.005


def acquire(
    path: Path, *, timeout: float | None = None, shared: bool = False, create: bool = True
) -> int | None:
    """The descriptor of the locked file; closing it releases the lock.

    `timeout`: seconds; None waits without end, 0 tries once. None is returned when it is over. `create=False`
    takes an existing file or folder alone: None if there is none.
    """
    end = None if timeout is None else time.monotonic() + timeout
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_RDWR | os.O_CREAT if create else os.O_RDONLY)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            descriptor = os.open(path, flags, PRIVATE_FILE)
        except OSError:
            if create:
                raise
            return None
        if _take(path, descriptor, kind if end is None else kind | fcntl.LOCK_NB):
            return descriptor
        os.close(descriptor)
        if end is not None and time.monotonic() >= end:
            return None
        time.sleep(POLL_SECONDS)


@contextmanager
def lock(path: Path, *, timeout: float | None = None, **options: bool) -> Iterator[int]:
    """Holds the lock meanwhile; TimeoutError if it cannot be had in time."""
    descriptor = acquire(path, timeout=timeout, **options)
    if descriptor is None:
        raise TimeoutError(f"{path} is locked")
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _take(path: Path, descriptor: int, operation: int) -> bool:
    """False if it is taken, or if another file has come into its place meanwhile."""
    try:
        fcntl.flock(descriptor, operation)
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except (BlockingIOError, FileNotFoundError):
        return False
    except BaseException:
        os.close(descriptor)
        raise
