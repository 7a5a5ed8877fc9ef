"""What every store finds: any words, in the right project, in an index that follows what is stored."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import HOUR
from recollect.model.jobs import OBSERVE
from recollect.model.observations import ObservationDraft, SummaryDraft
from recollect.model.search import MATCH_END, MATCH_START
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore
from tests.support.arrivals import START, Told
from tests.support.memory import TEST, Memory

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=80)
HOSTILE = (
    'a "quoted" b',
    "AND OR NOT NEAR(a b, 3)",
    "title: x ^ y * z -w +v {title body}: (",
    "'; DROP TABLE events; --",
    "\0",
    "a\0b",
    "😀 e\u0301 日本語",
    "\ud800",
    "_",
    "",
    " \n\t ",
    "word " * 20_000,
    "x" * 100_000,
    '"' * 1_000,
)


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def found(
    store: Store,
    text: str,
    *,
    project_id: int | None = None,
    type: str | None = None,  # noqa: A002
    limit: int = 20,
) -> list[tuple[str, str]]:
    hits = store.search(text, project_id=project_id, type=type, limit=limit)
    return [(hit.kind, hit.title) for hit in hits]


def assert_index_is_sound(store: Store) -> None:
    """The index holds exactly what the tables hold."""
    assert isinstance(store, SqliteStore)
    with store.transaction() as connection:
        connection.execute(
            "INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)"
        )


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_no_query_is_an_error(memory: Memory, text: str) -> None:
    memory.turn("word and more", ObservationDraft("change", "x word"))
    memory.store.search(text, project_id=None, type=None, limit=5)


@given(ANYTHING, ANYTHING)
def test_any_text_can_be_indexed_and_any_text_asked_for(
    memory: Memory, stored: str, asked: str
) -> None:
    memory.turn(stored, ObservationDraft("change", stored, facts=(stored, asked)))
    for text in (stored, asked):
        memory.store.search(text, project_id=memory.project_id, type=None, limit=5)
    assert_index_is_sound(memory.store)


def test_observations_facts_summaries_and_prompts_are_found(memory: Memory) -> None:
    memory.turn(
        "please mend the turnstile",
        ObservationDraft("bugfix", "Mended it", "a subtitle", ("the gasket leaked",), "narrated"),
        summary=SummaryDraft(
            "asked", "investigated", "learned", "completed", "onwards", notes="nb"
        ),
    )
    for word in ("mended", "subtitle", "gasket", "narrated"):
        assert ("observation", "Mended it") in found(memory.store, word)
    for word in ("asked", "investigated", "learned", "completed", "onwards", "nb"):
        assert found(memory.store, word) == [("summary", "asked")]
    assert found(memory.store, "turnstile") == [("prompt", "please mend the turnstile")]


def test_an_observation_found_by_several_of_its_parts_is_one_finding(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "pump", "pump", ("pump one", "pump two"), "pump"))
    assert found(memory.store, "pump") == [("observation", "pump")]


def test_all_words_count_and_where_nothing_has_all_any_will_do(memory: Memory) -> None:
    memory.turn(
        "p", ObservationDraft("change", "red pump"), ObservationDraft("change", "red valve")
    )
    assert found(memory.store, "red pump") == [("observation", "red pump")]
    assert len(found(memory.store, "red nonsense")) == 2


def test_an_excerpt_marks_what_was_found(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "t", narrative="the old pump was worn out"))
    (hit,) = memory.store.search("pump", project_id=None, type=None, limit=1)
    assert f"{MATCH_START}pump{MATCH_END}" in hit.excerpt


def test_a_search_keeps_to_its_project_its_type_and_its_limit(memory: Memory, store: Store) -> None:
    other = Memory.of(store, "other")
    memory.turn(
        "pump here", ObservationDraft("bugfix", "pump a"), ObservationDraft("change", "pump b")
    )
    other.turn("pump there", ObservationDraft("change", "pump c"))
    assert len(found(store, "pump")) == 5
    assert sorted(found(store, "pump", project_id=other.project_id)) == [
        ("observation", "pump c"),
        ("prompt", "pump there"),
    ]
    assert found(store, "pump", type="bugfix") == [("observation", "pump a")]
    assert len(found(store, "pump", limit=2)) == 2


def test_the_index_follows_what_is_deleted(memory: Memory, store: Store) -> None:
    other = Memory.of(store, "other")
    memory.turn(
        "pump", ObservationDraft("change", "pump", facts=("pump",)), summary=SummaryDraft("pump")
    )
    other.turn("pump", ObservationDraft("change", "pump", facts=("pump",)))
    assert_index_is_sound(store)
    for session in store.sessions(memory.project_id, 9):
        store.drop_session(session.id, memory.project_id)
    assert {
        hit.project_id for hit in store.search("pump", project_id=None, type=None, limit=9)
    } == {other.project_id}
    assert_index_is_sound(store)


def test_the_index_follows_what_is_replaced(memory: Memory, store: Store) -> None:
    """A second summary of a turn takes the first one's place."""
    told = Told(memory.project_id, session="twice")
    store.add_events([told.prompt("p")], START)
    for word in ("valve", "gasket"):
        store.add_events([told.tool(word), told.stop(word)], START)
        while job := store.claim_job("test", START, START + HOUR):
            if job.kind == OBSERVE:
                store.finish_observe(job, TEST, [], START, START)
            else:
                store.finish_summary(job, TEST, SummaryDraft(word), START, START)
    assert found(store, "valve") == []
    assert found(store, "gasket") == [("summary", "gasket")]
    assert_index_is_sound(store)
