"""What every store knows of what models were asked, what they answered and what that cost."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY, HOUR
from aforesaid.model.jobs import OBSERVE, Again, Job
from aforesaid.model.observations import Author, Doubt, ObservationDraft, SummaryDraft
from aforesaid.model.requests import (
    ANSWERED,
    FAILED,
    UNUSABLE,
    Entry,
    Quality,
    Spent,
    StoredReply,
    Usage,
)
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told
from tests.support.memory import TEST, Memory

FOREVER = (0, START + 1000 * DAY)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def entry(
    job: Job,
    *,
    at: int = START,
    provider: str = "anthropic",
    model: str = "m",
    purpose: str = "observe",
    digest: str = "d",
    outcome: str = ANSWERED,
    sent: int = 100,
    price: int | None = 7,
    reply: str | None = "<observation/>",
) -> Entry:
    return Entry(
        at=at,
        provider=provider,
        model=model,
        prompts="1",
        purpose=purpose,
        digest=digest,
        session_id=job.session_id,
        job_id=job.id,
        outcome=outcome,
        error=None if outcome == ANSWERED else "no",
        usage=Usage(sent=sent, cached=40, written=10, received=20),
        microdollars=price,
        milliseconds=1200,
        reply=reply,
    )


def by(store: Store, grouping: str, project_id: int | None = None) -> list[tuple[str, int, int]]:
    rows = store.requests.spent_by(grouping, *FOREVER, project_id=project_id)
    return [(row.label, row.requests, row.sent) for row in rows]


def test_nothing_asked_is_nothing_spent(store: Store) -> None:
    assert store.requests.spent(*FOREVER) == Spent("", 0, 0, 0, 0, 0, 0)
    assert store.requests.spent_by("day", *FOREVER) == []


def test_what_was_spent_is_added_up_within_a_time(store: Store, job: Job) -> None:
    store.requests.add(entry(job))
    store.requests.add(entry(job, at=START + HOUR, price=None))
    store.requests.add(entry(job, at=START + 2 * HOUR, outcome=FAILED, reply=None))
    assert store.requests.spent(*FOREVER) == Spent("", 3, 300, 120, 60, 14, 1)
    assert store.requests.spent(START, START + HOUR) == Spent("", 1, 100, 40, 20, 7, 0)


@given(ANYTHING)
def test_a_reply_is_kept_as_it_came(store: Store, job: Job, text: str) -> None:
    key = store.requests.add(entry(job, reply=text, digest="any"))
    assert store.requests.kept_reply(job.id, "any") == StoredReply(key, text)


def test_only_a_usable_answer_to_the_very_same_request_is_kept(store: Store, job: Job) -> None:
    first = store.requests.add(entry(job, reply="one"))
    second = store.requests.add(entry(job, reply="two"))
    store.requests.add(entry(job, outcome=FAILED, reply="cut o"))
    store.requests.add(entry(job, reply=None))
    assert store.requests.kept_reply(job.id, "other") is None
    assert store.requests.kept_reply(job.id + 1, "d") is None
    assert store.requests.kept_reply(job.id, "d") == StoredReply(second, "two")
    for _ in range(2):
        store.requests.mark_unusable(second)
    assert store.requests.kept_reply(job.id, "d") == StoredReply(first, "one")
    assert store.requests.spent(*FOREVER).requests == 4


def test_a_reply_whose_effect_is_stored_is_not_used_again(store: Store, job: Job) -> None:
    """Else another model's work would be taken for the one that was asked for."""
    store.requests.add(entry(job, reply="old"))
    store.jobs.finish_observations(job, TEST, [], START, START)
    assert store.requests.kept_reply(job.id, "d") is None
    store.jobs.reprocess(Again("another"), START)
    assert store.requests.kept_reply(job.id, "d") is None
    key = store.requests.add(entry(job, reply="new"))
    assert store.requests.kept_reply(job.id, "d") == StoredReply(key, "new")


