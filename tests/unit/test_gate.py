"""The gate before the model: how long it stays closed, for whom, and whom it blames."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import HOUR, MINUTE, SECOND
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Request,
    Unavailable,
)
from aforesaid.worker.circuit_breaker import (
    LONGEST_PAUSE,
    PAUSES,
    CircuitBreaker,
    MonitoredModel,
    pause,
)
from tests.support.stub_model import FakeClock, StubModel
from tests.support.tables import loop_over

QUESTION = Request("You keep notes.", (), "What was done?", 100)


def breaker() -> tuple[CircuitBreaker, FakeClock]:
    clock = FakeClock()
    return CircuitBreaker(clock, luck=lambda: 0.5), clock


def job(number: int) -> Job:
    return Job(number, OBSERVE, 1, 1, 1, "test")


def test_a_new_gate_is_open() -> None:
    new, _ = breaker()
    assert new.blocked() is None
    assert new.outage is None


def test_an_absence_closes_it_for_a_pause() -> None:
    shut, clock = breaker()
    assert shut.trip(Unavailable("overloaded")) == clock() + PAUSES[0]
    closed = shut.blocked()
    assert closed is not None
    assert (closed.why, closed.for_user) == ("overloaded", False)
    clock.at = closed.until
    assert shut.blocked() is None


def test_a_reason_outlives_its_time_until_something_is_answered() -> None:
    shut, clock = breaker()
    clock.at = shut.trip(Unavailable("overloaded"))
    assert shut.outage is not None
    shut.record_answer()
    assert shut.outage is None


def test_pauses_grow_while_nothing_is_answered_and_begin_again_afterwards() -> None:
    shut, clock = breaker()
    pauses = []
    for _ in range(12):
        until = shut.trip(Unavailable("overloaded"))
        pauses.append(until - clock())
        clock.at = until
    assert pauses[:4] == [30 * SECOND, 300 * SECOND, 600 * SECOND, 600 * SECOND]
    assert all(later >= earlier for earlier, later in pairwise(pauses))
    assert pauses[-1] == LONGEST_PAUSE
    shut.record_answer()
    assert shut.trip(Unavailable("overloaded")) - clock() == PAUSES[0]


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_a_pause_is_never_shorter_than_half_the_first_or_longer_than_fifteen_minutes(
    failures: int, luck: float
) -> None:
    assert PAUSES[0] // 2 <= pause(failures, luck) <= 15 * MINUTE


def test_a_quota_closes_it_until_it_is_over() -> None:
    shut, clock = breaker()
    until = clock() + 3 * HOUR
    assert shut.trip(RateLimited("the quota is used up", until)) == until
    closed = shut.blocked()
    assert closed is not None
    assert closed.for_user


def test_a_quota_that_is_said_to_be_over_already_is_no_reason_to_ask_at_once() -> None:
    shut, clock = breaker()
    assert shut.trip(RateLimited("slow down", clock() - HOUR)) == clock() + PAUSES[0]


def test_a_wrong_setting_is_for_the_user_and_looked_at_now_and_then() -> None:
    shut, clock = breaker()
    assert shut.trip(Misconfigured("there is no key")) == clock() + LONGEST_PAUSE
    closed = shut.blocked()
    assert closed is not None
    assert closed.for_user


@pytest.mark.parametrize(
    "absence",
    [Unavailable("overloaded"), RateLimited("quota", 9_999_999_999_999), Misconfigured("no key")],
)
def test_the_user_can_open_it(absence: Unavailable | RateLimited | Misconfigured) -> None:
    shut, _ = breaker()
    shut.trip(absence)
    shut.reset()
    assert shut.blocked() is None
    assert shut.outage is None


def test_a_job_is_not_blamed_for_its_first_failure() -> None:
    at, _ = breaker()
    assert not at.blames(job(1))


def test_a_job_is_not_blamed_while_nobody_is_answered() -> None:
    at, clock = breaker()
    for _ in range(10):
        assert not at.blames(job(1))
        assert not at.blames(job(2))
        clock.at += MINUTE


def others_answered(failing: Job) -> tuple[CircuitBreaker, FakeClock]:
    """Since that one failed first."""
    at, clock = breaker()
    at.blames(failing)
    clock.at += MINUTE
    at.record_answer()
    clock.at += MINUTE
    return at, clock


def test_a_job_is_to_blame_while_it_fails_again_and_nobody_else_does() -> None:
    at, clock = others_answered(job(1))
    assert at.blames(job(1))
    clock.at += MINUTE
    assert at.blames(job(1))


def test_a_job_is_not_to_blame_when_others_fail_too() -> None:
    at, _ = others_answered(job(1))
    assert not at.blames(job(2))
    assert not at.blames(job(1))


def test_a_job_that_was_done_at_last_begins_with_a_clean_record() -> None:
    at, clock = breaker()
    at.blames(job(1))
    at.record_done(job(1))
    clock.at += MINUTE
    at.record_answer()
    assert not at.blames(job(1))


def test_a_new_outage_is_not_the_fault_of_a_job_that_failed_in_it_only() -> None:
    at, clock = breaker()
    at.record_answer()
    clock.at += MINUTE
    assert not at.blames(job(1))


@loop_over(
    ("answer", "opens"),
    [
        ("<none/>", True),
        (Refused("too long"), True),
        (Unavailable("overloaded"), False),
        (RateLimited("quota", 1), False),
        (Misconfigured("no key"), False),
    ],
)
def test_only_an_answer_opens_it(answer: str | Failure, opens: bool) -> None:
    shut, _ = breaker()
    shut.trip(Unavailable("overloaded"))
    MonitoredModel(StubModel([answer]), shut).ask(QUESTION)
    assert (shut.blocked() is None) is opens


def test_a_model_that_is_listened_to_is_the_model_itself() -> None:
    model = StubModel(["<none/>"])
    gated = MonitoredModel(model, breaker()[0])
    assert (gated.name, gated.model) == ("stub", "stub-1")
    gated.ask(QUESTION)
    gated.close()
    assert model.requests == [QUESTION]
