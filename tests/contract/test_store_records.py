"""What every store remembers: observations and summaries, as they were written."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY, HOUR
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.observations import TYPES, Author, Doubt, ObservationDraft, SummaryDraft
from aforesaid.model.search import Injection
from aforesaid.model.sessions import SessionTitle
from aforesaid.store.store import Store
from aforesaid.text import sqlite_safe
from tests.support.arrivals import START, Told, repository
from tests.support.memory import TEST
from tests.support.stored import events_of

TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.just("a\0b\ud800😀e\u0301")
TEXTS = st.lists(TEXT, max_size=4).map(tuple)
DOUBTS = st.lists(st.builds(Doubt, TEXT, TEXT), max_size=3).map(tuple)
OBSERVATIONS = st.builds(
    ObservationDraft,
    type=st.sampled_from(TYPES),
    title=st.none() | TEXT,
    subtitle=st.none() | TEXT,
    facts=TEXTS,
    narrative=st.none() | TEXT,
    concepts=TEXTS,
    files_read=TEXTS,
    files_modified=TEXTS,
    subagent_type=st.none() | TEXT,
    doubts=DOUBTS,
)
SUMMARIES = st.builds(
    SummaryDraft,
    request=st.none() | TEXT,
    investigated=st.none() | TEXT,
    learned=st.none() | TEXT,
    completed=st.none() | TEXT,
    next_steps=st.none() | TEXT,
    files_read=TEXTS,
    files_edited=TEXTS,
    notes=st.none() | TEXT,
    doubts=DOUBTS,
)


def safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def a_set(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Concepts and files are sets, kept in the order of their bytes."""
    return tuple(sorted({sqlite_safe(t) for t in texts}, key=lambda t: t.encode()))


def safe_doubts(doubts: tuple[Doubt, ...]) -> tuple[Doubt, ...]:
    return tuple(Doubt(sqlite_safe(d.part), sqlite_safe(d.reason)) for d in doubts)


def observe_job(store: Store, told: Told) -> Job:
    """The job of a new turn. What is waiting before it is finished first."""
    number = told.count
    store.events.add([told.prompt("p"), told.tool(f"t{number}"), told.stop()], START)
    while job := store.jobs.claim("test", START, START + HOUR):
        if job.kind == OBSERVE:
            return job
        store.jobs.finish_summary(job, TEST, None, START, START)
    raise AssertionError("no observe job")


def remember(store: Store, told: Told, *drafts: ObservationDraft, at: int = START) -> list[int]:
    ids = store.jobs.finish_observations(observe_job(store, told), TEST, list(drafts), at, START)
    assert isinstance(ids, tuple)
    return list(ids)


@given(OBSERVATIONS)
def test_an_observation_comes_back_as_it_was_written(
    store: Store, told: Told, draft: ObservationDraft
) -> None:
    (key,) = remember(store, told, draft)
    found = store.observations.get(key)
    assert found is not None
    assert (found.project_id, found.provider, found.pinned) == (told.project_id, "test", False)
    assert found.draft == ObservationDraft(
        type=draft.type,
        title=safe(draft.title),
        subtitle=safe(draft.subtitle),
        facts=tuple(sqlite_safe(f) for f in draft.facts),
        narrative=safe(draft.narrative),
        concepts=a_set(draft.concepts),
        files_read=a_set(draft.files_read),
        files_modified=a_set(draft.files_modified),
        subagent_type=safe(draft.subagent_type),
        doubts=safe_doubts(draft.doubts),
    )


def test_an_unknown_type_becomes_a_plain_change(store: Store, told: Told) -> None:
    (key,) = remember(store, told, ObservationDraft("epiphany", "Aha"))
    found = store.observations.get(key)
    assert found is not None
    assert found.draft.type == "change"


