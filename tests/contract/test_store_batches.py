"""What every store does with long turns: worked up in parts, early, and in order."""

import pytest

from aforesaid.clock import DAY, HOUR, MINUTE
from aforesaid.model.events import Arrival
from aforesaid.model.jobs import OBSERVE, SUMMARIZE
from aforesaid.store.events import BATCH_AGE, BATCH_EVENTS, FEWEST
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, again
from tests.support.memory import TEST

Work = list[tuple[str, int, int]]


def tools(told: Told, count: int) -> list[Arrival]:
    return [told.tool(f"t{told.count}") for _ in range(count)]


def add(store: Store, *arrivals: Arrival) -> int:
    return store.events.add(arrivals, START).closed_turns


def work(store: Store) -> Work:
    """(kind, prompt number, events) of what waits, each finished, in the order of the queue."""
    found = []
    while job := store.jobs.claim("test", START + DAY, START + DAY + HOUR):
        found.append((job.kind, job.prompt_number, len(store.events.for_job(job.id))))
        if job.kind == OBSERVE:
            store.jobs.finish_observations(job, TEST, [], START, START)
        else:
            store.jobs.finish_summary(job, TEST, None, START, START)
    return found


def test_a_turn_that_grows_is_worked_up_before_it_ends(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *tools(told, BATCH_EVENTS - 1))
    assert work(store) == []
    assert add(store, *tools(told, 1)) == 0  # the turn goes on
    assert work(store) == [(OBSERVE, 1, BATCH_EVENTS)]
    assert add(store, *tools(told, 3), told.stop()) == 1
    assert work(store) == [(OBSERVE, 1, 3), (SUMMARIZE, 1, 0)]


def test_however_many_come_at_once_a_part_is_never_larger(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *tools(told, 2 * BATCH_EVENTS + 5), told.stop())
    assert work(store) == [
        *((OBSERVE, 1, BATCH_EVENTS), (OBSERVE, 1, BATCH_EVENTS), (OBSERVE, 1, 5)),
        (SUMMARIZE, 1, 0),
    ]


def test_a_part_has_the_oldest_events_of_those_that_wait(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *reversed(tools(told, BATCH_EVENTS)))
    job = store.jobs.claim("test", START, START + HOUR)
    assert job is not None
    times = [event.at for event in store.events.for_job(job.id)]
    assert times == sorted(times)
    assert len(times) == BATCH_EVENTS


def test_a_few_events_are_worked_up_when_they_have_waited_long(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *tools(told, FEWEST - 1))
    told.at += BATCH_AGE
    add(store, *tools(told, 1))
    assert work(store) == [(OBSERVE, 1, FEWEST)]


def test_fewer_than_a_few_wait_however_long(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *tools(told, FEWEST - 2))
    told.at += DAY
    add(store, *tools(told, 1))
    assert work(store) == []


def test_a_slow_turn_is_not_cut_up_while_its_events_are_young(store: Store, told: Told) -> None:
    add(store, told.prompt("one"), *tools(told, FEWEST - 1))
    told.at += BATCH_AGE - MINUTE
    add(store, *tools(told, 1))
    assert work(store) == []


def test_boring_events_and_redelivered_ones_fill_no_part(store: Store, told: Told) -> None:
    used = tools(told, BATCH_EVENTS - 1)
    add(store, told.prompt("one"), *used)
    boring = [told.tool(f"b{n}", boring=True) for n in range(BATCH_EVENTS)]
    add(store, *boring, *(again(u, capture_id=f"again-{n}") for n, u in enumerate(used)))
    assert work(store) == []


@pytest.mark.parametrize("closer", ["prompt", "end", "compact", "stale"])
def test_a_turn_that_was_worked_up_in_parts_only_still_gets_its_summary(
    store: Store, told: Told, closer: str
) -> None:
    """The parts took all of its events, and nothing but what comes next says that it is over."""
    add(store, told.prompt("one"), *tools(told, BATCH_EVENTS))
    match closer:
        case "prompt":
            assert add(store, told.prompt("two")) == 1
        case "stale":
            assert store.sessions.interrupt_stale(told.at + 1, START) == 1
        case _:
            assert add(store, getattr(told, closer)()) == 1
    assert work(store) == [(OBSERVE, 1, BATCH_EVENTS), (OBSERVE, 1, 0), (SUMMARIZE, 1, 0)]
    assert add(store, told.end()) == 0
    assert work(store) == []


def test_a_stop_after_the_last_part_is_worked_up_for_what_was_said(
    store: Store, told: Told
) -> None:
    add(store, told.prompt("one"), *tools(told, BATCH_EVENTS))
    assert add(store, told.stop("We decided to wait.")) == 1
    assert work(store) == [(OBSERVE, 1, BATCH_EVENTS), (OBSERVE, 1, 0), (SUMMARIZE, 1, 0)]


def test_sessions_fill_their_parts_each_for_itself(store: Store, told: Told) -> None:
    other = Told(told.project_id, session="session-2")
    add(store, *tools(told, BATCH_EVENTS - 1), *tools(other, BATCH_EVENTS - 1))
    assert work(store) == []
