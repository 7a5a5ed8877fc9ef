"""The commit and the files at the time of an observation: stored, kept, and carried on."""

import pytest

from aforesaid.clock import HOUR
from aforesaid.model.jobs import OBSERVE, Again
from aforesaid.model.observations import Author, ObservationDraft
from aforesaid.store.store import Store
from tests.support.memory import Memory

HEAD = "c" * 40
STAMPED = ObservationDraft(
    "change",
    "Changed both",
    files_read=("a.py", "c.py"),
    files_modified=("a.py", "b.py"),
    revision=HEAD,
    blobs=(("a.py", "a" * 40), ("b.py", "b" * 40)),
)


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def again(memory: Memory, *drafts: ObservationDraft) -> None:
    author = Author("other")
    assert memory.store.jobs.reprocess(Again(str(author)), memory.at) > 0
    while job := memory.store.jobs.claim("test", memory.at, memory.at + HOUR):
        if job.kind == OBSERVE:
            memory.store.jobs.finish_observations(job, author, drafts, memory.at, memory.at)
        else:
            memory.store.jobs.finish_summary(job, author, None, memory.at, memory.at)


def test_they_come_back_as_they_were(memory: Memory) -> None:
    memory.turn("p", STAMPED)
    assert memory.newest().draft.revision == HEAD
    assert memory.newest().draft.blobs == STAMPED.blobs


def test_what_nobody_saw_is_not_known(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "t", files_modified=("a.py",)))
    assert (memory.newest().draft.revision, memory.newest().draft.blobs) == (None, ())


def test_who_works_a_turn_up_again_later_keeps_what_was_seen(memory: Memory) -> None:
    memory.turn("p", STAMPED)
    memory.turn("q", ObservationDraft("change", "Another", files_modified=("b.py",)), session="2")
    again(memory, ObservationDraft("bugfix", "Anew", files_modified=("b.py", "d.py")))
    old, new = (
        memory.store.observations.for_session(memory.session(name).id)[0].draft
        for name in ("1-0", "2")
    )
    assert (old.title, old.revision, old.blobs) == ("Anew", HEAD, (("b.py", "b" * 40),))
    assert (new.title, new.revision, new.blobs) == ("Anew", None, ())


def test_what_was_seen_again_counts(memory: Memory) -> None:
    memory.turn("p", STAMPED)
    seen = (("b.py", "d" * 40),)
    again(memory, ObservationDraft("bugfix", "Anew", files_modified=("b.py",), blobs=seen))
    assert memory.newest().draft.blobs == seen


def test_an_edit_leaves_them_alone(memory: Memory) -> None:
    memory.turn("p", STAMPED)
    assert memory.store.observations.edit(
        memory.newest().id, ObservationDraft("change", "In my words")
    )
    draft = memory.newest().draft
    assert (draft.title, draft.revision, draft.blobs) == ("In my words", HEAD, STAMPED.blobs)
