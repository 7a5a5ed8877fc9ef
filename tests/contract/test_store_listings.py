"""What every store lists for people: by the page, whole in the end, and counted right."""

from collections.abc import Callable
from typing import Any

import pytest

from aforesaid.clock import MINUTE
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft
from aforesaid.model.search import Filters
from aforesaid.model.sessions import Cursor, ObservationRow, Session
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told
from tests.support.memory import Memory

QUARTER = 15 * MINUTE


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def fill(memory: Memory, sessions: int = 7) -> None:
    for number in range(sessions):
        kind = "decision" if number % 2 else "bugfix"
        concepts = ("caching",) if number % 3 == 0 else ()
        drafts = [
            ObservationDraft(kind, f"{number} {place}", concepts=concepts) for place in range(3)
        ]
        memory.turn(f"prompt {number}", *drafts, summary=SummaryDraft("s"))


def pages(read: Callable[[Cursor | None], list[Session]]) -> list[int]:
    """Ids of all, two at a time."""
    found: list[int] = []
    cursor: Cursor | None = None
    while rows := read(cursor):
        found += [row.id for row in rows]
        cursor = (rows[-1].last_event_at, rows[-1].id)
    return found


def observations(store: Store, filters: Filters) -> list[ObservationRow]:
    found: list[ObservationRow] = []
    cursor: Cursor | None = None
    while rows := store.observations.page(filters, cursor, 4):
        found += rows
        cursor = (rows[-1].at, rows[-1].id)
    return found


def test_projects_are_counted_without_what_is_folded(store: Store, memory: Memory) -> None:
    fill(memory, 2)
    newest = memory.newest()
    memory.turn("again", ObservationDraft("change", "same", repeats=newest.id))
    other = Memory.of(store, "other")
    (first, second) = store.projects.totals()
    assert (first.id, first.sessions, first.observations) == (memory.project_id, 3, 6)
    assert first.last_at is not None
    assert (second.id, second.sessions, second.observations, second.last_at) == (
        other.project_id,
        0,
        0,
        None,
    )


def test_sessions_come_by_the_page_and_each_once(store: Store, memory: Memory) -> None:
    fill(memory)
    other = Memory.of(store, "other")
    fill(other, 2)
    store.events.add([Told(memory.project_id, session="1-3").end()], START)
    every = [each.id for each in store.sessions.recent(None, 99)]
    mine = [each.id for each in store.sessions.recent(memory.project_id, 99)]

    def read(status: str | None = None, **wanted: Any) -> list[int]:
        filters = Filters(**wanted)
        return pages(lambda cursor: store.sessions.page(filters, cursor, 2, status=status))

    assert read() == every
    assert read(project_id=memory.project_id) == mine
    assert read(status="active") + read(status="completed") != []
    assert sorted(read(status="active") + read(status="completed")) == sorted(every)
    assert read(project_id=memory.project_id, status="completed") == read(status="completed")
    assert read(agent="claude-code") == every
    assert read(agent="another") == []


def test_sessions_of_a_time_are_those_that_touch_it(store: Store, memory: Memory) -> None:
    fill(memory)
    found = store.sessions.recent(memory.project_id, 99)
    middle = found[3]
    since, until = middle.started_at, middle.last_event_at + 1
    touched = store.sessions.page(Filters(memory.project_id, since=since, until=until), None, 99)
    assert [each.id for each in touched] == [middle.id]
    anywhere = store.sessions.page(Filters(until=START * 2), None, 99)
    assert [each.id for each in anywhere] == [each.id for each in found]


def test_types_and_marks_are_of_what_stands(store: Store, memory: Memory) -> None:
    fill(memory, 2)
    newest = memory.newest()
    session = memory.turn("again", ObservationDraft("change", "same", repeats=newest.id))
    ids = [each.id for each in store.sessions.recent(memory.project_id, 9)]
    types = store.sessions.observation_types(ids)
    assert session.id not in types
    assert sorted(map(dict, types.values()), key=str) == [{"bugfix": 3}, {"decision": 3}]
    marks = store.sessions.marks(ids, 0, 2**52)
    assert [mark.title for mark in marks[newest.session_id]] == ["1 0", "1 1", "1 2"]


