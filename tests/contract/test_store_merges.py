"""What every store does when a person folds one observation into another, and takes that back."""

import pytest

from aforesaid.model.jobs import Again
from aforesaid.model.observations import (
    Author,
    Merge,
    Merged,
    Observation,
    ObservationDraft,
    Unmergeable,
)
from aforesaid.recall import brief
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.finding import assert_index_is_sound, index_of, search
from tests.support.memory import Memory

LATER = START + 10**9


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def add(
    memory: Memory,
    title: str,
    *,
    repeats: int | None = None,
    follows: int | None = None,
    session: str | None = None,
) -> Observation:
    draft = ObservationDraft(
        "change", title, facts=(f"{title} holds",), repeats=repeats, follows=follows
    )
    found = memory.turn("p", draft, session=session)
    return memory.store.observations.for_session(found.id)[-1]


def links(store: Store, *observations: Observation) -> list[tuple[int | None, int | None, bool]]:
    found = [store.observations.get(each.id) for each in observations]
    return [(o.draft.repeats, o.draft.follows, o.pinned) for o in found if o is not None]


def told(memory: Memory) -> str:
    return brief.write(memory.store, memory.project_id, 1500).text


def test_what_is_merged_is_told_and_found_through_the_other(store: Store, memory: Memory) -> None:
    one, other = add(memory, "Zebra queue"), add(memory, "Giraffe queue")
    before = index_of(store)
    assert store.observations.merge(one.id, other.id, LATER) == Merged(one.id, other.id)

    assert store.observations.get_merge(one.id) == Merge(one.id, other.id, LATER)
    assert "Zebra" not in told(memory)
    assert "Giraffe" in told(memory)
    assert [hit.id for hit in search(store, "zebra") if hit.kind == "observation"] == []
    assert store.observations.get(one.id) is not None
    assert (one.id, "same") in store.observations.links(other.id)
    assert_index_is_sound(store)

    assert store.observations.unmerge(one.id) == Merged(one.id, other.id)
    assert "Zebra" in told(memory)
    assert store.observations.get_merge(one.id) is None
    assert index_of(store) == before
    assert store.observations.unmerge(one.id) is None


