"""What an erasure comes to: what was forgotten is no hiding place, and no reply outlives its turn."""

import pytest

from aforesaid.model.jobs import Job
from aforesaid.model.observations import ObservationDraft
from aforesaid.model.purge import Erasure, Rows
from aforesaid.model.requests import ANSWERED, Entry, Usage
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told
from tests.support.memory import Memory


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def reply(store: Store, job: Job, text: str) -> None:
    entry = Entry(
        *(START, "anthropic", "m", "1", "observe", text, job.session_id, job.id, ANSWERED, None),
        *(Usage(1, 0, 0, 1), 0, 1, text),
    )
    store.requests.add(entry)


def forgotten_with_a_folded_one(store: Store, memory: Memory) -> int:
    """Of two sessions, a turn each; the second said the same as the first."""
    memory.turn("One", ObservationDraft("bugfix", "The pump leaks", evidence=(2,)))
    first = memory.newest().id
    memory.turn("Two", ObservationDraft("bugfix", "The pump leaks", repeats=first))
    assert store.observations.hide(first, memory.at) == 2
    return first


@pytest.mark.parametrize(
    "rows",
    [
        Rows(prompts=frozenset({1})),
        Rows(prompts=frozenset({2})),
        Rows(events=frozenset({2})),
        Rows(events=frozenset({5})),  # it names none: all that was worked up with it
        Rows(sessions=frozenset({2})),
    ],
)
def test_what_was_forgotten_goes_with_what_it_was_made_of(
    store: Store, memory: Memory, rows: Rows
) -> None:
    first = forgotten_with_a_folded_one(store, memory)
    assert first in store.purge.reach(rows).rows.observations
    for _ in store.purge.delete(store.purge.reach(rows).rows, memory.at):
        pass
    assert not store.observations.restore(first)


def test_what_was_forgotten_elsewhere_stays(store: Store, memory: Memory) -> None:
    first = forgotten_with_a_folded_one(store, memory)
    memory.turn("Three", ObservationDraft("bugfix", "Another thing"))
    reach = store.purge.reach(store.purge.select(Erasure("prompt", id=3)))
    assert first not in reach.rows.observations
    assert store.observations.restore(first)


def test_a_turn_whose_events_are_empty_already_loses_what_models_said(
    store: Store, job: Job
) -> None:
    reply(store, job, "the pump")
    for each in store.purge.delete(Rows(prompts=frozenset({1})), START):
        assert each
    assert store.requests.kept_reply(job.id, "the pump") is None


def test_a_text_is_found_in_every_one_of_many_replies(store: Store, job: Job) -> None:
    for number in range(100):
        reply(store, job, f"pump {number}")
    changed = sum(
        store.purge.replace_text(
            lambda t: "pump" in t, lambda t: t.replace("pump", ""), lambda *_: None
        )
    )
    assert changed >= 100
    assert all(store.requests.kept_reply(job.id, f"pump {number}") is None for number in range(100))


def test_what_was_read_for_the_index_before_its_text_was_replaced_is_read_again(
    store: Store, told: Told
) -> None:
    """T63: else the old words would be in the index for good."""
    store.events.add([told.prompt("p"), told.tool("t1"), told.tool("t2"), told.tool("t3")], START)
    unread = store.index.unread_events(10)
    (changed,) = (each.event for each in unread if b'"number": 3' in each.event.capture.body)
    for _ in store.purge.replace_text(
        lambda text: '"number": 3' in text,
        lambda text: text.replace('"number": 3', '"number": 33'),
        lambda *_: None,
    ):
        pass
    store.index.add_event_texts([(each, "old words", None) for each in unread])
    again = store.index.unread_events(10)
    assert [each.event.id for each in again] == [changed.id, changed.id + 1]
    assert b'"number": 33' in again[0].event.capture.body
    store.index.add_event_texts([(each, "new words", None) for each in again])
    assert store.index.unread_events(10) == []
