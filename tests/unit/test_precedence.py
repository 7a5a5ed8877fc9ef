"""While a hook is answered, the worker's other threads hold back; never for long."""

import os
import threading
from collections.abc import Callable

import pytest

from recollect import clock, wiring
from recollect.hook.capture import DEADLINE
from recollect.model.arrivals import Ingested
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.worker import precedence
from recollect.worker.ingest import Ingest
from recollect.worker.jobs import JobRunner
from recollect.worker.precedence import Precedence
from recollect.worker.reconcile import NOTHING, Reconciler
from recollect.worker.service import Service
from recollect.worker.vitals import Vitals
from tests.support.product import until


def held_back(first: Precedence, moment: float = 0.0) -> tuple[threading.Thread, threading.Event]:
    passed = threading.Event()

    def work() -> None:
        first.give_way(moment)
        passed.set()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, passed


def test_who_holds_back_goes_on_when_the_last_answer_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precedence, "LONGEST", 60.0)
    first = Precedence()
    with first:
        with first:
            thread, passed = held_back(first)
        assert not passed.wait(0.05)
    thread.join(30)
    assert passed.is_set()


def test_nobody_asks_and_nobody_waits() -> None:
    thread, passed = held_back(Precedence())
    thread.join(30)
    assert passed.is_set()


def test_a_question_that_comes_within_the_moment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precedence, "LONGEST", 60.0)
    first = Precedence()
    thread, passed = held_back(first, moment=60.0)
    with first:
        assert not passed.wait(0.05)
    thread.join(30)
    assert passed.is_set()


def test_an_answer_that_takes_too_long_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "LONGEST", 0.01)
    first = Precedence()
    with first:
        thread, passed = held_back(first)
        thread.join(30)
        assert passed.is_set()


def test_no_hook_waits_longer_than_it_is_waited_for() -> None:
    assert max(DEADLINE.values()) == precedence.LONGEST


def test_every_thread_gives_way_between_two_pieces_of_its_work(
    home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[None] = []
    monkeypatch.setattr(Precedence, "give_way", lambda *_: given.append(None))
    monkeypatch.setattr(Vitals, "lost", lambda _: None)
    go_ons: dict[str, Callable[[], bool]] = {}

    def takes_it(cls: type, name: str, answer: object) -> None:
        def work(_: object, *arguments: Callable[[], bool]) -> object:
            go_ons[name] = arguments[-1]
            return answer

        monkeypatch.setattr(cls, name, work)

    takes_it(Ingest, "drain", Ingested(0, 0, 0, frozenset()))
    takes_it(JobRunner, "run_due", 0)
    takes_it(Reconciler, "recent", (NOTHING, True))
    service = Service(wiring.home(os.environ), store, clock.now)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        until(lambda: len(go_ons) == 3)
    finally:
        service.stop()
        thread.join()
    for name, go_on in go_ons.items():
        given.clear()
        assert not go_on(), name  # it is stopping
        assert given, name
