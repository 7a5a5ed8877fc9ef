"""What every store does with work: leased, fenced, retried, parked, acknowledged with its effect."""

import sqlite3
from dataclasses import replace

import pytest

from aforesaid.clock import HOUR, MINUTE, SECOND
from aforesaid.model.jobs import MAX_TRIES, OBSERVE, SUMMARIZE, Fenced, Job
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told
from tests.support.memory import TEST

NOW = START + HOUR
LEASE = MINUTE
DRAFT = ObservationDraft("change", "It changed")


@pytest.fixture
def turn(store: Store, told: Told) -> Told:
    """One turn that is over: an observe job, and a summarize job behind it."""
    store.events.add([told.prompt("one"), told.tool("t1"), told.stop()], NOW)
    return told


def claim(store: Store, *, now: int = NOW, holder: str = "worker-1") -> Job:
    job = store.jobs.claim(holder, now, now + LEASE)
    assert job is not None
    return job


def finish(store: Store, job: Job, *, now: int = NOW) -> object:
    if job.kind == OBSERVE:
        return store.jobs.finish_observations(job, TEST, [DRAFT], NOW, now)
    return store.jobs.finish_summary(job, TEST, SummaryDraft("one"), NOW, now)


def nothing_due(store: Store, now: int = NOW) -> bool:
    return store.jobs.claim("worker-1", now, now + LEASE) is None


def test_jobs_are_claimed_oldest_first_and_one_at_a_time_per_session(
    store: Store, turn: Told
) -> None:
    first = claim(store)
    assert (first.kind, first.tries, first.holder) == (OBSERVE, 1, "worker-1")
    assert nothing_due(store)
    finish(store, first)
    assert claim(store).kind == SUMMARIZE
    assert nothing_due(store)


def test_sessions_do_not_wait_for_each_other(store: Store, turn: Told) -> None:
    other = Told(turn.project_id, session="session-2")
    store.events.add([other.prompt("two"), other.tool("u1"), other.stop()], NOW)
    first, second = claim(store), claim(store, holder="worker-2")
    assert (first.kind, second.kind) == (OBSERVE, OBSERVE)
    assert first.session_id != second.session_id


def test_a_lease_that_ran_out_is_up_for_grabs_again(store: Store, turn: Told) -> None:
    """T16: after its time anybody may take it."""
    first = claim(store)
    assert nothing_due(store, NOW + LEASE - 1)
    second = claim(store, now=NOW + LEASE, holder="worker-2")
    assert (second.id, second.tries, second.holder) == (first.id, 2, "worker-2")


def test_an_old_lease_has_no_effect_any_more(store: Store, turn: Told) -> None:
    """T17: what a fenced holder brings is refused."""
    paused = claim(store)
    other = claim(store, now=NOW + LEASE)
    assert isinstance(finish(store, paused), Fenced)
    store.jobs.retry(paused, "late", NOW + HOUR)
    store.jobs.skip(paused, "late", NOW)
    assert (store.health().observations, store.jobs.skipped()) == (0, [])
    assert finish(store, other) == (1,)
    assert isinstance(finish(store, other), Fenced)
    assert store.health().observations == 1


def test_an_old_summary_has_no_effect_any_more(store: Store, turn: Told) -> None:
    """T17: the same for summaries."""
    finish(store, claim(store))
    paused = claim(store)
    other = claim(store, now=NOW + LEASE)
    assert isinstance(finish(store, paused), Fenced)
    assert finish(store, other) == 1


def test_somebody_else_with_the_same_number_of_tries_is_fenced_too(
    store: Store, turn: Told
) -> None:
    job = claim(store)
    assert isinstance(finish(store, replace(job, holder="worker-2")), Fenced)


def test_a_retry_waits_until_it_is_due_and_its_session_waits_with_it(
    store: Store, turn: Told
) -> None:
    store.jobs.retry(claim(store), "the provider said \ud800 no", NOW + MINUTE)
    assert nothing_due(store)
    assert store.jobs.next_due() == NOW + MINUTE
    again = claim(store, now=NOW + MINUTE)
    assert (again.kind, again.tries) == (OBSERVE, 2)


