"""The lock of a dream: one file, whose time is that of the last dream that was completed. A dream on request
does not count here, but for its project alone (dream_times.py): else one project could put off all others.

Whoever dreams keeps a kernel lock (flock) on the file: it is gone with its process, however that ends, and
no process can be mistaken for another that had its number. The file says since when it is held, so that one
that has hung can be replaced after an hour: the next one puts a file of its own in the place, and the old one
finds out before it changes anything (`Held.is_mine`). The file comes into its place whole, with the time of
the former one, and only a completed dream sets a new time: one that failed or was killed leaves no trace.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from recollect.memory.dream.gates import Holder, holds
from recollect.paths import PRIVATE_FILE

NAME = ".dream"
NEVER = 0  # the time of a file that no completed dream has set


class Held:
    """Somebody dreams. Leaving it lets the lock go; only `done` says that the dream was completed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def is_mine(self) -> bool:
        """False when another one thought that we had hung, and took over."""
        with suppress(OSError):
            return os.path.samestat(
                os.fstat(self._descriptor), self._path.stat(follow_symlinks=False)
            )
        return False

    def done(self, now: int) -> None:
        os.utime(self._descriptor, ns=(now * 1_000_000, now * 1_000_000))

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def acquire(path: Path, now: int) -> Held | None:
    """The lock, or None while another one dreams. The folder has to be there."""
    with _alone(path.parent):
        found = holder(path)
        if found is not None and holds(now, found):
            return None
        for left in path.parent.glob(f"{NAME}.*.new"):  # of one that was killed just then
            left.unlink(missing_ok=True)
        return Held(path, _put(path, now, last(path) or NEVER))


def last(path: Path) -> int | None:
    """When the last dream was completed: the file's time."""
    with suppress(OSError):
        return path.stat(follow_symlinks=False).st_mtime_ns // 1_000_000 or None
    return None


def holder(path: Path) -> Holder | None:
    """Who is said to hold it. A file that names nobody, as `touch` makes it, is free."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        since = _since(file.read(1000))
        return None if since is None else Holder(since, alive=not _is_free(file.fileno()))


def _since(written: bytes) -> int | None:
    try:
        return int(json.loads(written)["since"])
    except (ValueError, KeyError, TypeError):
        return None


def _is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def _put(path: Path, now: int, last_dream: int) -> int:
    """A file in the lock's place, locked before it is there."""
    temporary = path.with_name(f"{NAME}.{os.urandom(6).hex()}.new")
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, json.dumps({"pid": os.getpid(), "since": now}).encode())
        os.utime(descriptor, ns=(last_dream * 1_000_000, last_dream * 1_000_000))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else looks at the lock and takes it meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
