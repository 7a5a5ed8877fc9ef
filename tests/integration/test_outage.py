"""A model that is away, out of quota or wrongly set up: nothing is lost, and nobody storms it.

The real queue and the worker's own job loop, on a clock that the test moves.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import pytest

from aforesaid.clock import HOUR, MINUTE, SECOND
from aforesaid.model.jobs import Again
from aforesaid.model.requests import Misconfigured, RateLimited, Request, Unavailable
from aforesaid.paths import Paths
from aforesaid.synthesis.cost import day_bounds
from aforesaid.worker.circuit_breaker import LONGEST_PAUSE
from tests.support.product import close_stores
from tests.support.stub_model import Desk, FakeClock, Step, StubModel, dutiful

pytestmark = pytest.mark.slow

SESSIONS = ("s1", "s2", "s3", "s4")
TURNS = 5
JOBS = len(SESSIONS) * TURNS * 2


@pytest.fixture
def opened() -> Iterator[list[Desk]]:
    desks: list[Desk] = []
    yield desks
    for desk in desks:
        desk.store.close()
    close_stores()


@pytest.fixture
def desk(home: Paths, opened: list[Desk]) -> Desk:
    """Forty jobs of four sessions, in the order in which work really comes: side by side."""
    desk = Desk.of(home, StubModel())
    opened.append(desk)
    for number in range(1, TURNS + 1):
        for session in SESSIONS:
            desk.turns.add(session, number)
    assert desk.store.health().pending == JOBS
    return desk


def away_until(end: int, clock: FakeClock) -> Step:
    return lambda _: Unavailable("overloaded") if clock() < end else dutiful


def assert_all_is_done_once_and_in_order(desk: Desk) -> None:
    assert Counter(state for _, state, _, _ in desk.jobs()) == {"done": JOBS}
    assert desk.rows("SELECT count(*), count(DISTINCT title) FROM observations") == [
        (JOBS // 2, JOBS // 2)
    ]
    assert desk.rows("SELECT count(*) FROM summaries") == [(JOBS // 2,)]
    order = desk.rows(
        "SELECT j.session_id, j.prompt_number, r.purpose FROM requests r JOIN jobs j ON j.id = r.job_id"
        " WHERE r.outcome = 'answered' ORDER BY r.id"
    )
    for session in range(1, len(SESSIONS) + 1):
        assert [(number, purpose) for of, number, purpose in order if of == session] == [
            (number, purpose)
            for number in range(1, TURNS + 1)
            for purpose in ("observe", "summarize")
        ]


def test_an_hour_of_absence_loses_nothing_and_is_no_storm(desk: Desk) -> None:
    """T19: errors for an hour."""
    began = desk.clock()
    desk.model.then = away_until(began + HOUR, desk.clock)
    desk.work(began + HOUR)
    assert Counter((state, tries) for _, state, tries, _ in desk.jobs()) == {("pending", 0): JOBS}
    assert desk.rows("SELECT provider, count(*) FROM observations GROUP BY 1") == [
        ("rules", JOBS // 2)
    ]
    assert len(desk.model.when) <= 30
    per_minute = [
        len(list(times)) for _, times in groupby(desk.model.when, lambda at: at // MINUTE)
    ]
    assert max(per_minute) <= 5

    desk.work()
    assert_all_is_done_once_and_in_order(desk)
    assert {tries for _, _, tries, _ in desk.jobs()} == {1}
    assert desk.clock() < began + HOUR + 20 * MINUTE


def test_after_the_absence_nobody_is_asked_more_than_once_for_each_job(desk: Desk) -> None:
    end = desk.clock() + HOUR
    desk.model.then = away_until(end, desk.clock)
    desk.work()
    assert sum(at >= end for at in desk.model.when) == JOBS


def test_outages_that_follow_each_other_skip_nothing(desk: Desk) -> None:
    """T19: Ten minutes away, five seconds there, all day long: a few jobs get through each time."""
    began = desk.clock()

    def flapping(_: Request) -> Step:
        desk.clock.at += SECOND  # an answer takes its time
        return (
            dutiful
            if (desk.clock() - began) % (10 * MINUTE) > 590 * SECOND
            else Unavailable("gone")
        )

    desk.model.then = flapping
    desk.work()
    assert Counter(state for _, state, _, _ in desk.jobs()) == {"done": JOBS}


def test_the_queue_says_why_it_waits(desk: Desk) -> None:
    desk.model.then = Unavailable("the server is overloaded")
    desk.work(desk.clock() + MINUTE)
    assert ("the server is overloaded",) in desk.rows("SELECT last_error FROM jobs")
    reason = desk.runner.context.breaker.outage
    assert reason is not None
    assert not reason.for_user  # it comes and goes: no reason to trouble anybody


def test_a_connection_that_comes_and_goes_loses_nothing(desk: Desk) -> None:
    """One answer in three, for as long as it takes."""
    count = iter(range(10_000))
    desk.model.then = lambda _: dutiful if next(count) % 3 == 0 else Unavailable("cut off")
    desk.work()
    for _ in range(5):  # what was blamed for its bad luck is listed, and done when the user says so
        desk.store.jobs.requeue_skipped(None, desk.clock())
        desk.work()
    assert Counter(state for _, state, _, _ in desk.jobs()) == {"done": JOBS}
    assert desk.store.health().summaries == JOBS // 2


def test_a_quota_parks_the_queue_until_it_is_over(desk: Desk) -> None:
    """T19: a 429 that says until when."""
    until = desk.clock() + 5 * HOUR
    desk.model.then = lambda _: (
        RateLimited("the quota is used up", until) if desk.clock() < until else dutiful
    )
    desk.work()
    assert len([at for at in desk.model.when if at < until]) == 1
    assert_all_is_done_once_and_in_order(desk)
    assert {tries for _, _, tries, _ in desk.jobs()} == {1}


def test_a_quota_without_an_end_is_asked_after_with_growing_pauses(desk: Desk) -> None:
    desk.model.then = lambda _: RateLimited("slow down", desk.clock() + SECOND)
    began = desk.clock()
    desk.work(began + HOUR)
    assert len(desk.model.when) <= 30
    assert {tries for _, _, tries, _ in desk.jobs()} == {0}


def test_wrong_settings_park_the_queue_and_are_the_users_to_mend(desk: Desk) -> None:
    desk.model.then = Misconfigured("There is no API key. Set one.")
    began = desk.clock()
    desk.work(began + HOUR)
    assert len(desk.model.when) <= HOUR // LONGEST_PAUSE + 1
    assert {(state, tries) for _, state, tries, _ in desk.jobs()} == {("pending", 0)}
    reason = desk.runner.context.breaker.outage
    assert reason is not None
    assert reason.for_user

    desk.model.then = dutiful
    desk.runner.context.breaker.reset()
    desk.work()
    assert_all_is_done_once_and_in_order(desk)


def poison(name: str, absence: Unavailable) -> Step:
    """The one request that the server cannot stand."""
    bad = f"Created {name}.py\n  +"

    def answer(request: Request) -> Step:
        is_summary = request.message.endswith("Write the summary.")
        return absence if bad in request.message and not is_summary else dutiful

    return answer


def test_a_job_that_nobody_answers_while_others_are_answered_is_skipped(desk: Desk) -> None:
    """T18: three tries, then it is parked."""
    desk.model.then = poison("s2_3", Unavailable("internal error"))
    desk.work()
    skipped = desk.store.jobs.skipped()
    assert {(row.session_id, row.prompt_number) for row in skipped} == {(2, 3)}
    assert {row.tries for row in skipped} == {3}
    assert Counter(state for _, state, _, _ in desk.jobs())["done"] == JOBS - len(skipped)


def test_a_poisonous_job_does_not_hold_up_other_sessions(desk: Desk) -> None:
    """T18: others go on."""
    began = desk.clock()
    desk.model.then = poison("s1_1", Unavailable("internal error"))
    desk.work(began + MINUTE)
    done = desk.rows("SELECT DISTINCT session_id FROM jobs WHERE state = 'done' ORDER BY 1")
    assert done == [(2,), (3,), (4,)]
    assert desk.rows("SELECT count(*) FROM jobs WHERE session_id > 1 AND state <> 'done'") == [(0,)]


def test_a_skipped_job_does_not_hold_up_its_own_session(desk: Desk) -> None:
    desk.model.then = poison("s1_1", Unavailable("internal error"))
    desk.work()
    assert desk.rows("SELECT DISTINCT prompt_number FROM jobs WHERE state = 'skipped'") == [(1,)]
    assert desk.rows("SELECT max(prompt_number) FROM observations WHERE session_id = 1") == [
        (TURNS,)
    ]


def test_what_a_model_wrote_stays_while_it_is_away(home: Paths, opened: list[Desk]) -> None:
    desk = Desk.of(home, StubModel())
    opened.append(desk)
    desk.turns.add("s1", 1)
    desk.work()
    written = desk.rows("SELECT id, provider, title FROM observations")
    desk.model.then = Unavailable("overloaded")
    assert desk.store.jobs.reprocess(Again("another model"), desk.clock()) == 2
    desk.work(desk.clock() + HOUR)
    assert desk.rows("SELECT id, provider, title FROM observations") == written
    assert desk.rows("SELECT DISTINCT state FROM jobs") == [("pending",)]
    desk.model.then = dutiful
    desk.work()
    assert desk.rows("SELECT provider FROM observations") == [("stub",)]
    assert desk.rows("SELECT DISTINCT state FROM jobs") == [("done",)]


def test_unusable_replies_leave_the_extracted_notes_and_rest_the_model(desk: Desk) -> None:
    desk.model.then = "I would rather talk about the weather."
    desk.work(desk.clock() + MINUTE)
    assert len(desk.model.when) <= 8
    assert max(Counter(desk.rows("SELECT job_id FROM requests")).values()) <= 2
    notes = desk.rows("SELECT provider, count(*) FROM observations GROUP BY 1")
    assert notes == [("rules", JOBS // 2)]
    outage = desk.runner.context.breaker.outage
    assert outage is not None
    assert outage.for_user
    assert "could not be used" in outage.why


def test_a_stop_in_the_middle_of_a_request_gives_the_job_back(desk: Desk) -> None:
    stopping: list[bool] = []

    def closed(_: Request) -> Unavailable:
        stopping.append(True)
        return Unavailable("the worker is stopping")

    desk.model.steps = [closed]
    desk.runner.run_due(lambda: not stopping)
    assert {(state, tries, why) for _, state, tries, why in desk.jobs()} == {("pending", 0, None)}
    assert desk.runner.context.breaker.outage is None
    assert desk.store.jobs.next_due() is not None
    desk.work()
    assert_all_is_done_once_and_in_order(desk)


def test_a_reply_that_came_just_before_the_stop_is_stored(desk: Desk) -> None:
    stopping: list[bool] = []

    def last(request: Request) -> str:
        stopping.append(True)
        return dutiful(request)

    desk.model.steps = [last]
    desk.runner.run_due(lambda: not stopping)
    assert Counter(state for _, state, _, _ in desk.jobs()) == {"done": 1, "pending": JOBS - 1}


def test_a_spent_budget_parks_the_queue_until_midnight(home: Paths, opened: list[Desk]) -> None:
    desk = Desk.of(home, StubModel(), tokens=9_000)
    opened.append(desk)
    for number in range(1, TURNS + 1):
        desk.turns.add("s1", number)
    _, midnight = day_bounds(desk.clock())
    desk.work(midnight)
    today = len(desk.model.when)
    assert 0 < today < 2 * TURNS
    reason = desk.runner.context.breaker.outage
    assert reason is not None
    assert (reason.until, reason.for_user) == (midnight, True)
    assert "9,000 tokens a day" in reason.why
    spent = desk.store.requests.spent(*day_bounds(desk.model.when[0]))
    assert spent.sent + spent.received <= 9_000
    desk.work()
    assert Counter((state, tries) for _, state, tries, _ in desk.jobs()) == {("done", 1): 2 * TURNS}
    days = {day_bounds(at) for at in desk.model.when}
    assert len(days) > 1
    for day in days:
        spent = desk.store.requests.spent(*day)
        assert spent.sent + spent.received <= 9_000