def test_observations_come_by_the_page_with_what_they_are(store: Store, memory: Memory) -> None:
    fill(memory)
    doubted = ObservationDraft("change", "doubted", doubts=(Doubt("title", "nobody said so"),))
    memory.turn("doubt", doubted)
    pinned = memory.store.observations.page(Filters(), None, 1)[0]
    store.observations.pin(pinned.id, pinned=True)
    memory.turn("again", ObservationDraft("change", "same", repeats=pinned.id))

    found = observations(store, Filters())
    assert len(found) == len({row.id for row in found}) == 22
    assert found == observations(store, Filters(project_id=memory.project_id))
    assert (found[0].title, found[0].unverified, found[0].pinned) == ("doubted", True, True)
    assert not any(row.unverified or row.pinned for row in found[1:])
    assert [row.at for row in found] == sorted((row.at for row in found), reverse=True)
    decisions = observations(store, Filters(types=("decision",)))
    assert decisions == [row for row in found if row.type == "decision"]
    assert decisions == observations(
        store, Filters(project_id=memory.project_id, types=("decision",))
    )
    tagged = observations(store, Filters(concepts=("caching",)))
    assert {(row.title or "")[0] for row in tagged} == {"0", "3", "6"}
    both = observations(
        store, Filters(memory.project_id, types=("decision",), concepts=("caching",))
    )
    assert {(row.title or "")[0] for row in both} == {"3"}
    assert observations(store, Filters(project_id=999)) == []


def test_events_come_turn_by_turn_and_as_they_were_captured(store: Store, memory: Memory) -> None:
    session = memory.turn("first", session="one")
    memory.turn("second", session="one")
    found = []
    cursor: Cursor | None = None
    while rows := store.events.page(session.id, cursor, 2):
        found += rows
        cursor = (rows[-1].prompt_number, rows[-1].at, rows[-1].id)
    assert [(row.prompt_number, row.kind) for row in found] == [
        (1, "prompt"),
        (1, "tool"),
        (1, "stop"),
        (2, "prompt"),
        (2, "tool"),
        (2, "stop"),
    ]
    body = store.events.body(found[0].id)
    assert body is not None
    assert len(body) == found[0].size
    assert store.events.by_ids([found[1].id, 999]) == [found[1]]
    assert store.events.body(999) is None
    assert [row.text for row in store.sessions.prompts(session.id)] == ["first", "second"]


def test_what_happened_is_counted_by_quarters_of_an_hour(store: Store, memory: Memory) -> None:
    fill(memory, 3)
    found = store.sessions.activity(memory.project_id, 0)
    assert found == store.sessions.activity(None, 0)
    numbers = {what: sum(each.number for each in of) for what, of in found.items()}
    assert (numbers["events"], numbers["observations"]) == (9, 9)
    sessions = store.sessions.recent(None, 9)
    ends = {(s.id, at // QUARTER) for s in sessions for at in (s.started_at, s.last_event_at)}
    assert {(each.session_id, each.quarter) for each in found["sessions"]} == ends
    assert store.sessions.activity(None, START * 2) == {
        "events": [],
        "observations": [],
        "sessions": [],
    }


def test_facets_name_what_is_commonest_first(store: Store, memory: Memory) -> None:
    fill(memory, 4)
    rows = store.observations.page(Filters(), None, 99)
    found = store.observations.facets((row.id for row in rows), 9)
    assert found["type"] == [("bugfix", 6), ("decision", 6)]
    assert found["concept"] == [("caching", 6)]
    assert store.observations.facets((row.id for row in rows), 1)["type"] == [("bugfix", 6)]
    agents = store.sessions.agents({row.session_id for row in rows})
    assert set(agents.values()) == {"claude-code"}


def test_the_queue_is_counted_and_listed(store: Store, memory: Memory) -> None:
    told = Told(memory.project_id)
    store.events.add([told.prompt("p"), told.tool("t"), told.stop()], START)
    health = store.health()
    assert (health.pending, health.skipped, health.oldest_pending) == (2, 0, START)
    assert [job.kind for job in store.jobs.pending()] == ["observe", "summarize"]
    job = store.jobs.claim("test", START, START + MINUTE)
    assert job is not None
    store.jobs.skip(job, "it broke", START)
    assert (store.health().pending, store.health().skipped) == (1, 1)
    assert [(each.id, each.last_error) for each in store.jobs.skipped()] == [(job.id, "it broke")]
