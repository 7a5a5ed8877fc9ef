"""Questions on behalf of a job: every one is in the ledger, and none is paid for twice."""

import zlib
from pathlib import Path

import pytest

from aforesaid.clock import MINUTE
from aforesaid.model.jobs import Job
from aforesaid.model.observations import Author
from aforesaid.model.requests import (
    OBSERVE,
    REPAIR,
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Reply,
    Request,
    StoredReply,
    Unavailable,
    Usage,
)
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import day_bounds
from tests.support.arrivals import Told
from tests.support.memory import Memory
from tests.support.stub_model import FakeClock, StubModel, asking, claimed, rows

QUESTION = Request("You keep notes.", (), "What was done?", 100)
ANOTHER = Request("You keep notes.", (), "And then?", 100)
STUB = Author("stub", "stub-1", "v1")


@pytest.fixture
def clock(memory: Memory) -> FakeClock:
    return FakeClock(memory.at + MINUTE)


@pytest.fixture
def job(memory: Memory, clock: FakeClock) -> Job:
    """A turn's first job, in our hands."""
    told = Told(memory.project_id)
    memory.store.events.add([told.prompt("Do it"), told.tool("t1"), told.stop()], clock())
    return claimed(memory.store, clock)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "store" / "aforesaid.db"


def outcomes(database: Path) -> list[object]:
    return [outcome for (outcome,) in rows(database, "SELECT outcome FROM requests ORDER BY id")]


def test_a_reply_is_in_the_ledger_as_it_came(
    store: Store, clock: FakeClock, job: Job, database: Path
) -> None:
    text = "<observation>half a \udce9 and 漢字"
    answer = asking(store, StubModel([text], clock=clock), clock, job).ask(QUESTION, OBSERVE)
    assert isinstance(answer, StoredReply)
    assert answer.text == text
    ((at, provider, model, prompts, purpose, outcome, sent, received, reply),) = rows(
        database,
        "SELECT at, provider, model, prompts, purpose, outcome, sent, received, reply FROM requests",
    )
    assert (provider, model, prompts) == ("stub", "stub-1", "v1")
    assert (at, purpose, outcome) == (clock(), "observe", "answered")
    assert sent == (len(QUESTION.system) + len(QUESTION.message)) // 4
    assert received == len(text) // 4
    assert isinstance(reply, bytes)
    assert zlib.decompress(reply).decode("utf-8", "surrogatepass") == text