def test_a_turn_has_one_summary_and_the_later_one_stays(store: Store, told: Told) -> None:
    stored = []
    for text in ("first", "second"):
        number = told.count
        arrivals = [told.tool(f"t{number}"), told.stop(text)]
        if text == "first":
            arrivals.insert(0, told.prompt("one"))
        store.events.add(arrivals, START)
        while job := store.jobs.claim("test", START, START + HOUR):
            if job.kind == OBSERVE:
                store.jobs.finish_observations(job, TEST, [], START, START)
                continue
            stored.append(store.jobs.finish_summary(job, TEST, SummaryDraft(text), START, START))
            found = store.summaries.for_session(job.session_id)
    assert len(stored) == 2
    assert [s.draft.request for s in found] == ["second"]


@given(SUMMARIES)
def test_a_summary_comes_back_as_it_was_written(
    store: Store, told: Told, draft: SummaryDraft
) -> None:
    store.jobs.finish_observations(observe_job(store, told), TEST, [], START, START)
    job = store.jobs.claim("test", START, START + HOUR)
    assert job is not None
    key = store.jobs.finish_summary(job, TEST, draft, START + told.count, START)
    (found,) = store.summaries.latest(1, 1)
    assert found.id == key
    assert found.draft == SummaryDraft(
        request=safe(draft.request),
        investigated=safe(draft.investigated),
        learned=safe(draft.learned),
        completed=safe(draft.completed),
        next_steps=safe(draft.next_steps),
        files_read=a_set(draft.files_read),
        files_edited=a_set(draft.files_edited),
        notes=safe(draft.notes),
        doubts=safe_doubts(draft.doubts),
    )


def test_what_was_written_names_its_provider_and_its_model(store: Store, told: Told) -> None:
    author = Author("anthropic", "some-model", "3")
    job = observe_job(store, told)
    store.jobs.finish_observations(job, author, [ObservationDraft("change", "x")], START, START)
    (observation,) = store.observations.for_session(job.session_id)
    assert (observation.provider, observation.model) == ("anthropic", "some-model")
    behind = store.jobs.claim("test", START, START + HOUR)
    assert behind is not None
    store.jobs.finish_summary(behind, author, SummaryDraft("x"), START, START)
    (summary,) = store.summaries.for_session(job.session_id)
    assert (summary.provider, summary.model) == ("anthropic", "some-model")


def test_evidence_is_events_of_the_same_session_each_once(store: Store, told: Told) -> None:
    other = Told(told.project_id, session="session-2")
    store.events.add([other.tool("foreign")], START)
    foreign = store.sessions.find("claude-code", "session-2")
    assert foreign is not None
    (event,) = events_of(store, foreign.id)
    job = observe_job(store, told)
    own = [e.id for e in events_of(store, job.session_id)]
    draft = ObservationDraft("change", "x", evidence=(*reversed(own), own[0], event.id, 999))
    store.jobs.finish_observations(job, TEST, [draft], START, START)
    (found,) = store.observations.for_session(job.session_id)
    assert found.draft.evidence == tuple(own)


def test_observations_of_a_turn_come_in_the_order_they_were_written(
    store: Store, told: Told
) -> None:
    first = remember(store, told, ObservationDraft("change", "a"), ObservationDraft("change", "b"))
    remember(store, told, ObservationDraft("change", "c"))
    assert [o.id for o in store.observations.for_prompt(1, 1)] == first
    assert [o.draft.title for o in store.observations.for_prompt(1, 2)] == ["c"]
    assert store.observations.for_prompt(1, 3) == []


def test_a_turn_that_deserves_no_summary_has_none(store: Store, told: Told) -> None:
    store.jobs.finish_observations(observe_job(store, told), TEST, [], START, START)
    job = store.jobs.claim("test", START, START + HOUR)
    assert job is not None
    assert store.jobs.finish_summary(job, TEST, None, START, START) is None
    assert store.summaries.for_session(job.session_id) == []


