"""What every store does with finished work that is done again, and with what people have made their own."""

import pytest

from aforesaid.clock import HOUR
from aforesaid.model.jobs import OBSERVE, SUMMARIZE, Again, Job
from aforesaid.model.observations import Author, Doubt, ObservationDraft
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.finding import assert_index_is_sound, search
from tests.support.memory import Memory

RULES = Author("rules")
MODEL = Author("anthropic", "some-model", "1")
OLD = ObservationDraft("change", "pump by rules", facts=("rules said pump",))
NEW = ObservationDraft("bugfix", "pump by a model", facts=("a model said pump",))


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def again(
    memory: Memory,
    *,
    session_id: int | None = None,
    project_id: int | None = None,
    since: int | None = None,
) -> int:
    limits = Again(str(MODEL), session_id, project_id, since)
    counted = memory.store.jobs.count_reprocess(limits)
    assert memory.store.jobs.reprocess(limits, memory.at) == counted
    return counted


def titles(memory: Memory) -> list[str | None]:
    sessions = reversed(memory.store.sessions.recent(memory.project_id, 99))
    found = [o for s in sessions for o in memory.store.observations.for_session(s.id)]
    return [o.draft.title for o in found]


def test_finished_work_of_another_author_is_done_again_once(memory: Memory) -> None:
    session = memory.turn("p", OLD, author=RULES)
    assert titles(memory) == [OLD.title]
    assert again(memory) == 2
    assert again(memory) == 0  # it waits already
    assert [job.kind for job in memory.work_up(NEW, author=MODEL)] == [OBSERVE, SUMMARIZE]
    assert titles(memory) == [NEW.title]
    assert [s.model for s in memory.store.summaries.for_session(session.id)] == ["some-model"]
    assert again(memory) == 0
    assert memory.work_up() == []


def test_it_is_tried_from_the_first_try_on_and_in_the_order_of_the_queue(memory: Memory) -> None:
    for _ in range(2):
        memory.turn("p", OLD, session="one", author=RULES)
    again(memory)
    jobs = memory.work_up(NEW, author=MODEL)
    assert [(j.kind, j.prompt_number, j.tries) for j in jobs] == [
        *((OBSERVE, 1, 1), (SUMMARIZE, 1, 1)),
        *((OBSERVE, 2, 1), (SUMMARIZE, 2, 1)),
    ]


def test_until_it_is_done_what_was_there_stays(memory: Memory, store: Store) -> None:
    session = memory.turn("p", OLD, author=RULES)
    again(memory)
    assert titles(memory) == [OLD.title]
    health = store.health()
    assert (health.pending, health.oldest_pending) == (2, memory.at)
    job = store.jobs.claim("test", memory.at, memory.at + HOUR)
    assert job is not None
    store.jobs.skip(job, "the model is gone", memory.at)
    assert titles(memory) == [OLD.title]
    assert store.observations.titles_for_session(session.id) == (OLD.title,)


def test_a_session_a_project_or_a_time_limits_it(memory: Memory, store: Store) -> None:
    first = memory.turn("p", OLD, author=RULES)
    second = memory.turn("p", OLD, author=RULES)
    other = Memory.of(store, "other")
    other.turn("p", OLD, author=RULES)
    count = store.jobs.count_reprocess
    assert count(Again(str(MODEL))) == 6
    assert count(Again(str(MODEL), session_id=first.id)) == 2
    assert count(Again(str(MODEL), project_id=memory.project_id)) == 4
    late = Again(str(MODEL), project_id=memory.project_id, since=second.last_event_at)
    assert count(late) == 2
    assert again(memory, since=second.last_event_at + 1) == 0
    assert again(memory, session_id=second.id, since=START) == 2
    assert {job.session_id for job in memory.work_up(NEW, author=MODEL)} == {second.id}


def test_the_doctors_own_sessions_are_never_done_again(memory: Memory) -> None:
    memory.turn("p", OLD, session="doctor-1", author=RULES)
    assert again(memory) == 0


