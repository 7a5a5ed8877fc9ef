"""What somebody wants forgotten: gone at once, back as it was."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.jobs import Again
from recollect.model.observations import Author, Doubt, Observation, ObservationDraft
from recollect.model.search import Filters
from recollect.recall import brief
from recollect.store.protocol import Store
from recollect.terms import asked
from tests.support.arrivals import START
from tests.support.memory import Memory

LATER = START + 10**9


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def found(store: Store, words: str) -> list[int]:
    terms = [term for word in words.split() for term in asked(word)]
    return [key for key, _ in store.matching_documents(terms, Filters(), 50)]


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
    assert store.forget_observation(before.id, LATER) == 1

    assert store.observation(before.id) is None
    assert store.observations_of_session(session.id) == []
    prompts = {each.id for each in store.documents(found(store, "lease")) if each.kind == "prompt"}
    assert set(found(store, "lease")) == prompts
    assert "Lease race" not in brief.write(store, memory.project_id, 1500).text
    (gone,) = store.forgotten(memory.project_id)
    assert (gone.observation_id, gone.at, gone.title) == (before.id, LATER, "Lease race")

    assert store.restore_observation(before.id)
    assert store.observation(before.id) == before
    assert len(found(store, "lease race")) == len(documents)
    assert store.matching_facts(asked("holder"), [before.id])
    assert store.forgotten(memory.project_id) == []
    assert not store.restore_observation(before.id)


def test_its_session_is_no_longer_found_by_its_title(store: Store, memory: Memory) -> None:
    memory.turn("Work", full(title="Zanzibar protocol"))
    assert found(store, "zanzibar")
    store.forget_observation(memory.newest().id, LATER)
    assert found(store, "zanzibar") == []


def test_what_was_folded_into_it_goes_and_comes_along(store: Store, memory: Memory) -> None:
    memory.turn("One", full())
    first = memory.newest()
    memory.turn("Two", full(repeats=first.id))
    memory.turn("Three", full(title="Later", follows=first.id))
    before = all_of(store, memory)
    assert len(before) == 3
    assert store.forget_observation(first.id, LATER) == 2
    assert [each.draft.title for each in all_of(store, memory)] == ["Later"]
    assert store.restore_observation(first.id)
    assert all_of(store, memory) == before


def test_another_may_stand_in_its_place_when_it_comes_back(store: Store, memory: Memory) -> None:
    session = memory.turn("One", full(), author=Author("rules"))
    gone = memory.newest()
    store.forget_observation(gone.id, LATER)
    store.do_again(Again("test"), LATER)
    memory.at = LATER
    memory.work_up(full(title="Written anew"))
    assert store.restore_observation(gone.id)
    assert store.observation(gone.id) == gone
    titles = {each.draft.title for each in store.observations_of_session(session.id)}
    assert titles == {"Lease race", "Written anew"}


def test_what_is_not_there_cannot_be_forgotten_or_restored(store: Store, memory: Memory) -> None:
    assert store.forget_observation(99, LATER) is None
    assert not store.restore_observation(99)
    memory.turn("One", full())
    store.forget_observation(memory.newest().id, LATER)
    assert store.forget_observation(1, LATER) is None


def test_what_a_session_forgot_goes_with_it(store: Store, memory: Memory) -> None:
    session = memory.turn("One", full())
    key = memory.newest().id
    store.forget_observation(key, LATER)
    store.drop_session(session.id, memory.project_id)
    assert not store.restore_observation(key)


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
    before = store.recent_observations(memory.project_id, 1)[0]
    store.forget_observation(before.id, LATER)
    assert store.observation(before.id) is None
    assert store.restore_observation(before.id)
    assert store.observation(before.id) == before


def all_of(store: Store, memory: Memory) -> list[Observation]:
    sessions = store.sessions(memory.project_id, 50)
    return [each for s in sessions for each in store.observations_of_session(s.id)]


def test_what_was_forgotten_comes_by_the_page(store: Store, memory: Memory) -> None:
    other = Memory.of(store, "other")
    for number, each in enumerate((memory, other, memory, memory)):
        each.turn("Work", full(title=f"Thing {number}"))
        store.forget_observation(each.newest().id, LATER + number // 2)
    projects = [memory.project_id, other.project_id]
    first = store.forgotten_page(projects, None, 3)
    last = (first[-1].at, first[-1].observation_id)
    rest = store.forgotten_page(projects, last, 3)
    assert [each.title for each in (*first, *rest)] == [f"Thing {n}" for n in (3, 2, 1, 0)]
    assert store.forgotten_page([memory.project_id], None, 9) == store.forgotten(memory.project_id)
    assert store.was_forgotten(first[0].observation_id) == first[0]
    assert store.was_forgotten(999) is None


@pytest.mark.parametrize("forgotten", [(1, 2), (2, 1)])
@pytest.mark.parametrize("restored", [(1, 2), (2, 1)])
def test_a_story_goes_on_in_whichever_order_its_parts_come_back(
    store: Store, memory: Memory, forgotten: tuple[int, int], restored: tuple[int, int]
) -> None:
    memory.turn("p", ObservationDraft("change", "begun"))
    memory.turn("p", ObservationDraft("change", "carried on", follows=1))
    for key in forgotten:
        store.forget_observation(key, LATER)
    for key in restored:
        assert store.restore_observation(key)
    found = store.observation(2)
    assert found is not None
    assert found.draft.follows == 1


def test_an_edit_can_be_taken_back_after_it_was_forgotten_and_restored(
    store: Store, memory: Memory
) -> None:
    memory.turn("p", full())
    before = store.observation(1)
    store.edit(1, ObservationDraft("decision", "In my words"))
    store.forget_observation(1, LATER)
    assert not store.unedit(1)
    store.restore_observation(1)
    assert store.edits_of(1) == 1
    assert store.unedit(1)
    assert store.observation(1) == before
