"""When the worker may end: long after the last that happened, and not while somebody watches."""

import time

import pytest

from aforesaid import clock, wiring
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service


@pytest.fixture
def service(home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Nothing has happened for long, and nothing is being done."""
    found = Service(Context(wiring.home(), store, clock.now))
    found._active_at = -1e6
    monkeypatch.setattr(found, "_at_rest", lambda: True)
    return found


def test_a_worker_without_work_ends(service: Service) -> None:
    assert service._is_over()


def test_something_that_happened_puts_it_off(service: Service) -> None:
    service.note_activity()
    assert not service._is_over()
    assert service.is_idle()


def test_whoever_watches_keeps_it_and_for_as_long_again_after_that(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as watched:
        watched.setattr(service.web, "is_wanted", lambda: True)
        assert not service._is_over()
    assert not service._is_over()  # the page may just be loaded again
    assert time.monotonic() - service._active_at < 100


def test_what_waits_or_is_being_done_keeps_it(
    service: Service, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.context.busy:
        assert not service.is_idle()
    waiting = home.spool_new / "capture"
    waiting.touch()
    assert not service.is_idle()
    waiting.unlink()
    monkeypatch.setattr(service, "_at_rest", lambda: False)
    assert not service._is_over()
