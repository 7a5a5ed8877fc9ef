"""The parts of the worker that the web API uses, and its event bus. Loads no web server."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aforesaid.clock import Clock
from aforesaid.memory.changes import Memories
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from aforesaid.wiring import Home

Json = dict[str, Any]
KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Notification:
    """`kind`: captured, turn, observation, summary, memory, changed, dream, fault. `data`: ids and short
    titles."""

    number: int
    at: int
    kind: str
    data: dict[str, Any]


class EventBus:
    """The last few thousand notifications, numbered, in memory. Publishing never blocks. A subscriber that
    falls behind learns that it missed some and reloads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Notification] = deque(maxlen=KEPT)
        self._number = 0
        self._subscribers: dict[int, Callable[[], None]] = {}

    def publish(self, kind: str, at: int, **data: Any) -> None:
        with self._lock:
            self._number += 1
            self._kept.append(Notification(self._number, at, kind, data))
            subscribers = list(self._subscribers.values())
        for wake in subscribers:
            wake()

    @property
    def last(self) -> int:
        return self._number

    def after(self, number: int) -> list[Notification] | None:
        """Those published since; None where some are no longer kept, or the number is another process's."""
        with self._lock:
            if number > self._number or (self._kept and number < self._kept[0].number - 1):
                return None
            # Numbers have no gaps.
            return list(islice(reversed(self._kept), self._number - number))[::-1]

    def subscribe(self, wake: Callable[[], None]) -> Callable[[], None]:
        """`wake` is called after each, in the publisher's thread: keep it quick. Returns the undo."""
        key = id(wake)
        with self._lock:
            self._subscribers[key] = wake
        return lambda: self._subscribers.pop(key, None) and None

    def subscribers(self) -> int:
        return len(self._subscribers)


@dataclass(frozen=True, slots=True)
class Backend:
    """`store` may be read from any thread. `order`: executes a worker command. `status`: the worker's part of
    `aforesaid status`. `capture`: puts a hook's payload (hook, session's directory, bytes) into the spool and
    returns the capture's id. `stopping`: do not wait any longer.
    `yield_to_hooks`: returns when no hook is being answered."""

    home: Home
    clock: Clock
    store: Store
    searcher: Searcher
    finder: MemoryRanker
    memories: Callable[[str], Memories]
    order: Callable[..., Json]
    status: Callable[[], Json]
    capture: Callable[[str, str, bytes], str]
    event_bus: EventBus
    stopping: Callable[[], bool] = lambda: False
    yield_to_hooks: Callable[[], None] = lambda: None
