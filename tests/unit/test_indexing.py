"""The thread that indexes: who has woken it never sees it idle before its work is done."""

import threading
from collections.abc import Callable, Iterator

import pytest

from aforesaid import clock
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import indexing
from aforesaid.worker.indexing import IndexingThread
from tests.support.context import make_context

LONG = 30.0  # seconds


class Blocking:
    """An indexer whose runs wait for a word; `begun` counts them."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, *_: object) -> Iterator[None]:
        self.begun.release()
        self.go.acquire(timeout=LONG)
        return iter(())


class Woken(threading.Event):
    """Somebody wakes the thread right after it has seen that nobody has; as far as he can."""

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__()
        self._wake = wake
        self.waker: threading.Thread | None = None

    def is_set(self) -> bool:
        seen = super().is_set()
        if self.waker is None:
            self.waker = threading.Thread(target=self._wake)
            self.waker.start()
            self.waker.join(0.2)
        return seen


def test_who_wakes_it_at_the_last_moment_finds_it_busy(
    home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexer = Blocking()
    monkeypatch.setattr(indexing, "index", indexer)
    thread = IndexingThread(make_context(home, store, clock.now))
    woken = thread._wake = Woken(thread.wake)
    thread.wake()
    running = threading.Thread(target=thread.run)
    running.start()
    try:
        for _ in range(2):
            assert indexer.begun.acquire(timeout=LONG)
            assert not thread.idle()
            indexer.go.release()
    finally:
        thread.stop()
        indexer.go.release()
        running.join()
        if woken.waker is not None:
            woken.waker.join()
