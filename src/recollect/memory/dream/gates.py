"""Whether it is time to dream. Pure: whoever asks says what time it is and how things stand.

Four gates and a threshold, each alone enough to say no, the cheapest first. A dream costs a request to a
model and rewrites what is remembered: seldom is often enough.
"""

from dataclasses import dataclass

from recollect.clock import DAY, HOUR, MINUTE, age
from recollect.english import count

INTERVAL = DAY  # between two dreams
THROTTLE = 10 * MINUTE  # between two looks: looking reads the disk
SESSIONS = 5  # since the last dream: before that there is little to think over
LEAST = 10  # memories
EXPIRES = HOUR  # after which whoever holds the lock has hung


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has the lock of a dream, since when, and whether that process still lives."""

    since: int
    alive: bool


@dataclass(frozen=True, slots=True)
class State:
    """Of all projects, or of one. `last`: when the last dream was completed, `looked`: when somebody last
    asked here; None for never. `sessions` since the last dream and `memories` may be None: not counted yet,
    so not judged."""

    last: int | None = None
    looked: int | None = None
    sessions: int | None = None
    memories: int | None = None
    holder: Holder | None = None


def why_not(now: int, state: State) -> str | None:
    """Why there is no dream now; None when there may be one."""
    if state.last is not None and _within(now, state.last, INTERVAL):
        return f"the last dream was {age(state.last, now=now)} ago, and a day is between two"
    if state.looked is not None and _within(now, state.looked, THROTTLE):
        return f"it was looked at {age(state.looked, now=now)} ago, and {THROTTLE // MINUTE} min are between"
    if state.sessions is not None and state.sessions < SESSIONS:
        return f"{count(state.sessions, 'session')} since the last dream, and {SESSIONS} are needed"
    if state.holder is not None and holds(now, state.holder):
        return f"another dream began {age(state.holder.since, now=now)} ago"
    if state.memories is not None and state.memories < LEAST:
        return f"{count(state.memories, 'memory')}, and {LEAST} are needed"
    return None


def counted_from(now: int, last: int | None) -> int:
    """Since when sessions are counted. A dream that is still to come was dated by a clock that was wrong."""
    return 0 if last is None or last > now else last


def holds(now: int, holder: Holder) -> bool:
    """A lock is free when its process is gone, and may be taken when it is an hour old."""
    return holder.alive and _within(now, holder.since, EXPIRES)


def _within(now: int, then: int, span: int) -> bool:
    """A time far ahead was written by a clock that was wrong: it must not close a gate for years."""
    return abs(now - then) < span
