"""When the worker may end: long after the last that happened, and not while somebody watches."""

import pytest

from aforesaid import clock
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.jobs import Idleness
from tests.support.context import make_context

LIMIT = 1_000.0


@pytest.fixture
def idleness(home: Paths, store: Store) -> Idleness:
    """Nothing has happened for twice as long as it takes."""
    found = Idleness(make_context(home, store, clock.now), LIMIT)
    found._active_at -= 2 * LIMIT
    return found


def test_a_worker_without_work_ends(idleness: Idleness) -> None:
    assert idleness.is_over()


def test_something_that_happened_puts_it_off(idleness: Idleness) -> None:
    idleness.interrupt()
    assert not idleness.is_over()
    assert idleness.is_idle()


def test_whoever_watches_keeps_it_and_for_as_long_again_after_that(idleness: Idleness) -> None:
    idleness.watched = lambda: True
    assert not idleness.is_over()
    idleness.watched = lambda: False
    assert not idleness.is_over()  # the page may just be loaded again
    idleness._active_at -= 2 * LIMIT
    assert idleness.is_over()


def test_what_waits_or_is_being_done_keeps_it(idleness: Idleness, home: Paths) -> None:
    with idleness.context.busy:
        assert not idleness.is_idle()
    waiting = home.spool_new / "capture"
    waiting.touch()
    assert not idleness.is_idle()
    waiting.unlink()
    idleness.at_rest = lambda: False
    assert not idleness.is_over()