def test_work_of_an_unknown_author_is_not_the_models(memory: Memory, store: Store) -> None:
    """As a database of the first version has it."""
    memory.turn("p", OLD, author=MODEL)
    assert isinstance(store, Store)
    with store.database.transaction() as connection:
        connection.execute("UPDATE jobs SET written_by = NULL")
    assert again(memory) == 2


def observe_again(memory: Memory) -> Job:
    again(memory)
    job = memory.store.jobs.claim("test", memory.at, memory.at + HOUR)
    assert job is not None
    assert job.kind == OBSERVE
    return job


def test_what_is_pinned_or_edited_is_kept_and_the_new_stands_behind_it(
    memory: Memory, store: Store
) -> None:
    drafts = [ObservationDraft("change", title) for title in ("pinned", "plain", "draft")]
    session = memory.turn("p", *drafts, author=RULES)
    pinned, plain, edited = store.observations.for_session(session.id)
    store.observations.pin(pinned.id, pinned=True)
    store.observations.edit(edited.id, ObservationDraft("decision", "edited"))
    job = observe_again(memory)
    new = [NEW, ObservationDraft("change", "pinned"), ObservationDraft("change", None)]
    ids = store.jobs.finish_observations(job, MODEL, new, edited.at, memory.at)
    found = {o.id: o.draft.title for o in store.observations.for_session(session.id)}
    assert isinstance(ids, tuple)
    assert found == {
        pinned.id: "pinned",
        edited.id: "edited",
        ids[0]: NEW.title,
        ids[1]: None,  # and no second one of the pinned title
    }
    assert plain.id not in found


def test_doing_it_again_and_again_never_doubles(memory: Memory, store: Store) -> None:
    session = memory.turn("p", OLD, NEW, author=RULES)
    store.observations.pin(store.observations.for_session(session.id)[0].id, pinned=True)
    for author in (MODEL, RULES, MODEL):
        store.jobs.reprocess(Again(str(author)), memory.at)
        memory.work_up(OLD, NEW, author=author)
        assert sorted(map(str, titles(memory))) == [NEW.title, OLD.title]
    assert sum(hit.kind == "observation" for hit in search(store, "pump")) == 2
    assert_index_is_sound(store)


def test_an_edited_observation_says_what_the_person_said_and_nothing_else(
    memory: Memory, store: Store
) -> None:
    doubts = (Doubt("title", "no"), Doubt("facts 0", "no"))
    written = ObservationDraft(
        "change", "old title", "old subtitle", ("old fact",), "old story", ("old",),
        files_read=("a.py",), files_modified=("b.py",), subagent_type="Explore", doubts=doubts,
    )  # fmt: skip
    memory.turn("p", written)
    before = store.observations.get(1)
    said = ObservationDraft("decision", "new title", None, ("new one", "new two"), "new", ("c",))
    assert store.observations.edit(1, said)
    after = store.observations.get(1)
    assert before is not None
    assert after is not None
    assert (after.at, after.provider, after.pinned) == (before.at, before.provider, False)
    assert after.draft == ObservationDraft(
        "decision", "new title", None, ("new one", "new two"), "new", ("c",),
        files_read=("a.py",), files_modified=("b.py",), subagent_type="Explore",
    )  # fmt: skip
    only = ("observation",)
    assert [len(search(store, word, kinds=only)) for word in ("old", "new")] == [0, 1]
    assert store.observations.recent(memory.project_id, 9) == [after]
    assert_index_is_sound(store)


def test_an_edited_observation_is_folded_no_longer(memory: Memory, store: Store) -> None:
    memory.turn("p", ObservationDraft("change", "pump"))
    memory.turn("p", ObservationDraft("change", "pump", repeats=1))
    assert store.observations.edit(2, ObservationDraft("change", "the other pump"))
    found = store.observations.recent(memory.project_id, 9)
    assert [o.draft.title for o in found] == ["the other pump", "pump"]


def test_what_does_not_exist_cannot_be_edited(store: Store) -> None:
    assert not store.observations.edit(1, ObservationDraft("change", "x", facts=("y",)))
