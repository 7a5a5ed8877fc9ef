"""Whatever is written, the index is what a rebuild would make of it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import HOUR
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.jobs import OBSERVE, Again
from aforesaid.model.observations import Author, Doubt, ObservationDraft, SummaryDraft
from aforesaid.store.store import Store
from tests.contract.test_store_transfer import MEMORY, exported, taken
from tests.support.arrivals import START
from tests.support.blank import laid
from tests.support.examples import examples
from tests.support.finding import assert_index_is_sound, index_all, index_of, search
from tests.support.generated_stores import DEEDS, Deed, Doer
from tests.support.memory import Memory

ENCODER = StaticTable()
LATER = START + 10_000 * HOUR
DOUBT = (Doubt("title", "it occurs nowhere"),)
# What Doer does not: (what, which one of those there are).
MORE = st.lists(
    st.tuples(st.sampled_from(["again", "forget", "restore", "drop"]), st.integers(0, 9)),
    max_size=4,
)


@contextmanager
def opened() -> Iterator[tuple[Store, Path]]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        file = Path(folder) / "one" / "aforesaid.db"
        store = Store(laid(file), writer=True, encoder=ENCODER)
        yield store, Path(folder)
        store.close()


def assert_as_rebuilt(store: Store) -> None:
    index_all(store)
    made = index_of(store)
    assert_index_is_sound(store)
    assert made["waiting"] == []
    store.index.reset()
    index_all(store)
    assert_index_is_sound(store)
    for name, rows in index_of(store).items():
        assert made[name] == rows, name


def do(store: Store, what: str, number: int) -> None:
    sessions = store.sessions.recent(None, 99)
    observations = [o.id for s in sessions for o in store.observations.for_session(s.id)]
    match what:
        case "again":
            store.jobs.reprocess(Again("somebody else"), LATER)
            while job := store.jobs.claim("test", LATER, LATER + HOUR):
                if job.kind == OBSERVE:
                    drafts = [ObservationDraft("change", "again")] * (number % 3)
                    store.jobs.finish_observations(
                        job, Author("again"), drafts, job.id + START, LATER
                    )
                else:
                    summary = SummaryDraft("again") if number % 2 else None
                    store.jobs.finish_summary(job, Author("again"), summary, LATER, LATER)
        case "forget" if observations:
            store.observations.hide(observations[number % len(observations)], LATER)
        case "restore":
            gone = [
                f.observation_id
                for p in store.projects.all()
                for f in store.observations.hidden([p.id])
            ]
            for each in gone[: number % 2 + 1]:
                store.observations.restore(each)
        case "drop" if sessions:
            session = sessions[number % len(sessions)]
            store.sessions.drop(session.id, session.project_id)


@examples(8)
@given(DEEDS, MORE)
def test_after_any_writes_the_index_is_what_a_rebuild_makes(
    deeds: list[Deed], more: list[tuple[str, int]]
) -> None:
    with opened() as (store, folder):
        doer = Doer(store)
        for deed in deeds:
            doer.do(deed)
        for what, number in more:
            do(store, what, number)
        assert_as_rebuilt(store)
        other = Store(laid(folder / "two" / "aforesaid.db"), writer=True, encoder=ENCODER)
        taken(other, exported(store, folder / "export"))
        assert_as_rebuilt(other)
        other.close()


@pytest.fixture
def memory() -> Iterator[Memory]:
    with opened() as (store, _):
        yield Memory.of(store, "shop")


def store_of(memory: Memory) -> Store:
    assert isinstance(memory.store, Store)
    return memory.store


def draft(
    title: str,
    *,
    follows: int | None = None,
    repeats: int | None = None,
    doubts: tuple[Doubt, ...] = (),
) -> ObservationDraft:
    facts = (f"{title} fact",)
    return ObservationDraft(
        "change", title, facts=facts, follows=follows, repeats=repeats, doubts=doubts
    )


def test_a_story_that_goes_on_behind_a_doubted_one_reaches_its_beginning(memory: Memory) -> None:
    memory.turn("p", draft("one"))
    memory.turn("p", draft("two", follows=1, doubts=DOUBT))
    assert_as_rebuilt(store_of(memory))
    memory.turn("p", draft("three", follows=2))
    assert_as_rebuilt(store_of(memory))
    (hit,) = search(memory.store, "one", types=("change",), limit=1)
    assert hit.superseded


def test_a_follower_that_goes_leaves_its_story_as_it_was(memory: Memory) -> None:
    memory.turn("p", draft("one"))
    memory.turn("p", draft("two", follows=1, doubts=DOUBT))
    last = memory.turn("p", draft("three", follows=2))
    memory.store.sessions.drop(last.id, memory.project_id)
    assert_as_rebuilt(store_of(memory))


def test_a_part_of_a_long_story_costs_no_more_than_of_a_short_one(memory: Memory) -> None:
    """Documents are only ever replaced by some with higher numbers."""
    costs = []
    for number in range(50):
        before = memory.store.index.newest_document()
        memory.turn("p", draft(f"part {number}", follows=number or None))
        costs.append(memory.store.index.newest_document() - before)
    assert set(costs[1:]) == {costs[0] + 1}  # the one before it, which is superseded now
    assert_as_rebuilt(store_of(memory))
    hits = search(memory.store, "part", types=("change",), limit=50)
    assert {hit.id for hit in hits if not hit.superseded} == {50}


@pytest.mark.parametrize("odd", range(1, 8))
@pytest.mark.parametrize("how", ["doubts", "repeats"])
def test_what_happens_at_the_end_of_a_story_reaches_back_as_far_as_it_counts(
    memory: Memory, odd: int, how: str
) -> None:
    """Some of its middle parts are doubted or fold another: these take nobody's place."""
    store = store_of(memory)
    memory.turn("p", draft("one"), draft("aside"))
    last = 1
    for number in range(3):
        is_odd = odd >> number & 1
        doubts = DOUBT if is_odd and how == "doubts" else ()
        memory.turn("p", draft(f"middle {number}", follows=last, doubts=doubts))
        last = number + 3
        if is_odd and how == "repeats":  # `_link` would lead on to what it is folded into
            with store.database.transaction() as connection:
                connection.execute("UPDATE observations SET repeats = 2 WHERE id = ?", (last,))
        assert_as_rebuilt(store)
    end = memory.turn("p", draft("end"))
    with store.database.transaction() as connection:
        connection.execute("UPDATE observations SET follows = ? WHERE id = 6", (last,))
    assert_as_rebuilt(store)
    with store.database.transaction() as connection:
        connection.execute(
            "INSERT INTO observation_doubts (observation_id, ordinal, part, reason)"
            " VALUES (6, 0, 'title', 'it occurs nowhere')"
        )
    assert_as_rebuilt(store)
    with store.database.transaction() as connection:
        connection.execute("DELETE FROM observation_doubts WHERE observation_id = 6")
    assert_as_rebuilt(store)
    store.sessions.drop(end.id, memory.project_id)
    assert_as_rebuilt(store)


