"""What an erasure comes to: what was forgotten is no hiding place, and no reply outlives its turn."""

import pytest

from recollect.model.erasing import Erasure, Rows
from recollect.model.observations import ObservationDraft
from recollect.store.protocol import Store
from tests.support.memory import Memory


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def forgotten_with_a_folded_one(store: Store, memory: Memory) -> int:
    """Of two sessions, a turn each; the second said the same as the first."""
    memory.turn("One", ObservationDraft("bugfix", "The pump leaks", evidence=(2,)))
    first = memory.newest().id
    memory.turn("Two", ObservationDraft("bugfix", "The pump leaks", repeats=first))
    assert store.forget_observation(first, memory.at) == 2
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
    assert store.reach(rows).rows.forgotten == {first}
    for _ in store.erase(store.reach(rows).rows, memory.at):
        pass
    assert not store.restore_observation(first)


def test_what_was_forgotten_elsewhere_stays(store: Store, memory: Memory) -> None:
    first = forgotten_with_a_folded_one(store, memory)
    memory.turn("Three", ObservationDraft("bugfix", "Another thing"))
    assert not store.reach(store.rows_of(Erasure("prompt", id=3))).rows.forgotten
    assert store.restore_observation(first)
