"""While a hook is answered, the worker's other threads hold back; never for long."""

import threading

import pytest

from recollect.worker import precedence
from recollect.worker.precedence import Precedence


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