def test_a_second_time_changes_nothing(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    assert store.observations.merge(one.id, other.id, LATER + 1) == Merged(one.id, other.id)
    assert store.observations.get_merge(one.id) == Merge(one.id, other.id, LATER)
    store.observations.unmerge(one.id)
    assert links(store, one, other) == [(None, None, False)] * 2


def test_what_was_folded_into_it_goes_along_and_comes_back(store: Store, memory: Memory) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    other = add(memory, "B")
    assert store.observations.merge(one.id, other.id, LATER) == Merged(one.id, other.id, (same.id,))
    assert links(store, one, same) == [(other.id, None, False)] * 2
    store.observations.unmerge(one.id)
    assert links(store, one, same, other) == [
        (None, None, False),
        (one.id, None, False),
        (None, None, False),
    ]


def test_into_one_that_is_folded_means_what_that_is_folded_into(
    store: Store, memory: Memory
) -> None:
    standing = add(memory, "A")
    folded = add(memory, "A again", repeats=standing.id)
    one = add(memory, "B")
    assert store.observations.merge(one.id, folded.id, LATER) == Merged(one.id, standing.id)


def test_two_can_change_places(store: Store, memory: Memory) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    assert store.observations.merge(one.id, same.id, LATER) == Merged(one.id, same.id)
    assert links(store, one, same) == [(same.id, None, False), (None, None, False)]
    store.observations.unmerge(one.id)
    assert links(store, one, same) == [(None, None, False), (one.id, None, False)]


def test_a_pin_goes_over_to_the_one_that_stands(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.pin(one.id, pinned=True)
    store.observations.merge(one.id, other.id, LATER)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [other.id]
    store.observations.unmerge(one.id)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [one.id]


def test_a_story_goes_on_from_the_one_that_stands_and_never_leads_back(
    store: Store, memory: Memory
) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    later = add(memory, "C", follows=one.id)
    store.observations.merge(one.id, other.id, LATER)
    assert links(store, later) == [(None, other.id, False)]
    store.observations.unmerge(one.id)
    assert links(store, later) == [(None, one.id, False)]
    # Into one that comes after: what lies between still follows the first.
    end = add(memory, "D", follows=later.id)
    store.observations.merge(one.id, end.id, LATER)
    assert links(store, later, end) == [(None, one.id, False), (None, later.id, False)]
    assert "D" in told(memory)


def test_thinking_better_of_it_is_one_merge(store: Store, memory: Memory) -> None:
    one, first, second = (add(memory, title) for title in "ABC")
    store.observations.merge(one.id, first.id, LATER)
    store.observations.merge(one.id, second.id, LATER + 1)
    assert links(store, one) == [(second.id, None, False)]
    store.observations.unmerge(one.id)
    assert links(store, one) == [(None, None, False)]


def test_merged_with_another_since_it_still_comes_out(store: Store, memory: Memory) -> None:
    one, second, third = (add(memory, title) for title in "ABC")
    store.observations.merge(one.id, second.id, LATER)
    store.observations.merge(second.id, third.id, LATER)
    assert links(store, one, second) == [(third.id, None, False)] * 2
    store.observations.unmerge(one.id)
    store.observations.unmerge(second.id)
    assert links(store, one, second) == [(None, None, False)] * 2


@pytest.mark.parametrize("wanted", ["itself", "elsewhere", "nothing", "of nothing"])
def test_what_cannot_be_merged_is_left_as_it_is(store: Store, memory: Memory, wanted: str) -> None:
    one = add(memory, "A")
    elsewhere = add(Memory.of(store, "other"), "B")
    pair = {
        "itself": (one.id, one.id),
        "elsewhere": (one.id, elsewhere.id),
        "nothing": (one.id, 999),
        "of nothing": (999, one.id),
    }[wanted]
    assert isinstance(store.observations.merge(*pair, LATER), Unmergeable)
    assert links(store, one, elsewhere) == [(None, None, False)] * 2


def test_writing_a_turn_anew_leaves_what_a_person_has_merged(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    store.jobs.reprocess(Again(author="another"), LATER)
    memory.at = LATER
    memory.work_up(ObservationDraft("change", "A"), author=Author("another"))
    assert links(store, one) == [(other.id, None, False)]
    standing = [o.draft.title for o in store.observations.recent(memory.project_id, 9)]
    assert sorted(map(str, standing)) == ["A", "B"]  # B's turn says A now, once, beside B


def test_an_edit_takes_it_out(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    store.observations.edit(one.id, ObservationDraft("change", "A, in my words"))
    assert links(store, one) == [(None, None, False)]
    assert store.observations.unmerge(one.id) is None


def test_forgotten_and_restored_it_can_still_be_taken_apart(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    assert store.observations.hide(other.id, LATER) == 2
    assert store.observations.get(one.id) is None
    store.observations.restore(other.id)
    assert links(store, one) == [(other.id, None, False)]
    store.observations.unmerge(one.id)
    assert links(store, one) == [(None, None, False)]


def test_the_opposite_merge_takes_the_place_of_the_first(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(other.id, one.id, LATER)
    assert store.observations.merge(one.id, other.id, LATER + 1) == Merged(one.id, other.id)
    assert links(store, one, other) == [(other.id, None, False), (None, None, False)]
    assert store.observations.get_merge(other.id) is None, (
        "it stands: there is nothing to take back"
    )
    assert store.observations.unmerge(other.id) is None
    store.observations.unmerge(one.id)
    assert links(store, one, other) == [(None, None, False)] * 2


@pytest.mark.parametrize("automatic", [True, False])
def test_taken_back_in_another_order_nothing_is_folded_into_what_is_folded(
    store: Store, memory: Memory, automatic: bool
) -> None:
    one = add(memory, "A")
    second = add(memory, "B", repeats=one.id if automatic else None)
    third = add(memory, "C")
    if not automatic:
        store.observations.merge(second.id, one.id, LATER)
    store.observations.merge(one.id, second.id, LATER)
    store.observations.merge(third.id, one.id, LATER)
    assert links(store, one, second, third)[0::2] == [(second.id, None, False)] * 2
    store.observations.unmerge(one.id)
    first = one.id if automatic else None
    assert links(store, second, third) == [(first, None, False), (first or second.id, None, False)]
    store.observations.unmerge(third.id)
    assert links(store, one, second, third) == [
        (None, None, False),
        (first, None, False),
        (None, None, False),
    ]


def test_pins_and_stories_are_as_before_in_whichever_order_merges_are_taken_back(
    store: Store, memory: Memory
) -> None:
    one, second, third = (add(memory, title) for title in "ABC")
    later = add(memory, "D", follows=one.id)
    store.observations.pin(one.id, pinned=True)
    before = links(store, one, second, third, later)
    store.observations.merge(one.id, second.id, LATER)
    store.observations.merge(second.id, third.id, LATER)
    assert links(store, third, later) == [(None, None, True), (None, third.id, False)]
    store.observations.unmerge(one.id)
    store.observations.unmerge(second.id)
    assert links(store, one, second, third, later) == before


def test_a_pin_that_came_with_a_merge_is_taken_away_for_good(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.pin(one.id, pinned=True)
    store.observations.merge(one.id, other.id, LATER)
    store.observations.pin(other.id, pinned=False)
    assert store.observations.pinned(memory.project_id) == []
    store.observations.unmerge(one.id)
    assert store.observations.pinned(memory.project_id) == []


def test_who_pins_what_is_merged_pins_what_stands_for_it(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    store.observations.pin(one.id, pinned=True)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [other.id]
    store.observations.unmerge(one.id)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [one.id]


def test_what_was_merged_into_the_forgotten_goes_with_it(store: Store, memory: Memory) -> None:
    """It would take its place, or be folded into the third with nobody left who has said so."""
    one, second, third = (add(memory, title) for title in "ABC")
    same = add(memory, "B again", repeats=second.id)
    store.observations.merge(one.id, second.id, LATER)
    store.observations.merge(second.id, third.id, LATER)
    assert store.observations.hide(second.id, LATER) == 3
    assert [store.observations.get(each.id) for each in (one, second, same)] == [None] * 3
    assert links(store, third) == [(None, None, False)]
    store.observations.restore(second.id)
    assert links(store, one, second, same) == [(third.id, None, False)] * 3
    store.observations.unmerge(second.id)
    assert links(store, one, second, same) == [
        (second.id, None, False),
        (None, None, False),
        (second.id, None, False),
    ]


def test_an_edit_that_is_taken_back_is_merged_again(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    same = add(memory, "A again", repeats=one.id)
    store.observations.merge(one.id, other.id, LATER)
    before = (
        links(store, one, other, same),
        store.observations.get_merge(one.id),
        index_of(store)["documents"],
    )
    store.observations.edit(one.id, ObservationDraft("change", "A, in my words"))
    assert links(store, one, same) == [(None, None, False), (one.id, None, False)]
    assert store.observations.undo_edit(one.id)
    assert before == (
        links(store, one, other, same),
        store.observations.get_merge(one.id),
        index_of(store)["documents"],
    )
    assert not store.observations.undo_edit(one.id)


def test_an_edit_taken_back_leaves_what_was_merged_since(store: Store, memory: Memory) -> None:
    one, first, second = (add(memory, title) for title in "ABC")
    store.observations.merge(one.id, first.id, LATER)
    store.observations.edit(one.id, ObservationDraft("change", "A, in my words"))
    store.observations.merge(one.id, second.id, LATER)
    assert store.observations.undo_edit(one.id)
    assert links(store, one) == [(second.id, None, False)]
    found = store.observations.get(one.id)
    assert found is not None
    assert (found.draft.title, found.edited) == ("A", False)


def test_an_edit_can_be_taken_back_when_what_it_was_folded_into_is_gone(
    store: Store, memory: Memory
) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    store.observations.edit(same.id, ObservationDraft("change", "Mine"))
    store.observations.hide(one.id, LATER)
    assert store.observations.undo_edit(same.id)
    assert links(store, same) == [(None, None, False)]
    store.observations.restore(one.id)
    assert links(store, same) == [(one.id, None, False)]


def test_what_stands_in_a_persons_words_is_folded_again_only_without_them(
    store: Store, memory: Memory
) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    store.observations.edit(same.id, ObservationDraft("change", "Mine"))
    store.observations.hide(one.id, LATER)
    store.observations.undo_edit(same.id)
    store.observations.edit(same.id, ObservationDraft("change", "Mine after all"))
    store.observations.restore(one.id)
    assert links(store, same) == [(None, None, False)]
    store.observations.undo_edit(same.id)
    assert links(store, same) == [(one.id, None, False)]


def test_an_edit_and_a_merge_taken_back_leave_it_as_it_was(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    same = add(memory, "A again", repeats=one.id)
    store.observations.edit(same.id, ObservationDraft("change", "Mine"))
    store.observations.merge(same.id, other.id, LATER)
    store.observations.undo_edit(same.id)
    assert links(store, same) == [(other.id, None, False)]
    store.observations.unmerge(same.id)
    assert links(store, same) == [(one.id, None, False)]


@pytest.mark.parametrize("again", [(1, 0), (0, 1)])
def test_a_merge_holds_again_in_whichever_order_its_two_come_back(
    store: Store, memory: Memory, again: tuple[int, int]
) -> None:
    both = [add(memory, "A"), add(memory, "B")]
    store.observations.merge(both[1].id, both[0].id, LATER)
    store.observations.hide(both[1].id, LATER)
    store.observations.hide(both[0].id, LATER)
    for which in again:
        store.observations.restore(both[which].id)
    assert links(store, both[1]) == [(both[0].id, None, False)]
    assert store.observations.get_merge(both[1].id) == Merge(both[1].id, both[0].id, LATER)
    store.observations.unmerge(both[1].id)
    assert links(store, both[1]) == [(None, None, False)]


def test_what_is_taken_out_stands_by_itself_whatever_it_was_merged_into_before(
    store: Store, memory: Memory
) -> None:
    one, first, second = (add(memory, title) for title in "ABC")
    store.observations.merge(one.id, first.id, LATER)
    store.observations.merge(one.id, second.id, LATER)
    store.observations.unmerge(one.id)
    assert links(store, one) == [(None, None, False)]
