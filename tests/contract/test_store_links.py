"""What every store does with doubts, repetitions and stories that go on: nothing is lost, less is told."""

import pytest

from aforesaid.clock import HOUR
from aforesaid.model.jobs import OBSERVE, Again
from aforesaid.model.observations import Doubt, Observation, ObservationDraft, SummaryDraft
from aforesaid.model.sessions import Session
from aforesaid.store.store import Store
from tests.support.finding import search
from tests.support.memory import TEST, Memory

FILE = "src/pump.py"


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def draft(
    title: str | None,
    *facts: str,
    doubts: tuple[str, ...] = (),
    repeats: int | None = None,
    follows: int | None = None,
) -> ObservationDraft:
    return ObservationDraft(
        "change",
        title,
        facts=facts,
        files_modified=(FILE,),
        doubts=tuple(Doubt(part, "it occurs nowhere") for part in doubts),
        repeats=repeats,
        follows=follows,
    )


def add(memory: Memory, *drafts: ObservationDraft) -> Observation:
    """A new turn with these drafts; the last of them, as it was stored."""
    return memory.store.observations.for_session(memory.turn("p", *drafts).id)[-1]


def recent(memory: Memory) -> list[str | None]:
    return [o.draft.title for o in memory.store.observations.recent(memory.project_id, 20)]


def about(memory: Memory) -> list[str | None]:
    found = memory.store.observations.for_opened_file(
        memory.project_id, FILE, untold_in=999, limit=20
    )
    return [o.draft.title for o in found]


def searched(memory: Memory, text: str) -> list[tuple[str, bool]]:
    hits = search(memory.store, text, project_id=memory.project_id)
    return [(hit.title, hit.unverified) for hit in hits if hit.kind != "prompt"]


def similar(memory: Memory, *words: str, not_of_job: int = 0, limit: int = 20) -> list[str | None]:
    found = memory.store.observations.similar(
        memory.project_id, words, not_of_job=not_of_job, limit=limit
    )
    return [o.draft.title for o in found]


def again(
    memory: Memory, session: Session, *drafts: ObservationDraft
) -> list[tuple[str, int | None, int | None]]:
    """The session worked up anew: (title, repeats, follows) of everything it has then."""
    memory.store.jobs.reprocess(Again("somebody else", session_id=session.id), memory.at)
    memory.work_up(*drafts)
    found = memory.store.observations.for_session(session.id)
    return [(o.draft.title or "", o.draft.repeats, o.draft.follows) for o in found]


def test_what_repeats_another_is_folded_into_it_but_not_lost(memory: Memory) -> None:
    first = add(memory, draft("pump mended"))
    second = add(memory, draft("pump was mended", repeats=first.id))
    assert second.draft.repeats == first.id
    assert recent(memory) == about(memory) == similar(memory, "pump") == ["pump mended"]
    assert searched(memory, "pump") == [("pump mended", False)]
    assert memory.store.observations.titles_for_session(second.session_id) == ()
    assert memory.store.observations.get(second.id) == second
    assert memory.store.observations.for_session(second.session_id) == [second]
    assert memory.store.health().observations == 2


def test_a_link_to_a_folded_one_leads_to_what_that_is_folded_into(memory: Memory) -> None:
    first = add(memory, draft("one"))
    second = add(memory, draft("two", repeats=first.id))
    assert add(memory, draft("three", repeats=second.id)).draft.repeats == first.id
    assert add(memory, draft("four", follows=second.id)).draft.follows == first.id


def test_a_link_to_nothing_or_to_another_project_is_dropped(memory: Memory, store: Store) -> None:
    foreign = add(Memory.of(store, "other"), draft("foreign"))
    for target in (foreign.id, 999):
        stored = add(memory, draft("mine", repeats=target, follows=target))
        assert (stored.draft.repeats, stored.draft.follows) == (None, None)


def test_a_link_to_the_jobs_own_words_holds_only_if_a_person_keeps_them(
    memory: Memory, store: Store
) -> None:
    """The others are about to be replaced."""
    session = memory.turn("p", draft("pinned"), draft("plain"))
    kept, plain = store.observations.for_session(session.id)
    store.observations.pin(kept.id, pinned=True)
    anew = again(memory, session, draft("same", repeats=kept.id), draft("other", repeats=plain.id))
    assert sorted(anew) == [("other", None, None), ("pinned", None, None), ("same", kept.id, None)]


def test_an_old_turn_worked_up_again_does_not_take_a_later_ones_place(memory: Memory) -> None:
    old = memory.turn("p", draft("old"))
    later = add(memory, draft("later"))
    memory.store.jobs.reprocess(Again("somebody else", session_id=old.id), memory.at)
    job = memory.store.jobs.claim("test", memory.at, memory.at + HOUR)
    assert job is not None
    assert job.kind == OBSERVE
    new = draft("old anew", follows=later.id)
    memory.store.jobs.finish_observations(job, TEST, [new], later.at - 1, memory.at)
    assert recent(memory) == ["later", "old anew"]


