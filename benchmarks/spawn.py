"""Start processes and time each of them from its spawn to its exit.

The driver does as little as it can around the measured processes: `posix_spawn`, the payload through a
pipe as the agent sends it, and one selector for the pipes and the exits. Linux only, because of pidfds.
"""

import os
import selectors
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from benchmarks.priority import undisturbed

NULL = os.open(os.devnull, os.O_RDWR)


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str]


class Failed(Exception):
    """A measured process did not exit with 0, so its time means nothing."""


@dataclass(slots=True)
class _Running:
    command: Command
    began: int
    pid: int
    exit: int  # a descriptor that is readable once the process has ended
    pipe: int
    left: memoryview
    took: int = 0


def run(command: Command, payloads: Sequence[bytes]) -> list[float]:
    """One process per payload, all at once. Milliseconds from spawn to exit, in the order of starting."""
    with undisturbed():
        return _run(command, payloads)


def _run(command: Command, payloads: Sequence[bytes]) -> list[float]:
    with selectors.DefaultSelector() as selector:
        started = []
        for payload in payloads:
            process = _start(command, payload)
            started.append(process)
            selector.register(process.exit, selectors.EVENT_READ, partial(_ended, process))
            if not _feed(process):
                selector.register(process.pipe, selectors.EVENT_WRITE, partial(_feed, process))
        waiting = len(started)
        while waiting:
            for key, _ in selector.select():
                if key.data():
                    selector.unregister(key.fd)
                    waiting -= key.events == selectors.EVENT_READ
    for process in started:
        _reap(process)
    return [process.took / 1e6 for process in started]


def _start(command: Command, payload: bytes) -> _Running:
    theirs, ours = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(ours, False)
    actions = [
        (os.POSIX_SPAWN_DUP2, theirs, 0),
        (os.POSIX_SPAWN_DUP2, NULL, 1),
        (os.POSIX_SPAWN_DUP2, NULL, 2),
    ]
    began = time.perf_counter_ns()
    pid = os.posix_spawn(command.argv[0], command.argv, command.env, file_actions=actions)
    os.close(theirs)
    return _Running(command, began, pid, os.pidfd_open(pid), ours, memoryview(payload))


def _feed(process: _Running) -> bool:
    """True when all is written, or nobody reads it (`true` does not)."""
    try:
        while process.left:
            process.left = process.left[os.write(process.pipe, process.left) :]
    except BlockingIOError:
        return False
    except BrokenPipeError:
        pass
    _close(process)
    return True


def _ended(process: _Running) -> bool:
    process.took = time.perf_counter_ns() - process.began
    return True


def _reap(process: _Running) -> None:
    _, status = os.waitpid(process.pid, 0)
    os.close(process.exit)
    _close(process)
    if status:
        raise Failed(f"{process.command.argv} ended with {os.waitstatus_to_exitcode(status)}")


def _close(process: _Running) -> None:
    if process.pipe >= 0:
        with suppress(OSError):
            os.close(process.pipe)
        process.pipe = -1
