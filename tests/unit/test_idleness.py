"""When the worker may end: long after the last that happened, and not while somebody watches."""

import threading

import pytest

from recollect import clock
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.worker.idleness import Idleness

LIMIT = 1_000.0


@pytest.fixture
def idleness(home: Paths, store: Store) -> Idleness:
    """Nothing has happened for twice as long as it takes."""
    found = Idleness(home, store, clock.now, LIMIT, threading.Lock(), (), lambda: False)
    found._active_at -= 2 * LIMIT
    return found


def test_a_worker_without_work_ends(idleness: Idleness) -> None:
    assert idleness.for_long()


def test_something_that_happened_puts_it_off(idleness: Idleness) -> None:
    idleness.interrupted()
    assert not idleness.for_long()
    assert idleness.now()


def test_whoever_watches_keeps_it_and_for_as_long_again_after_that(idleness: Idleness) -> None:
    idleness.watched = lambda: True
    assert not idleness.for_long()
    idleness.watched = lambda: False
    assert not idleness.for_long()  # the page may just be loaded again
    idleness._active_at -= 2 * LIMIT
    assert idleness.for_long()


def test_what_waits_or_is_being_done_keeps_it(idleness: Idleness, home: Paths) -> None:
    with idleness.busy:
        assert not idleness.now()
    waiting = home.spool_new / "capture"
    waiting.touch()
    assert not idleness.now()
    waiting.unlink()
    idleness.rest = (lambda: False,)
    assert not idleness.for_long()