def test_when_the_first_one_goes_its_repetition_stands_by_itself(
    memory: Memory, store: Store
) -> None:
    first = add(memory, draft("pump one"))
    add(memory, draft("pump two", repeats=first.id))
    store.sessions.drop(first.session_id, memory.project_id)
    assert recent(memory) == ["pump two"]
    assert searched(memory, "pump") == [("pump two", False)]


def test_only_the_newest_of_a_story_is_told_automatically_and_the_others_are_found_below_it(
    memory: Memory,
) -> None:
    first = add(memory, draft("pump a"))
    second = add(memory, draft("pump b", follows=first.id))
    add(memory, draft("pump c", follows=second.id))
    assert recent(memory) == about(memory) == ["pump c"]
    assert [title for title, _ in searched(memory, "pump")] == ["pump c", "pump b", "pump a"]
    memory.store.observations.pin(first.id, pinned=True)
    assert [o.id for o in memory.store.observations.pinned(memory.project_id)] == [first.id]


def test_a_doubted_or_folded_follower_takes_nobodys_place(memory: Memory) -> None:
    first = add(memory, draft("pump a"))
    second = add(memory, draft("pump b", follows=first.id, doubts=("title",)))
    add(memory, draft("pump a again", follows=first.id, repeats=first.id))
    assert recent(memory) == ["pump a"]
    add(memory, draft("pump c", follows=second.id))
    assert recent(memory) == ["pump c"]


@pytest.mark.parametrize(
    ("doubts", "told"),
    [
        ((), True),
        (("title",), False),
        (("subtitle",), False),
        (("facts 0",), True),
        (("facts 0", "facts 1"), False),
        (("facts",), False),
        (("facts 1", "facts 7", "files_read 0", "narrative"), True),
    ],
)
def test_what_is_doubted_is_not_told_automatically(
    memory: Memory, doubts: tuple[str, ...], told: bool
) -> None:
    stored = add(memory, draft("pump", "one", "two", doubts=doubts))
    assert recent(memory) == about(memory) == (["pump"] if told else [])
    assert memory.store.observations.titles_for_session(stored.session_id) == ("pump",)
    assert len(searched(memory, "pump")) == 1


def test_a_search_ranks_what_is_doubted_lower_and_says_so(memory: Memory) -> None:
    add(memory, draft("pump sound"))
    add(memory, draft("pump false", doubts=("title",)))
    assert searched(memory, "pump") == [("pump sound", False), ("pump false", True)]


def test_a_doubted_fact_among_others_does_not_make_all_of_it_doubtful(memory: Memory) -> None:
    add(memory, draft("valve", "the gasket leaked", "the seal held", doubts=("facts 0",)))
    add(
        memory, draft("tap", "a gasket is missing", "no seal at all", doubts=("facts 0", "facts 1"))
    )
    assert dict(searched(memory, "gasket")) == {"valve": False, "tap": True}


def test_a_summary_with_doubts_is_found_as_such(memory: Memory) -> None:
    doubts = (Doubt("completed", "the tests failed"),)
    memory.turn("p", summary=SummaryDraft("mend", completed="gasket", doubts=doubts))
    assert searched(memory, "gasket") == [("mend", True)]


def test_similar_ones_share_words_in_title_or_facts_and_come_newest_first(
    memory: Memory, store: Store
) -> None:
    add(memory, draft("red engine mended", "the seal was worn"))
    add(memory, draft("blue valve", "the red engine stands beside it"))
    add(memory, draft("nothing of the kind"))
    add(Memory.of(store, "other"), draft("red engine mended"))
    assert similar(memory, "red", "engine") == ["blue valve", "red engine mended"]
    assert similar(memory, "red", "engine", "mended", "seal", limit=1) == ["red engine mended"]


def test_similar_ones_of_the_same_job_do_not_count(memory: Memory) -> None:
    memory.turn("p", draft("red pump"))
    assert similar(memory, "pump", not_of_job=1) == []
    assert similar(memory, "pump", not_of_job=2) == ["red pump"]


def test_what_is_about_to_be_replaced_counts_neither_as_similar_nor_as_recorded(
    memory: Memory, store: Store
) -> None:
    session = memory.turn("p", draft("red pump"), draft("blue pump"))
    kept = store.observations.for_session(session.id)[1]
    store.observations.pin(kept.id, pinned=True)
    store.jobs.reprocess(Again("somebody else"), memory.at)
    assert similar(memory, "pump") == ["blue pump"]
    assert store.observations.titles_for_session(session.id) == ("blue pump",)
    assert recent(memory) == ["blue pump", "red pump"]


@pytest.mark.parametrize("words", [(), ("",), ('"',), ("AND", "NEAR(a", "*"), ("\0", "\ud800")])
def test_no_words_are_an_error(memory: Memory, words: tuple[str, ...]) -> None:
    add(memory, draft("pump"))
    assert similar(memory, *words) == []
