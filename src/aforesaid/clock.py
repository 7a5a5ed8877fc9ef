"""Time as the store keeps it: whole milliseconds since the epoch, UTC."""

import time
from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], int]

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def now() -> int:
    return time.time_ns() // 1_000_000


def local(at: int) -> datetime:
    """The reader's wall clock: people look for "yesterday evening", not for UTC."""
    return datetime.fromtimestamp(at / SECOND).astimezone()


def day_and_time(at: int) -> str:
    return local(at).strftime("%Y-%m-%d %H:%M")


def age(at: int, *, now: int) -> str:
    """A short age such as `3 h`, for tables that are read once and thrown away."""
    seconds = max(0, now - at) // SECOND
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
