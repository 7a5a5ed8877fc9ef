"""The index outlives what goes wrong: damaged tables, wrong clocks, numbers that are given again."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aforesaid.agents.registry import AGENTS
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.observations import ObservationDraft
from aforesaid.model.search import Filters, Query
from aforesaid.recall.matrix import Matrix
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from aforesaid.worker.indexing import index
from tests.support.arrivals import Told
from tests.support.blank import laid
from tests.support.finding import assert_index_is_sound, search
from tests.support.memory import Memory

NO_FILTER = Filters()


class Faulty:
    """An encoder that can be broken."""

    name, instant, dimensions = "faulty", True, 192

    def __init__(self) -> None:
        self.broken = False
        self.calls = 0
        self._table = StaticTable()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        if self.broken:
            raise RuntimeError("the table is gone")
        return self._table.encode(texts)


def opened(path: Path, encoder: Faulty | StaticTable | None = None) -> Store:
    return Store(laid(path / "aforesaid.db"), writer=True, encoder=encoder)


def written(store: Store, title: str, narrative: str | None = None) -> Memory:
    memory = Memory.of(store, "shop")
    memory.turn("p", ObservationDraft("change", title, narrative=narrative))
    return memory


def read_events(store: Store) -> None:
    unread = store.index.unread_events(100)
    store.index.add_event_texts([(each, "listed the pump room", None) for each in unread])


def test_a_damaged_full_text_table_is_made_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    written(store, "Pump mended")
    with store.database.transaction() as connection:
        connection.execute("DELETE FROM document_words_data WHERE id > 1")
        connection.execute("UPDATE observation_facts SET words = words")
    store.index.reset()
    list(index(store, AGENTS))
    assert_index_is_sound(store)
    assert search(store, "pump")[0].title == "Pump mended"


@pytest.mark.parametrize("at", [10**15, 10**17, -(10**15)])
def test_a_time_that_no_calendar_has_stops_nothing(tmp_path: Path, at: int) -> None:
    store = opened(tmp_path)
    memory = written(store, "Pump mended")
    memory.at = at
    memory.turn("p", ObservationDraft("change", "Valve mended"))
    assert {hit.title for hit in search(store, "mended")} == {"Pump mended", "Valve mended"}


def test_a_broken_encoder_costs_the_vectors_only_and_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Faulty()
    encoder.broken = True
    store = opened(tmp_path, encoder)
    written(store, "Pump mended")
    assert search(store, "pump")[0].title == "Pump mended"
    calls = encoder.calls
    list(index(store, AGENTS))
    assert encoder.calls == calls  # it rests
    encoder.broken = False
    monkeypatch.setattr(store.index, "_encoder_rests", 0.0)
    list(index(store, AGENTS))
    health = store.index.health()
    assert health.vectors == health.documents > 0


def steps_of_an_idle_pass(store: Store) -> int:
    """Of SQLite's machine, after a pass that was complete."""
    list(index(store, AGENTS))
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    store.database.reader().set_progress_handler(count, 1)
    assert store.index.encode(64) is None
    store.database.reader().set_progress_handler(None, 1)
    return steps


def test_a_pass_with_nothing_to_do_does_not_look_at_everything(tmp_path: Path) -> None:
    store = opened(tmp_path, Faulty())
    memory = written(store, "Pump mended")
    few = steps_of_an_idle_pass(store)
    memory.turn("p", *(ObservationDraft("change", f"Valve {n} mended") for n in range(300)))
    assert steps_of_an_idle_pass(store) == few
    store.index.reset()
    assert steps_of_an_idle_pass(store) == few
    health = store.index.health()
    assert health.vectors == health.documents > 300


def test_after_a_fault_of_the_encoder_everything_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Faulty()
    store = opened(tmp_path, encoder)
    memory = written(store, "Pump mended")
    list(index(store, AGENTS))  # everything is as it should be
    with store.database.transaction() as connection:
        connection.execute("DELETE FROM document_vectors WHERE id = 1")
    encoder.broken = True
    memory.turn("p", ObservationDraft("change", "Valve mended"))
    encoder.broken = False
    monkeypatch.setattr(store.index, "_encoder_rests", 0.0)
    list(index(store, AGENTS))
    health = store.index.health()
    assert health.vectors == health.documents > 0


