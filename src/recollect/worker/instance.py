"""One worker per user: who may be it, how it is known to others, and how it replaces an older one."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from recollect import __version__, log
from recollect.errors import WorkerError
from recollect.hook.capture import older
from recollect.paths import PRIVATE_FILE, Paths, write_private
from recollect.worker import contact

HANDOVER_SECONDS = 10.0


class AlreadyRunning(Exception):
    """A worker that is no older than this one holds the lock; there is nothing to do."""


@contextmanager
def the_only_one(paths: Paths) -> Iterator[None]:
    """Lock, replace an older version, tell the world; undo the telling at the end."""
    descriptor = os.open(paths.lock_file, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    try:
        _take(paths, descriptor)
        yield
    finally:
        os.close(descriptor)  # releases the lock


def announce(paths: Paths) -> None:
    """From here on hooks need not start anybody."""
    write_private(paths.pid_file, f"{os.getpid()}\n".encode())
    paths.health_note.unlink(missing_ok=True)
    paths.starting_file.unlink(missing_ok=True)


def withdraw(paths: Paths) -> None:
    """From here on the next capture starts a new worker. What a successor has put there is left alone."""
    with suppress(OSError, ValueError):
        if int(paths.pid_file.read_text()) == os.getpid():
            paths.pid_file.unlink()
            # A hook that wrote its number late left this behind; later it would look like a failed start.
            paths.starting_file.unlink(missing_ok=True)
            paths.socket.unlink(missing_ok=True)


def _take(paths: Paths, descriptor: int) -> None:
    end = time.monotonic() + HANDOVER_SECONDS
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        version = _running_version(paths)
        if version is not None and not older(version):
            raise AlreadyRunning
        if version is not None:
            log.action("worker.replaces", version=version, by=__version__)
            with suppress(WorkerError):
                contact.request_stop(paths)
        if time.monotonic() > end:
            raise AlreadyRunning
        time.sleep(0.05)


def _running_version(paths: Paths) -> str | None:
    """None while the holder of the lock is just starting or ending, or does not answer."""
    try:
        return contact.ask(paths, b"ping\n", seconds=1.0).decode().strip()
    except WorkerError:
        return None