def test_a_repetition_stands_by_itself_when_the_first_one_goes(memory: Memory) -> None:
    first = memory.turn("p", draft("one"))
    memory.turn("p", draft("two", repeats=1))
    assert_as_rebuilt(store_of(memory))
    memory.store.sessions.drop(first.id, memory.project_id)
    assert_as_rebuilt(store_of(memory))


def test_a_turn_that_is_worked_up_again_to_nothing_leaves_nothing(memory: Memory) -> None:
    memory.turn("p", draft("one"), summary=SummaryDraft("asked"))
    do(store_of(memory), "again", 0)
    assert_as_rebuilt(store_of(memory))
    assert [hit.kind for hit in search(memory.store, "one asked", level="sessions")] == []


def test_what_is_pinned_edited_and_freed_of_doubt_is_indexed_again(memory: Memory) -> None:
    memory.turn("p", draft("one", doubts=DOUBT))
    memory.store.observations.pin(1, pinned=True)
    assert_as_rebuilt(store_of(memory))
    memory.store.observations.edit(1, ObservationDraft("decision", "other", concepts=("fresh",)))
    assert_as_rebuilt(store_of(memory))
    memory.store.observations.pin(1, pinned=False)
    assert_as_rebuilt(store_of(memory))


def test_more_than_a_transaction_takes_is_indexed_later(memory: Memory) -> None:
    memory.turn("p", *(draft(f"number {n}") for n in range(400)))
    assert memory.store.index.health().waiting > 0
    assert_as_rebuilt(store_of(memory))
    assert memory.store.index.health().waiting == 0
