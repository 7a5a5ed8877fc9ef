"""What happens in the worker, for whoever watches: the last few thousand, each with a number.

Publishing never waits. A watcher that falls behind is told that it missed something; it looks again.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Happening:
    """`kind`: captured, turn, observation, summary, memory, changed, dream, fault. `data`: ids and short
    titles."""

    number: int
    at: int
    kind: str
    data: dict[str, Any]


class Happenings:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Happening] = deque(maxlen=KEPT)
        self._number = 0
        self._watchers: dict[int, Callable[[], None]] = {}

    def publish(self, kind: str, at: int, **data: Any) -> None:
        with self._lock:
            self._number += 1
            self._kept.append(Happening(self._number, at, kind, data))
            watchers = list(self._watchers.values())
        for wake in watchers:
            wake()

    @property
    def last(self) -> int:
        return self._number

    def after(self, number: int) -> list[Happening] | None:
        """What came since; None where some of it is no longer kept, or the number is of another life."""
        with self._lock:
            if number > self._number or (self._kept and number < self._kept[0].number - 1):
                return None
            # They are numbered without gaps, so the last few are found without looking at all.
            return list(islice(reversed(self._kept), self._number - number))[::-1]

    def watch(self, wake: Callable[[], None]) -> Callable[[], None]:
        """`wake` is called after each, in the publisher's thread: it must be quick. Returns how to stop."""
        key = id(wake)
        with self._lock:
            self._watchers[key] = wake
        return lambda: self._forget(key)

    def watchers(self) -> int:
        return len(self._watchers)

    def _forget(self, key: int) -> None:
        with self._lock:
            self._watchers.pop(key, None)