def test_a_job_that_nobody_could_do_waits_and_burns_no_try(store: Store, turn: Told) -> None:
    for _ in range(MAX_TRIES + 1):
        job = claim(store)
        assert job.tries == 1
        store.jobs.postpone(job, "the quota is used \ud800 up", NOW)
    store.jobs.postpone(claim(store), "the quota is used up", NOW + MINUTE)
    assert nothing_due(store)
    assert (store.jobs.next_due(), store.health().skipped) == (NOW + MINUTE, 0)
    assert claim(store, now=NOW + MINUTE).tries == 1


def test_nothing_is_due_while_a_job_is_being_worked_on(store: Store, turn: Told) -> None:
    """The summary behind it must not make the worker look again and again."""
    assert store.jobs.next_due() == NOW
    claim(store)
    assert store.jobs.next_due() == NOW + LEASE


def test_a_skipped_job_is_listed_and_no_longer_in_the_way(store: Store, turn: Told) -> None:
    job = claim(store)
    store.jobs.skip(job, "it is hopeless \udcff", NOW)
    (row,) = store.jobs.skipped()
    assert (row.id, row.state, row.tries) == (job.id, "skipped", 1)
    assert row.last_error is not None
    assert row.last_error.startswith("it is hopeless")
    assert store.health().skipped == 1
    assert claim(store).kind == SUMMARIZE


def test_a_skipped_job_can_be_taken_up_again(store: Store, turn: Told) -> None:
    job = claim(store)
    store.jobs.skip(job, "no", NOW)
    assert store.jobs.requeue_skipped(job.id + 100, NOW) == 0
    assert store.jobs.requeue_skipped(job.id, NOW) == 1
    assert store.jobs.requeue_skipped(None, NOW) == 0
    again = claim(store)
    assert (again.id, again.tries) == (job.id, 1)
    assert finish(store, again) == (1,)


def test_a_job_that_ends_the_worker_three_times_is_parked_and_the_rest_goes_on(
    store: Store, turn: Told
) -> None:
    """T20: tries are counted when a job is taken, not when it fails."""
    now = NOW
    for tries in range(1, MAX_TRIES + 1):
        assert claim(store, now=now).tries == tries
        now += LEASE
    assert claim(store, now=now).kind == SUMMARIZE
    (parked,) = store.jobs.skipped()
    assert parked.last_error is not None
    assert "while it was working on this" in parked.last_error


def test_the_queue_tells_how_long_it_has_been_waiting(store: Store, turn: Told) -> None:
    health = store.health()
    assert (health.pending, health.oldest_pending, health.last_done) == (2, NOW, None)
    finish(store, claim(store), now=NOW + SECOND)
    health = store.health()
    assert (health.pending, health.last_done) == (1, NOW + SECOND)
    finish(store, claim(store), now=NOW + SECOND)
    health = store.health()
    assert (health.pending, health.oldest_pending, store.jobs.next_due()) == (0, None, None)


def test_an_effect_that_cannot_be_stored_leaves_the_job_waiting(store: Store, turn: Told) -> None:
    """Acknowledgement and effect are one transaction."""
    job = claim(store)
    facts: tuple[str, ...] = (None,)  # type: ignore[assignment]
    with pytest.raises(sqlite3.IntegrityError):
        store.jobs.finish_observations(job, TEST, [replace(DRAFT, facts=facts)], NOW, NOW)
    assert store.health().observations == 0
    assert finish(store, job) == (1,)


def test_a_new_worker_takes_over_at_once_what_a_dead_one_held(store: Store, turn: Told) -> None:
    """T16: nobody waits for the lease of a worker that is gone."""
    first = claim(store, holder="dead")
    assert nothing_due(store)
    assert store.jobs.release_leases() == 1
    second = claim(store)
    assert (second.id, second.tries) == (first.id, 2)
    assert isinstance(finish(store, first), Fenced)
