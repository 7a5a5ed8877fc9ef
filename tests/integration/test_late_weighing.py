"""What was stored before anybody weighed it is weighed by the worker; what an agent wants kept, at once."""

from collections.abc import Iterator
from typing import Any

import pytest

from recollect import clock, wiring
from recollect.model.observations import ObservationDraft
from recollect.model.origins import ONLY_WEB, Origin
from recollect.paths import Paths
from recollect.store.sqlite.store import SqliteStore
from recollect.worker.indexing import Indexer
from recollect.worker.projects import ProjectFinder
from recollect.worker.remembering import OF_THE_WEB, Remembering
from tests.support.injected import ROOT, Sessions, feed, imported
from tests.support.injections import INJECTIONS
from tests.support.memory import Memory

AS_BEFORE = (
    "UPDATE observations SET origins = NULL, sources = NULL",
    "UPDATE summaries SET origins = NULL",
    "UPDATE events SET origin = NULL",
    "DELETE FROM observation_doubts",
    "DELETE FROM summary_doubts",
    "UPDATE index_state SET value = '0' WHERE name = 'events'",
)


@pytest.fixture
def sessions(home: Paths) -> Iterator[Sessions]:
    store = SqliteStore(home.database, writer=True)
    yield Sessions(store)
    store.close()


def as_an_older_release_left_it(store: SqliteStore) -> None:
    with store.transaction() as connection:
        for step in AS_BEFORE:
            connection.execute(step)


def test_rows_of_an_older_release_are_weighed_in_the_background(sessions: Sessions) -> None:
    """T64: also what was fetched before there were origins is told no longer."""
    store, project = sessions.store, sessions.project()
    assert isinstance(store, SqliteStore)
    feed(sessions, "WebFetch", INJECTIONS[0])
    before = {each.id: each.draft for each in store.observations_of_session(1)}
    as_an_older_release_left_it(store)
    assert len(store.recent_observations(project, 9)) == 1
    retold: list[int] = []
    Indexer(store, wiring.AGENTS, retold.append).run()
    after = {each.id: each.draft for each in store.observations_of_session(1)}
    assert {key: draft.origins for key, draft in after.items()} == {
        key: draft.origins for key, draft in before.items()
    }
    assert all(draft.held_back for draft in after.values())
    assert store.recent_observations(project, 9) == []
    assert retold == [project] * len(retold) != []
    assert any(d.reason == ONLY_WEB for s in store.summaries_of_session(1) for d in s.draft.doubts)
    origins = {row["origin"] for row in store._reader().execute("SELECT origin FROM events")}
    assert {Origin.WEB, Origin.USER, Origin.AGENT} <= origins
    assert store.unweighed(9) == []


def test_what_arrives_while_older_rows_are_weighed_is_indexed_first(sessions: Sessions) -> None:
    store = sessions.store
    assert isinstance(store, SqliteStore)
    for text in INJECTIONS[:8]:
        feed(sessions, "Read", text)
    as_an_older_release_left_it(store)
    waiting = len(store.unweighed(99))
    steps = Indexer(store, wiring.AGENTS).steps(lambda: True)
    while len(store.unweighed(99)) == waiting:
        next(steps)
    feed(sessions, "Read", INJECTIONS[8])
    assert store.events_unread(9)
    next(steps)
    assert store.events_unread(9) == []
    assert store.unweighed(9)


def test_what_has_no_events_has_no_origin(sessions: Sessions) -> None:
    imported(sessions.store, INJECTIONS[0])
    Indexer(sessions.store, wiring.AGENTS).run()
    (found,) = sessions.store.recent_observations(sessions.project(), 9)
    assert found.draft.origins == ()
    assert sessions.store.unweighed(9) == []


def test_a_confirmed_observation_goes_with_an_export(sessions: Sessions, home: Paths) -> None:
    memory = Memory.of(sessions.store, "shop")
    memory.turn("p", ObservationDraft("change", "Known"))
    sessions.store.confirm(memory.newest().id, confirmed=True)
    other = SqliteStore(home.data / "other" / "recollect.db", writer=True)
    other.begin_import()
    other.take(sessions.store.records(None, replies=False))
    other.end_import()
    (found,) = other.recent_observations(1, 9)
    assert found.confirmed
    other.close()


@pytest.mark.parametrize(("way", "kept"), [("WebFetch", False), ("Read", True)])
def test_an_agent_cannot_have_a_page_kept_for_good(
    way: str, kept: bool, sessions: Sessions, home: Paths
) -> None:
    """T64, T66: a memory is told in every session, so it takes more than a page to make one."""
    one = INJECTIONS[0]
    feed(sessions, way, one)
    remembering = Remembering(
        sessions.store,
        ProjectFinder(sessions.store, clock.now),
        lambda directory: wiring.memories(
            wiring.Home(home, wiring.home().settings), directory, clock.now
        ),
        clock.now,
        lambda _: None,
    )
    text = f"Builds fail because {one.canary} was not run"
    order: dict[str, Any] = {
        "dir": ROOT,
        "text": text,
        "type": None,
        "name": None,
        "team": False,
        "pin": False,
    }
    order |= {
        "pin": False,
        "by": "agent",
        "files": [],
        "agent": "claude-code",
        "session": f"{way}-0",
    }
    answer = remembering.remember(order)
    assert (answer.get("refused") != OF_THE_WEB) == kept
    Indexer(sessions.store, wiring.AGENTS).run()
    for later in (None, "another-session"):  # what it was fetched in makes no difference
        answer = remembering.remember(order | {"session": later})
        assert (answer.get("refused") != OF_THE_WEB) == kept