def test_a_request_is_linked_to_its_job_session_and_project(
    store: Store, clock: FakeClock, job: Job, database: Path, memory: Memory
) -> None:
    asking(store, StubModel(["hello"]), clock, job).ask(QUESTION, OBSERVE)
    assert rows(database, "SELECT job_id, session_id, project_id FROM requests") == [
        (job.id, job.session_id, memory.project_id)
    ]


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("overloaded"),
        RateLimited("a quota", 1),
        Misconfigured("no key"),
        Refused("too long"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_request_without_a_reply_is_in_the_ledger_too(
    store: Store, clock: FakeClock, job: Job, database: Path, failure: Failure
) -> None:
    assert asking(store, StubModel([failure]), clock, job).ask(QUESTION, OBSERVE) == failure
    assert rows(database, "SELECT outcome, error, sent, reply FROM requests") == [
        ("failed", failure.why, 0, None)
    ]


def test_what_a_cut_connection_had_delivered_is_kept_and_counted(
    store: Store, clock: FakeClock, job: Job, database: Path
) -> None:
    partial = Reply("<observation>", "stub-1-dated", Usage(900, 100, 0, 5), complete=False)
    cut = Unavailable("the connection was cut", partial)
    assert asking(store, StubModel([cut]), clock, job).ask(QUESTION, OBSERVE) == cut
    assert rows(database, "SELECT outcome, model, sent, cached, received FROM requests") == [
        ("failed", "stub-1-dated", 900, 100, 5)
    ]
    assert store.requests.kept_reply(job.id, QUESTION.digest) is None


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("timed out", usage=Usage(700, 0, 0, 30, estimated=True)),
        RateLimited("a quota", 1, Usage(700, 0, 0, 30)),
        Refused("declined", Usage(700, 0, 0, 30)),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_what_a_failure_cost_is_counted_at_its_price(
    store: Store, clock: FakeClock, job: Job, database: Path, failure: Failure
) -> None:
    model = StubModel([failure], model="claude-haiku-4-5")
    assert asking(store, model, clock, job).ask(QUESTION, OBSERVE) == failure
    assert rows(database, "SELECT outcome, sent, received, microdollars FROM requests") == [
        ("failed", 700, 30, 700 * 1 + 30 * 5)
    ]


@pytest.mark.parametrize(
    ("answered", "price"),
    [("the-servers-own-name", 100 * 1 + 10 * 5), ("claude-opus-4-1", 100 * 15 + 10 * 75)],
)
def test_a_reply_under_a_name_without_a_price_costs_what_the_asked_model_does(
    store: Store, clock: FakeClock, job: Job, database: Path, answered: str, price: int
) -> None:
    cut = Unavailable("cut", Reply("<", answered, Usage(100, 0, 0, 10), complete=False))
    asking(store, StubModel([cut], model="claude-haiku-4-5"), clock, job).ask(QUESTION, OBSERVE)
    assert rows(database, "SELECT model, microdollars FROM requests") == [(answered, price)]


def test_a_reply_whose_effect_was_not_stored_is_not_asked_for_again(
    store: Store, clock: FakeClock, job: Job
) -> None:
    model = StubModel(["once"])
    first = asking(store, model, clock, job).ask(QUESTION, OBSERVE)
    assert asking(store, model, clock, job).ask(QUESTION, OBSERVE) == first
    assert len(model.requests) == 1


def test_another_question_is_another_request(store: Store, clock: FakeClock, job: Job) -> None:
    model = StubModel(["one", "two"])
    asked = asking(store, model, clock, job)
    assert [getattr(asked.ask(q, OBSERVE), "text", None) for q in (QUESTION, ANOTHER)] == [
        "one",
        "two",
    ]


def test_the_same_question_of_another_job_is_another_request(
    store: Store, clock: FakeClock, job: Job
) -> None:
    model = StubModel(["one", "two"])
    asking(store, model, clock, job).ask(QUESTION, OBSERVE)
    store.jobs.finish_observations(job, STUB, [], clock(), clock())
    asking(store, model, clock, claimed(store, clock)).ask(QUESTION, OBSERVE)
    assert len(model.requests) == 2


def test_a_reply_that_could_not_be_used_is_asked_for_again(
    store: Store, clock: FakeClock, job: Job, database: Path
) -> None:
    model = StubModel(["chatter", "better"])
    asked = asking(store, model, clock, job)
    chatter = asked.ask(QUESTION, OBSERVE)
    assert isinstance(chatter, StoredReply)
    asked.unusable(chatter)
    better = asked.ask(QUESTION, REPAIR)
    assert isinstance(better, StoredReply)
    assert better.text == "better"
    assert outcomes(database) == ["unusable", "answered"]


def test_a_finished_job_that_is_done_again_asks_again(
    store: Store, clock: FakeClock, job: Job
) -> None:
    model = StubModel(["one", "two"])
    asked = asking(store, model, clock, job)
    asked.ask(QUESTION, OBSERVE)
    store.jobs.finish_observations(job, STUB, [], clock(), clock())
    answer = asked.ask(QUESTION, OBSERVE)
    assert isinstance(answer, StoredReply)
    assert answer.text == "two"


def test_beyond_the_budget_nothing_is_asked_before_midnight(
    store: Store, clock: FakeClock, job: Job, database: Path
) -> None:
    model = StubModel(["a long answer " * 20, "two"])
    asked = asking(store, model, clock, job, tokens=150)
    assert isinstance(asked.ask(QUESTION, OBSERVE), StoredReply)
    refusal = asked.ask(ANOTHER, OBSERVE)
    assert isinstance(refusal, RateLimited)
    assert refusal.until == day_bounds(clock())[1]
    assert "150 tokens" in refusal.why
    assert len(model.requests) == 1
    assert outcomes(database) == ["answered"]
    clock.at = refusal.until
    assert isinstance(asked.ask(ANOTHER, OBSERVE), StoredReply)


def test_a_kept_reply_is_used_although_the_budget_is_spent(
    store: Store, clock: FakeClock, job: Job
) -> None:
    model = StubModel(["one"])
    first = asking(store, model, clock, job).ask(QUESTION, OBSERVE)
    assert asking(store, model, clock, job, tokens=1).ask(QUESTION, OBSERVE) == first


def test_a_budget_in_money_needs_a_price(store: Store, clock: FakeClock, job: Job) -> None:
    model = StubModel(["one"])
    refusal = asking(store, model, clock, job, cents=1).ask(QUESTION, OBSERVE)
    assert isinstance(refusal, Misconfigured)
    assert "cost.prices stub-1=" in refusal.why
    assert model.requests == []
