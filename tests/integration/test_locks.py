"""A worker's locks on its database. They are the process's: whoever in it closes a descriptor of the same
file, however harmless it looks, drops them all, and then a reader elsewhere cuts the shared memory off."""

import fcntl
import os
import signal
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, settled, until, work

ALIVE = 128  # the byte of -shm that every connection holds: https://sqlite.org/walformat.html


def is_locked(home: Paths) -> bool:
    """Whether a process has the database open, as SQLite sees it."""
    descriptor = os.open(Path(f"{home.database}-shm"), os.O_RDWR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, ALIVE)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)  # ours: this process has no connection
    return False


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "search greeting",
        "backup",
        "doctor",
        "rebuild",
        "purge --text nobody-said-this --yes",
    ],
)
def test_nothing_that_a_worker_does_costs_it_its_locks(
    home: Paths, tmp_path: Path, command: str
) -> None:
    """T29: one process writes, and the others must be able to see that it is there."""
    work(tmp_path, "s1")
    settled(home).close()
    pid = rpc.running_pid(home)
    assert pid is not None
    assert is_locked(home)
    assert aforesaid(*command.split()).returncode in (0, 1), command
    work(tmp_path, "s2")
    settled(home).close()
    assert rpc.running_pid(home) == pid
    assert is_locked(home)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_locked(home))  # so it was the worker's
