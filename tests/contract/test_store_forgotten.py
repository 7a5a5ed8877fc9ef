"""What somebody wants forgotten: gone at once, back as it was."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.jobs import Again
from aforesaid.model.observations import Author, Doubt, Observation, ObservationDraft
from aforesaid.model.search import Filters
from aforesaid.recall import brief
from aforesaid.store.store import Store
from aforesaid.terms import query_terms
from tests.support.arrivals import START
from tests.support.memory import Memory

LATER = START + 10**9


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def found(store: Store, words: str) -> list[int]:
    terms = [term for word in words.split() for term in query_terms(word)]
    return [key for key, _ in store.index.match_documents(terms, Filters(), 50)]


def full(**changes: object) -> ObservationDraft:
    draft = ObservationDraft(
        type="bugfix",
        title="Lease race",
        subtitle="Two workers took one job",
        facts=("The lease is taken in one statement", "Nobody checked the holder"),
        narrative="They raced for it.",
        concepts=("leases", "queues"),
        files_read=("src/queue.py",),
        files_modified=("src/jobs.py",),
        doubts=(Doubt("facts 1", "nothing says so"),),
        revision="abc123",
        blobs=(("src/jobs.py", "0" * 40),),
    )
    return replace(draft, **changes)  # type: ignore[arg-type]


def test_a_forgotten_observation_is_nowhere_and_comes_back_as_it_was(
    store: Store, memory: Memory
) -> None:
    session = memory.turn("Fix the race", full())
    before = memory.newest()
    documents = set(found(store, "lease race"))
    assert store.observations.hide(before.id, LATER) == 1

    assert store.observations.get(before.id) is None
    assert store.observations.for_session(session.id) == []
    prompts = {
        each.id for each in store.index.documents(found(store, "lease")) if each.kind == "prompt"
    }
    assert set(found(store, "lease")) == prompts
    assert "Lease race" not in brief.write(store, memory.project_id, 1500).text
    (gone,) = store.observations.hidden([memory.project_id])
    assert (gone.observation_id, gone.at, gone.title) == (before.id, LATER, "Lease race")

    assert store.observations.restore(before.id)
    assert store.observations.get(before.id) == before
    assert len(found(store, "lease race")) == len(documents)
    assert store.index.match_facts(query_terms("holder"), [before.id])
    assert store.observations.hidden([memory.project_id]) == []
    assert not store.observations.restore(before.id)


def test_its_session_is_no_longer_found_by_its_title(store: Store, memory: Memory) -> None:
    memory.turn("Work", full(title="Zanzibar protocol"))
    assert found(store, "zanzibar")
    store.observations.hide(memory.newest().id, LATER)
    assert found(store, "zanzibar") == []


def test_what_was_folded_into_it_goes_and_comes_along(store: Store, memory: Memory) -> None:
    memory.turn("One", full())
    first = memory.newest()
    memory.turn("Two", full(repeats=first.id))
    memory.turn("Three", full(title="Later", follows=first.id))
    before = all_of(store, memory)
    assert len(before) == 3
    assert store.observations.hide(first.id, LATER) == 2
    assert [each.draft.title for each in all_of(store, memory)] == ["Later"]
    assert store.observations.restore(first.id)
    assert all_of(store, memory) == before


def test_another_may_stand_in_its_place_when_it_comes_back(store: Store, memory: Memory) -> None:
    session = memory.turn("One", full(), author=Author("rules"))
    gone = memory.newest()
    store.observations.hide(gone.id, LATER)
    store.jobs.reprocess(Again("test"), LATER)
    memory.at = LATER
    memory.work_up(full(title="Written again"))
    assert store.observations.restore(gone.id)
    assert store.observations.get(gone.id) == gone
    titles = {each.draft.title for each in store.observations.for_session(session.id)}
    assert titles == {"Lease race", "Written again"}


def test_what_is_not_there_cannot_be_forgotten_or_restored(store: Store, memory: Memory) -> None:
    assert store.observations.hide(99, LATER) is None
    assert not store.observations.restore(99)
    memory.turn("One", full())
    store.observations.hide(memory.newest().id, LATER)
    assert store.observations.hide(1, LATER) is None


def test_what_a_session_forgot_goes_with_it(store: Store, memory: Memory) -> None:
    session = memory.turn("One", full())
    key = memory.newest().id
    store.observations.hide(key, LATER)
    store.sessions.drop(session.id, memory.project_id)
    assert not store.observations.restore(key)


TEXT = st.text(max_size=60)


@given(
    st.builds(
        ObservationDraft,
        type=st.sampled_from(("decision", "bugfix")),
        title=st.none() | TEXT,
        facts=st.lists(TEXT, max_size=3).map(tuple),
        narrative=st.none() | TEXT,
        concepts=st.lists(TEXT, max_size=3).map(tuple),
        files_modified=st.lists(TEXT, max_size=3).map(tuple),
    )
)
def test_any_observation_comes_back_as_it_was(store: Store, draft: ObservationDraft) -> None:
    memory = Memory.of(store, "any")
    memory.sessions.clear()
    memory.turn("Work", draft, session=f"s{store.health().sessions}")
    before = store.observations.recent(memory.project_id, 1)[0]
    store.observations.hide(before.id, LATER)
    assert store.observations.get(before.id) is None
    assert store.observations.restore(before.id)
    assert store.observations.get(before.id) == before


def all_of(store: Store, memory: Memory) -> list[Observation]:
    sessions = store.sessions.recent(memory.project_id, 50)
    return [each for s in sessions for each in store.observations.for_session(s.id)]


def test_what_was_forgotten_comes_by_the_page(store: Store, memory: Memory) -> None:
    other = Memory.of(store, "other")
    for number, each in enumerate((memory, other, memory, memory)):
        each.turn("Work", full(title=f"Thing {number}"))
        store.observations.hide(each.newest().id, LATER + number // 2)
    projects = [memory.project_id, other.project_id]
    first = store.observations.hidden(projects, None, 3)
    last = (first[-1].at, first[-1].observation_id)
    rest = store.observations.hidden(projects, last, 3)
    assert [each.title for each in (*first, *rest)] == [f"Thing {n}" for n in (3, 2, 1, 0)]
    assert store.observations.hidden([memory.project_id], None, 9) == store.observations.hidden(
        [memory.project_id]
    )
    assert store.observations.get_hidden(first[0].observation_id) == first[0]
    assert store.observations.get_hidden(999) is None


@pytest.mark.parametrize("forgotten", [(1, 2), (2, 1)])
@pytest.mark.parametrize("restored", [(1, 2), (2, 1)])
def test_a_story_goes_on_in_whichever_order_its_parts_come_back(
    store: Store, memory: Memory, forgotten: tuple[int, int], restored: tuple[int, int]
) -> None:
    memory.turn("p", ObservationDraft("change", "begun"))
    memory.turn("p", ObservationDraft("change", "carried on", follows=1))
    for key in forgotten:
        store.observations.hide(key, LATER)
    for key in restored:
        assert store.observations.restore(key)
    found = store.observations.get(2)
    assert found is not None
    assert found.draft.follows == 1


def test_an_edit_can_be_taken_back_after_it_was_forgotten_and_restored(
    store: Store, memory: Memory
) -> None:
    memory.turn("p", full())
    before = store.observations.get(1)
    store.observations.edit(1, ObservationDraft("decision", "In my words"))
    store.observations.hide(1, LATER)
    assert not store.observations.undo_edit(1)
    store.observations.restore(1)
    assert store.observations.count_edits(1) == 1
    assert store.observations.undo_edit(1)
    assert store.observations.get(1) == before