def test_observations_of_a_project_come_newest_first_and_pinned_ones_are_known(
    store: Store, told: Told
) -> None:
    drafts = [ObservationDraft("change", f"title {n}") for n in range(3)]
    ids = [remember(store, told, draft, at=START + n)[0] for n, draft in enumerate(drafts)]
    assert [o.id for o in store.observations.recent(told.project_id, 2)] == [ids[2], ids[1]]
    assert store.observations.pin(ids[0], pinned=True)
    assert [o.id for o in store.observations.pinned(told.project_id)] == [ids[0]]
    assert store.observations.pin(ids[0], pinned=False)
    assert store.observations.pinned(told.project_id) == []
    assert not store.observations.pin(10_000, pinned=True)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("src/app.py", True),
        ("app.py", True),
        ("/home/dev/shop/src/app.py", True),
        ("pp.py", False),
        ("ap_.py", False),
        ("%", False),
        ("other/app.py", False),
    ],
)
def test_a_file_is_found_by_its_path_or_the_end_of_it(
    store: Store, told: Told, asked: str, found: bool
) -> None:
    path = "/home/dev/shop/src/app.py"
    remember(store, told, ObservationDraft("change", "Changed it", files_modified=(path,)))
    remember(store, told, ObservationDraft("change", "Read it", files_read=(path,)))
    known = store.observations.for_opened_file(told.project_id, asked, untold_in=999, limit=5)
    assert [o.draft.title for o in known] == (["Changed it"] if found else [])


def test_a_session_is_not_told_what_it_did_or_was_told_already(store: Store, told: Told) -> None:
    (key,) = remember(store, told, ObservationDraft("change", "x", files_modified=("a.py",)))
    own = store.sessions.find("claude-code", "session-1")
    store.events.add([Told(told.project_id, session="session-2").prompt("hello")], START)
    other = store.sessions.find("claude-code", "session-2")
    assert own is not None
    assert other is not None
    about = store.observations.for_opened_file
    assert about(told.project_id, "a.py", untold_in=own.id, limit=5) == []
    assert len(about(told.project_id, "a.py", untold_in=other.id, limit=5)) == 1
    reason = Injection("observation", key, "it named the file", 12)
    store.injections.add(other.id, "context", [reason], START)
    assert len(about(told.project_id, "a.py", untold_in=other.id, limit=5)) == 1
    for _ in range(2):
        store.injections.add(other.id, "new", [reason], START)
    assert about(told.project_id, "a.py", untold_in=other.id, limit=5) == []


def test_sessions_are_listed_by_project_and_found_by_the_start_of_their_id(
    store: Store, told: Told
) -> None:
    other = store.projects.resolve(repository("other"), "/home/dev/other", START)
    store.events.add([told.prompt("one"), Told(other, "s_x", at=START + DAY).prompt("two")], START)
    assert [s.ref for s in store.sessions.recent(None, 10)] == ["s_x", "session-1"]
    assert [s.ref for s in store.sessions.recent(told.project_id, 10)] == ["session-1"]
    assert [s.ref for s in store.sessions.find_by_prefix("s_")] == ["s_x"]
    assert store.sessions.find_by_prefix("%") == store.sessions.find_by_prefix("\udcff") == []


def test_a_title_stays_and_a_subtitle_follows(store: Store, told: Told) -> None:
    for title in (
        SessionTitle("first", None),
        SessionTitle("second", "done"),
        SessionTitle(None, None),
    ):
        store.events.add([told.prompt("one"), told.stop()], START)
        while job := store.jobs.claim("test", START, START + 1):
            if job.kind == OBSERVE:
                store.jobs.finish_observations(job, TEST, [], START, START)
            else:
                store.jobs.finish_summary(job, TEST, None, START, START, title=title)
    found = store.sessions.find("claude-code", "session-1")
    assert found is not None
    assert (found.title, found.subtitle) == ("first", "done")


def test_other_jobs_of_the_same_turn_are_known_by_type_and_title(store: Store, told: Told) -> None:
    job = observe_job(store, told)
    store.jobs.finish_observations(
        job, TEST, [ObservationDraft("decision", "Use it")], START, START
    )
    assert store.observations.titles_for_job(job) == frozenset()
    assert store.observations.titles_for_job(replace(job, id=job.id + 1)) == {
        ("decision", "Use it")
    }
    assert store.observations.titles_for_session(job.session_id) == ("Use it",)
