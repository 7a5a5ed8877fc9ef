"""What every store does when a person folds one observation into another, and takes that back."""

import pytest

from aforesaid.model.jobs import Again
from aforesaid.model.observations import (
    Author,
    Merge,
    Observation,
    ObservationDraft,
    Unusable,
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


def standing(memory: Memory) -> list[str | None]:
    return [each.draft.title for each in memory.store.observations.recent(memory.project_id, 9)]


def told(memory: Memory) -> str:
    return brief.write(memory.store, memory.project_id, 1500).text


def test_what_is_merged_is_told_and_found_through_the_other(store: Store, memory: Memory) -> None:
    one, other = add(memory, "Zebra queue"), add(memory, "Giraffe queue")
    before = index_of(store)
    assert store.observations.merge(one.id, other.id, LATER) == Merge(one.id, other.id, LATER)

    assert store.observations.get_merge(one.id) == Merge(one.id, other.id, LATER)
    assert "Zebra" not in told(memory)
    assert "Giraffe" in told(memory)
    assert [(hit.id, hit.duplicates) for hit in search(store, "zebra")] == [(other.id, (one.id,))]
    assert store.observations.duplicates(other.id) == [one.id]
    assert store.observations.get(one.id) is not None
    assert (one.id, "same") in store.observations.links(other.id)
    assert_index_is_sound(store)

    assert store.observations.unmerge(one.id) == Merge(one.id, other.id, LATER)
    assert "Zebra" in told(memory)
    assert store.observations.get_merge(one.id) is None
    assert index_of(store) == before
    assert store.observations.unmerge(one.id) is None


def test_a_second_time_changes_nothing(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    assert store.observations.merge(one.id, other.id, LATER + 1) == Merge(one.id, other.id, LATER)
    assert store.observations.get_merge(one.id) == Merge(one.id, other.id, LATER)
    store.observations.unmerge(one.id)
    assert links(store, one, other) == [(None, None, False)] * 2


def test_into_one_that_is_folded_means_what_that_is_folded_into(
    store: Store, memory: Memory
) -> None:
    standing = add(memory, "A")
    folded = add(memory, "A again", repeats=standing.id)
    one = add(memory, "B")
    assert store.observations.merge(one.id, folded.id, LATER) == Merge(one.id, standing.id, LATER)


def test_two_can_change_places(store: Store, memory: Memory) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    assert store.observations.merge(one.id, same.id, LATER) == Merge(one.id, same.id, LATER)
    assert links(store, one, same) == [(same.id, None, False), (None, None, False)]
    store.observations.unmerge(one.id)
    assert links(store, one, same) == [(None, None, False)] * 2


def test_a_pin_goes_over_to_the_one_that_stands(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.pin(one.id, pinned=True)
    store.observations.merge(one.id, other.id, LATER)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [other.id]
    store.observations.unmerge(one.id)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [other.id]


def test_who_pins_what_is_merged_pins_what_stands_for_it(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    store.observations.pin(one.id, pinned=True)
    assert [o.id for o in store.observations.pinned(memory.project_id)] == [other.id]


def test_what_was_folded_into_it_stays_so_and_goes_along(store: Store, memory: Memory) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    other = add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    later = add(memory, "A once more", repeats=same.id)
    assert links(store, later) == [(other.id, None, False)]
    assert store.observations.hide(other.id, LATER) == 4
    store.observations.restore(other.id)
    store.observations.unmerge(one.id)
    assert links(store, one, same) == [(None, None, False), (one.id, None, False)]


def test_restored_alone_it_is_not_folded_into_what_stays_hidden(
    store: Store, memory: Memory
) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.merge(one.id, other.id, LATER)
    store.observations.hide(one.id, LATER)
    store.observations.hide(other.id, LATER)
    store.observations.restore(one.id)
    assert links(store, one) == [(None, None, False)]
    assert standing(memory) == ["A"]


def test_an_edit_taken_back_folds_again_what_was_folded_by_itself(
    store: Store, memory: Memory
) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    same = add(memory, "A again", repeats=one.id)
    store.observations.merge(same.id, other.id, LATER)
    store.observations.edit(same.id, ObservationDraft("change", "Mine"))
    assert links(store, same) == [(None, None, False)]
    store.observations.undo_edit(same.id)
    assert links(store, same) == [(one.id, None, False)]


def test_nothing_is_folded_into_itself_again(store: Store, memory: Memory) -> None:
    one = add(memory, "A")
    same = add(memory, "A again", repeats=one.id)
    store.observations.edit(same.id, ObservationDraft("change", "Mine"))
    store.observations.merge(one.id, same.id, LATER)
    store.observations.undo_edit(same.id)
    assert links(store, one, same) == [(same.id, None, False), (None, None, False)]


def test_a_story_goes_on_from_the_one_that_stands_and_never_leads_back(
    store: Store, memory: Memory
) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    later = add(memory, "C", follows=one.id)
    assert standing(memory) == ["C", "B"]
    store.observations.merge(one.id, other.id, LATER)
    assert standing(memory) == ["C"]
    store.observations.unmerge(one.id)
    assert standing(memory) == ["C", "B"]
    # Into one that comes after: what lies between still follows the first.
    end = add(memory, "D", follows=later.id)
    store.observations.merge(one.id, end.id, LATER)
    assert standing(memory) == ["D", "B"]


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
    assert standing(memory) == ["C"]
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
    assert isinstance(store.observations.merge(*pair, LATER), Unusable)
    assert links(store, one, elsewhere) == [(None, None, False)] * 2


def test_writing_a_turn_again_leaves_what_a_person_has_merged(store: Store, memory: Memory) -> None:
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


def test_the_opposite_merge_is_refused_until_the_first_is_undone(
    store: Store, memory: Memory
) -> None:
    one, between, other = (add(memory, title) for title in "ABC")
    store.observations.merge(other.id, between.id, LATER)
    store.observations.merge(between.id, one.id, LATER)
    refused = store.observations.merge(one.id, other.id, LATER + 1)
    assert isinstance(refused, Unusable)
    assert f"`aforesaid merge {other.id} --undo`" in refused.why
    assert links(store, other, between) == [(between.id, None, False), (one.id, None, False)]
    store.observations.unmerge(other.id)
    merged = store.observations.merge(one.id, other.id, LATER + 1)
    assert merged == Merge(one.id, other.id, LATER + 1)


def test_the_words_of_what_is_merged_go_with_it(store: Store, memory: Memory) -> None:
    """Through two merges; and they are gone where it is hidden, edited or taken out."""
    one, between, other = (add(memory, f"{title} queue") for title in ("Zebra", "Lion", "Giraffe"))
    store.observations.merge(one.id, between.id, LATER)
    store.observations.merge(between.id, other.id, LATER)

    def found() -> list[tuple[int, tuple[int, ...]]]:
        return [(hit.id, hit.duplicates) for hit in search(store, "zebra")]

    through = [(other.id, (one.id, between.id))]
    assert found() == through
    assert_index_is_sound(store)
    store.observations.hide(one.id, LATER)
    assert found() == []
    store.observations.restore(one.id)
    store.observations.merge(one.id, between.id, LATER)
    assert found() == through
    store.observations.edit(one.id, one.draft)
    assert found() == [(one.id, ())]
    assert_index_is_sound(store)


def test_a_secret_in_what_is_merged_is_not_left_in_the_index(store: Store, memory: Memory) -> None:
    one, other = add(memory, "Zebra queue"), add(memory, "Giraffe queue")
    store.observations.merge(one.id, other.id, LATER)
    for _ in store.purge.replace_text(
        lambda text: "Zebra" in text,
        lambda text: text.replace("Zebra", "[erased]"),
        lambda *_: None,
    ):
        pass
    assert search(store, "zebra") == []
    assert_index_is_sound(store)
    (hit,) = search(store, "giraffe")
    assert "Zebra" not in hit.excerpt


def test_a_pin_that_came_with_a_merge_is_taken_away_for_good(store: Store, memory: Memory) -> None:
    one, other = add(memory, "A"), add(memory, "B")
    store.observations.pin(one.id, pinned=True)
    store.observations.merge(one.id, other.id, LATER)
    store.observations.pin(other.id, pinned=False)
    assert store.observations.pinned(memory.project_id) == []
    store.observations.unmerge(one.id)
    assert store.observations.pinned(memory.project_id) == []


def test_what_is_taken_out_stands_by_itself_whatever_it_was_merged_into_before(
    store: Store, memory: Memory
) -> None:
    one, first, second = (add(memory, title) for title in "ABC")
    store.observations.merge(one.id, first.id, LATER)
    store.observations.merge(one.id, second.id, LATER)
    store.observations.unmerge(one.id)
    assert links(store, one) == [(None, None, False)]