def test_a_ledger_outlives_what_it_was_spent_on(store: Store, job: Job) -> None:
    before = store.requests.add(entry(job))
    session = store.sessions.get(job.session_id)
    assert session is not None
    store.sessions.drop(session.id, session.project_id)
    store.requests.add(entry(job))  # the reply came after the session was gone
    assert store.requests.spent(*FOREVER).requests == 2
    assert by(store, "project") == by(store, "session") == [("(deleted)", 2, 200)]
    store.requests.mark_unusable(before)
    store.database.check()


def test_spending_is_grouped_by_model_and_purpose_with_the_largest_first(
    store: Store, job: Job
) -> None:
    store.requests.add(entry(job, model="small", sent=10))
    store.requests.add(entry(job, model="large", sent=500, purpose="summarize"))
    store.requests.add(entry(job, model="small", sent=10, purpose="repair", outcome=UNUSABLE))
    assert by(store, "model") == [("anthropic/large", 1, 500), ("anthropic/small", 2, 20)]
    assert by(store, "purpose") == [("summarize", 1, 500), ("observe", 1, 10), ("repair", 1, 10)]


def test_spending_is_grouped_by_project_and_session(memory: Memory, store: Store) -> None:
    jobs = []
    for name in ("first-session", "second-session"):
        told = Told(memory.project_id, session=name)
        store.events.add([told.prompt("p"), told.tool("t"), told.stop()], START)
        claimed = store.jobs.claim("test", START, START + HOUR)
        assert claimed is not None
        jobs.append(claimed)
    other = Memory.of(store, "other")
    other.turn("p")
    (foreign,) = store.sessions.recent(other.project_id, 9)
    store.requests.add(entry(jobs[0], sent=1))
    store.requests.add(entry(jobs[1], sent=5))
    store.requests.add(entry(Job(99, OBSERVE, foreign.id, 1, 1, "x"), sent=900))
    assert by(store, "project") == [("other", 1, 900), ("shop", 2, 6)]
    assert by(store, "project", memory.project_id) == [("shop", 2, 6)]
    assert by(store, "session", memory.project_id) == [("second-s", 1, 5), ("first-se", 1, 1)]
    assert by(store, "session", other.project_id) == [(f"{foreign.ref[:8]} p", 1, 900)]
    assert [by(store, g, 77) for g in ("day", "model", "purpose")] == [[], [], []]


@pytest.fixture(params=["Asia/Tokyo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_day_is_a_day_of_the_users_calendar(store: Store, job: Job, zone: str) -> None:
    midnight = 1_800_057_600_000  # 2027-01-16 00:00 UTC
    for at in (midnight + 13 * HOUR, midnight - HOUR, midnight + 14 * HOUR):
        store.requests.add(entry(job, at=at))
    days = {
        "Asia/Tokyo": [("2027-01-16", 3, 300)],
        "America/New_York": [("2027-01-15", 1, 100), ("2027-01-16", 2, 200)],
    }
    assert by(store, "day") == days[zone]


def test_the_share_of_doubted_facts_is_known_per_model(memory: Memory, store: Store) -> None:
    model, other = Author("openai", "small", "1"), Author("openai", "large", "1")
    doubts = (Doubt("facts 0", "no"), Doubt("facts 0", "still no"), Doubt("title", "no"))
    shaky = ObservationDraft("change", "a", facts=("one", "two"), doubts=doubts)
    sound = ObservationDraft("change", "b", facts=("one",))
    bare = ObservationDraft("change", "c")
    memory.turn("p", shaky, sound, bare, author=model, summary=SummaryDraft("s"))
    memory.turn("p", sound, author=other)
    memory.turn("p", shaky, author=Author("rules"))
    assert store.requests.quality() == [
        Quality("openai", "small", 3, 3, 1),
        Quality("openai", "large", 1, 1, 0),
    ]
    store.observations.edit(1, ObservationDraft("change", "mine", facts=("three",)))
    assert store.requests.quality()[0] == Quality("openai", "small", 2, 1, 0)
