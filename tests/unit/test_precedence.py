"""While a hook is answered, the worker's other threads hold back; never for long."""

import os
import threading
from collections.abc import Callable
from itertools import repeat

import pytest

from aforesaid import clock, wiring
from aforesaid.hook.capture import DEADLINE
from aforesaid.model.events import Ingested
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import context
from aforesaid.worker.context import Context, HookPriority
from aforesaid.worker.ingest import Ingest
from aforesaid.worker.jobs import JobRunner
from aforesaid.worker.maintenance import FileWatchdog
from aforesaid.worker.reconcile import NOTHING, Reconciler
from aforesaid.worker.service import Service
from tests.support.product import until


def held_back(first: HookPriority, moment: float = 0.0) -> tuple[threading.Thread, threading.Event]:
    passed = threading.Event()

    def work() -> None:
        first.yield_to_hooks(moment)
        passed.set()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, passed


def test_who_holds_back_goes_on_when_the_last_answer_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context, "LONGEST_WAIT", 60.0)
    first = HookPriority()
    with first:
        with first:
            thread, passed = held_back(first)
        assert not passed.wait(0.05)
    thread.join(30)
    assert passed.is_set()


def test_nobody_asks_and_nobody_waits() -> None:
    thread, passed = held_back(HookPriority())
    thread.join(30)
    assert passed.is_set()


def test_a_question_that_comes_within_the_moment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(context, "LONGEST_WAIT", 60.0)
    first = HookPriority()
    thread, passed = held_back(first, moment=60.0)
    with first:
        assert not passed.wait(0.05)
    thread.join(30)
    assert passed.is_set()


def test_an_answer_that_takes_too_long_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "LONGEST_WAIT", 0.01)
    first = HookPriority()
    with first:
        thread, passed = held_back(first)
        thread.join(30)
        assert passed.is_set()


def test_no_hook_waits_longer_than_it_is_waited_for() -> None:
    assert max(DEADLINE.values()) == context.LONGEST_WAIT


def test_every_thread_gives_way_between_two_pieces_of_its_work(
    home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []
    monkeypatch.setattr(
        HookPriority,
        "yield_to_hooks",
        lambda *_: given.append(threading.current_thread().name),
    )
    monkeypatch.setattr(FileWatchdog, "find_replaced", lambda _: None)
    go_ons: dict[str, Callable[[], bool]] = {}

    def takes_it(cls: type, name: str, answer: object) -> None:
        def work(_: object, *arguments: Callable[[], bool]) -> object:
            go_ons[name] = arguments[-1]
            return answer

        monkeypatch.setattr(cls, name, work)

    takes_it(Ingest, "drain", Ingested(0, 0, 0, frozenset()))
    takes_it(JobRunner, "run_due", 0)
    monkeypatch.setattr(Reconciler, "look", lambda _: repeat(NOTHING))
    service = Service(Context(wiring.home(os.environ), store, clock.now))
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        until(lambda: len(go_ons) == 2 and "healing" in given)
    finally:
        service.stop()
        thread.join()
    for name, go_on in go_ons.items():
        given.clear()
        assert not go_on(), name  # it is stopping
        assert given, name
