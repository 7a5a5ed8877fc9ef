"""What every store does with events: once each, in their session and their turn."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.agents.claude_code.tools import OUR_TOOLS
from aforesaid.clock import DAY, SECOND
from aforesaid.model.events import Arrival, ToolUsed
from aforesaid.model.jobs import OBSERVE, SUMMARIZE, Job
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, again
from tests.support.memory import TEST
from tests.support.stored import events_of

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=40)  # surrogates and NUL too


def add(store: Store, *arrivals: Arrival) -> tuple[int, int, int]:
    result = store.events.add(arrivals, START)
    return result.added, result.duplicates, result.closed_turns


def claim_all(store: Store) -> list[Job]:
    """Every waiting job, each finished, in the order of the queue."""
    jobs = []
    while job := store.jobs.claim("test", START + 7 * DAY, START + 8 * DAY):
        jobs.append(job)
        if job.kind == OBSERVE:
            store.jobs.finish_observations(job, TEST, [], START, START)
        else:
            store.jobs.finish_summary(job, TEST, None, START, START)
    return jobs


def numbers(store: Store, session: str = "session-1") -> list[tuple[str, int]]:
    found = store.sessions.find("claude-code", session)
    assert found is not None
    return [(e.kind, e.prompt_number) for e in events_of(store, found.id)]


def test_an_event_with_a_key_is_stored_once_however_often_it_comes(
    store: Store, told: Told
) -> None:
    used = told.tool("t1")
    assert add(store, used, again(used)) == (1, 1, 0)
    assert add(store, again(used, later=DAY, capture_id="next-day")) == (0, 1, 0)
    assert store.health().events == 1


def test_equal_content_without_a_key_is_one_event_only_within_a_few_seconds(
    store: Store, told: Told
) -> None:
    ended = told.end()
    assert add(store, ended, again(ended, later=4 * SECOND)) == (1, 1, 0)
    assert add(store, again(ended, later=60 * SECOND, capture_id="much-later")) == (1, 0, 0)


def test_the_same_capture_delivered_again_after_days_is_still_the_same(
    store: Store, told: Told
) -> None:
    started = told.start()
    add(store, started)
    assert add(store, started) == (0, 1, 0)


def test_a_redelivered_stop_closes_no_second_turn(store: Store, told: Told) -> None:
    stop = told.stop(prompt_id="p1")
    assert add(store, told.prompt("Do it", id="p1"), told.tool("t1"), stop) == (3, 0, 1)
    assert add(store, again(stop)) == (0, 1, 0)
    assert [job.kind for job in claim_all(store)] == [OBSERVE, SUMMARIZE]


def test_a_redelivered_prompt_is_not_counted_again(store: Store, told: Told) -> None:
    asked = told.prompt("Do it", id="p1")
    add(store, asked, again(asked))
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert session.prompts == 1
    assert [p.text for p in store.sessions.prompts(session.id)] == ["Do it"]


def test_whatever_arrives_first_creates_the_session(store: Store, told: Told) -> None:
    add(store, told.tool("t1"))
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert (session.status, session.prompts, session.project_id) == ("active", 0, told.project_id)
    assert session.started_at == session.last_event_at == told.at


def test_prompts_are_numbered_and_events_belong_to_the_prompt_before_them(
    store: Store, told: Told
) -> None:
    add(store, told.start(), told.prompt("one"), told.tool("t1"), told.stop())
    add(store, told.prompt("two"), told.tool("t2"), told.stop())
    assert numbers(store) == [
        ("session_start", 0),
        *(("prompt", 1), ("tool", 1), ("stop", 1)),
        *(("prompt", 2), ("tool", 2), ("stop", 2)),
    ]


def test_what_the_client_says_itself_is_stored_but_not_numbered(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), told.prompt("<task-notification>", by_machine=True))
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert [p.text for p in store.sessions.prompts(session.id)] == ["one"]
    assert numbers(store) == [("prompt", 1), ("prompt", 1)]


def test_a_late_event_is_attributed_by_its_prompt_id(store: Store, told: Told) -> None:
    add(store, told.prompt("one", id="p1"), told.prompt("two", id="p2"))
    add(store, told.tool("late", prompt_id="p1"), told.tool("now", prompt_id="p2"))
    assert numbers(store)[2:] == [("tool", 1), ("tool", 2)]


@pytest.mark.parametrize(
    ("closer", "status"), [("stop", "active"), ("end", "completed"), ("compact", "active")]
)
def test_a_turn_is_closed_by(store: Store, told: Told, closer: str, status: str) -> None:
    add(store, told.prompt("one"), told.tool("t1"))
    assert add(store, getattr(told, closer)()) == (1, 0, 1)
    assert [(j.kind, j.prompt_number) for j in claim_all(store)] == [(OBSERVE, 1), (SUMMARIZE, 1)]
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert session.status == status


def test_the_next_prompt_closes_a_turn_that_was_interrupted_with_escape(
    store: Store, told: Told
) -> None:
    add(store, told.prompt("one"), told.tool("t1"))
    assert add(store, told.prompt("two")) == (1, 0, 1)
    assert [(j.kind, j.prompt_number) for j in claim_all(store)] == [(OBSERVE, 1), (SUMMARIZE, 1)]


def test_a_session_end_after_stop_makes_no_second_job(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), told.tool("t1"), told.stop())
    assert add(store, told.end()) == (1, 0, 0)
    assert len(claim_all(store)) == 2


def test_an_earlier_turn_is_closed_under_its_own_number(store: Store, told: Told) -> None:
    """Nothing but the next prompt says that the first turn is over."""
    add(
        store, told.prompt("one"), told.tool("t1"), told.prompt("two"), told.tool("t2"), told.stop()
    )
    assert [(j.kind, j.prompt_number) for j in claim_all(store)] == [
        *((OBSERVE, 1), (SUMMARIZE, 1)),
        *((OBSERVE, 2), (SUMMARIZE, 2)),
    ]


def test_a_second_stop_of_a_turn_replaces_the_summary_that_nobody_has_begun(
    store: Store, told: Told
) -> None:
    add(store, told.prompt("one", id="p"), told.tool("t1"), told.stop("Half.", prompt_id="p"))
    add(store, told.tool("t2", prompt_id="p"), told.stop("All.", prompt_id="p"))
    assert [job.kind for job in claim_all(store)] == [OBSERVE, OBSERVE, SUMMARIZE]


def test_boring_tools_are_stored_but_never_worked_up(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), told.tool("t1", name="Grep", boring=True), told.tool("t2"))
    add(store, told.stop())
    job = store.jobs.claim("test", START, START + SECOND)
    assert job is not None
    assert len(store.events.for_job(job.id)) == 1
    assert len(store.events.for_prompt(job.session_id, 1)) == 4


def test_a_session_silent_for_a_day_is_interrupted_and_its_work_is_not_lost(
    store: Store, told: Told
) -> None:
    add(store, told.prompt("one"), told.tool("t1"))
    assert store.sessions.interrupt_stale(told.at, told.at + DAY) == 0
    assert store.sessions.interrupt_stale(told.at + 1, told.at + DAY) == 1
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    assert (session.status, session.ended_at) == ("interrupted", told.at)
    assert len(claim_all(store)) == 2
    add(store, told.prompt("I am back"))
    back = store.sessions.get(session.id)
    assert back is not None
    assert (back.status, back.ended_at) == ("active", None)


def test_events_come_back_byte_for_byte_and_in_the_order_of_their_time(
    store: Store, told: Told
) -> None:
    first, second = told.tool("t1"), told.tool("t2")
    body = bytes(range(256)) * 100
    second = replace(second, capture=replace(second.capture, body=body))
    add(store, second, first)
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    events = events_of(store, session.id)
    assert [e.capture.body for e in events] == [first.capture.body, body]
    assert store.events.before(events[1], 10) == [events[0]]
    assert session.started_at == first.capture.at


def test_what_a_session_has_asked_aforesaid_is_found_by_our_tools_names(
    store: Store, told: Told
) -> None:
    other = (told.tool("t0"), told.tool("t1", name="mcp__plugin_aforesaid_other__get"))
    ours = [told.tool(f"{n}", name=f"{name}search") for n, name in enumerate(OUR_TOOLS)]
    add(store, *other, *ours, told.tool("t2", name="mcp__aforesaidors__search"))
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    bodies = [event.capture.body for event in store.events.calls_of(session.id, OUR_TOOLS, 9)]
    assert bodies == [each.capture.body for each in reversed(ours)]


@given(ANYTHING, ANYTHING, ANYTHING)
def test_no_text_of_an_agent_keeps_an_event_from_being_stored(
    store: Store, project: int, session: str, odd: str, text: str
) -> None:
    told = Told(project, session=json.dumps([session, odd, text]) + session)
    used = told.tool(odd, name=odd, prompt_id=odd, subagent=odd)
    assert isinstance(used.event.what, ToolUsed)
    used = replace(used, event=replace(used.event, transcript=odd))
    used = replace(used, capture=replace(used.capture, id=told.session, hook=odd, project_dir=odd))
    asked = told.prompt(text, id=odd or None)
    assert add(store, asked, used, again(used), again(asked)) == (2, 2, 0)
    found = store.sessions.find("claude-code", told.session)
    assert found is not None
    assert found.prompts == 1


def test_a_quarantined_name_may_hold_anything_and_is_counted_once(store: Store) -> None:
    for _ in range(2):
        store.events.quarantine("\udcff\0name", "why \ud800", 3, START)
    assert store.health().quarantined == 1


def test_dropping_a_session_takes_what_hangs_on_it_and_leaves_its_neighbours(
    store: Store, told: Told
) -> None:
    add(store, told.prompt("one"), told.tool("t1"), told.stop())
    add(store, Told(told.project_id, session="session-2").prompt("mine"))
    for name, events, projects in (("session-1", 1, 1), ("session-2", 0, 0)):
        session = store.sessions.find("claude-code", name)
        assert session is not None
        store.sessions.drop(session.id, session.project_id)
        assert store.sessions.find("claude-code", name) is None
        assert (store.health().events, store.health().projects) == (events, projects)
    assert store.jobs.next_due() is None