def test_vectors_of_another_encoder_are_made_again(tmp_path: Path) -> None:
    for encoder in (StaticTable(), Faulty()):
        store = opened(tmp_path, encoder)
        written(store, "Pump mended")
        list(index(store, AGENTS))
        assert store.index.health().vectors == store.index.health().documents
        store.close()


def test_vectors_that_are_made_later_are_seen(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for title in ("Pump mended", "Valve mended", "Gasket mended"):
        written(store, title)
    store.close()
    encoder = StaticTable()
    store = opened(tmp_path, encoder)
    matrix = Matrix(encoder)
    seen = []
    below: int | None = None
    while (below := store.index.encode(1, below=below)) is not None:
        matrix.refresh(store)
        seen.append(len(matrix))
    assert seen == list(range(1, len(seen) + 1))
    assert len(matrix) == store.index.health().documents


def test_what_is_indexed_again_takes_its_own_place(tmp_path: Path) -> None:
    encoder = StaticTable()
    store = opened(tmp_path, encoder)
    for title in ("Pump mended", "Valve mended", "Gasket mended"):
        written(store, title)
    matrix = Matrix(encoder)
    matrix.refresh(store)
    before, size = matrix.near("pump", NO_FILTER, None), len(matrix)
    store.index.reset()
    list(index(store, AGENTS))
    matrix.refresh(store)
    after = matrix.near("pump", NO_FILTER, None)
    assert len(matrix) == size
    assert before is not None
    assert after is not None
    assert np.allclose(np.sort(before.context), np.sort(after.context), atol=1e-4)


def test_the_number_of_an_event_is_not_given_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    memory = written(store, "Pump mended")
    list(index(store, AGENTS))
    with store.database.transaction() as connection:
        newest = connection.execute("SELECT max(id) FROM events").fetchone()[0]
        connection.execute("DELETE FROM events WHERE id = ?", (newest,))
    assert store.index.unread_events(10) == []
    told = Told(memory.project_id, session="next")
    told.at = memory.at + 1
    store.events.add([told.tool("t-next")], told.at)
    assert [each.event.id for each in store.index.unread_events(10)] == [newest + 1]


def test_a_session_that_moves_takes_its_events_along(tmp_path: Path) -> None:
    store = opened(tmp_path)
    memory = written(store, "Pump mended")
    read_events(store)
    other = Memory.of(store, "other")
    with store.database.transaction() as connection:
        connection.execute("UPDATE sessions SET project_id = ?", (other.project_id,))
        connection.execute("UPDATE observations SET project_id = ?", (other.project_id,))
    assert_index_is_sound(store)
    found = {
        project: len(search(store, "room", project_id=project, level="events"))
        for project in (memory.project_id, other.project_id)
    }
    assert found[memory.project_id] == 0
    assert found[other.project_id] > 0


def test_a_question_about_a_time_finds_what_happened_then(tmp_path: Path) -> None:
    store = opened(tmp_path)
    memory = written(store, "Pump mended")
    searcher = Searcher(store, None, lambda: memory.at)
    for text in ("what did we do today", "today"):
        assert "Pump mended" in [hit.title for hit in searcher.search(Query(text)).hits]
    assert searcher.search(Query("what did we do last week")).hits == ()


def test_filters_are_not_answered_with_events(tmp_path: Path) -> None:
    store = opened(tmp_path)
    written(store, "Pump mended")
    read_events(store)
    assert search(store, "room") != []
    for name in ("types", "concepts", "files"):
        filters: dict[str, Any] = {name: ("zebra",)}
        assert search(store, "room", **filters) == []


def test_another_way_to_prepare_words_indexes_all_again(tmp_path: Path) -> None:
    written(opened(tmp_path), "Pump mended")
    with closing(sqlite3.connect(tmp_path / "aforesaid.db")) as connection, connection:
        connection.execute("UPDATE index_state SET value = 'older' WHERE name = 'words'")
        connection.execute("UPDATE documents SET title = 'as it was prepared then'")
    store = opened(tmp_path)
    list(index(store, AGENTS))
    assert_index_is_sound(store)
    assert store.index.health().waiting == 0
    assert [hit.title for hit in search(store, "pump")] == ["Pump mended"]
