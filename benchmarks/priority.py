"""Measured work goes before all other programs, where the system allows it (root).

A shared machine's other work would be measured too otherwise. `--normal` leaves it in.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NORMAL, FIRST = (os.SCHED_OTHER, os.sched_param(0)), (os.SCHED_FIFO, os.sched_param(1))
_first = False


def go_first() -> bool:
    """From now on, if we may."""
    global _first  # noqa: PLW0603 - one process measures in one way
    try:
        os.sched_setscheduler(0, *FIRST)
        os.sched_setscheduler(0, *NORMAL)
        _first = True
    except PermissionError:
        _first = False
    return _first


@contextmanager
def undisturbed(*others: int) -> Iterator[None]:
    """This process with the processes it starts, and the others by their ids."""
    if not _first:
        yield
        return
    _set(FIRST, others)
    try:
        yield
    finally:
        _set(NORMAL, others)


def _set(priority: tuple[int, os.sched_param], others: tuple[int, ...]) -> None:
    os.sched_setscheduler(0, *priority)
    for pid in others:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):  # a thread that has just ended
                os.sched_setscheduler(int(task.name), *priority)
