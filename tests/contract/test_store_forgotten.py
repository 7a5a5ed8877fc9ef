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
