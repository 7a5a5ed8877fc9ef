"""Databases that released versions wrote, in the hands of this one: everything is there, and goes on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.clock import HOUR
from recollect.model.jobs import Again
from recollect.model.observations import Author, Doubt, ObservationDraft
from recollect.model.sessions import Session
from recollect.store.sqlite import queries
from recollect.store.sqlite.store import SqliteStore
from tests.support.arrivals import START, Told
from tests.support.finding import check_words, index_all, index_of, search
from tests.support.stored import events_of

DATABASES = Path(__file__).parents[1] / "fixtures" / "databases"
NOW = START + HOUR
MODEL = Author("openai", "small", "1")
Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture(params=sorted(DATABASES.glob("version-*.sql")), ids=lambda path: path.stem)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The tables as that version made them, and the rows that it wrote."""
    version = int(request.param.stem.rpartition("-")[2])
    file = tmp_path / "recollect.db"
    with closing(sqlite3.connect(file)) as connection:
        for number, script in queries.migrations():
            if number <= version:
                connection.executescript(script)
        connection.executescript(request.param.read_text())
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    return file


@pytest.fixture
def store(released: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(released, writer=True)) as opened:
        yield opened


def session(store: SqliteStore, ref: str) -> Session:
    found = store.session_by_ref("claude-code", ref)
    assert found is not None
    return found


def columns_of(file: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_index%'"
            " AND name NOT IN ('sqlite_sequence', 'injections')"  # what was told has a test of its own
        ).fetchall()
        return {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for (table,) in tables
        }


def rows_of(file: Path, columns: dict[str, list[str]]) -> Rows:
    with closing(sqlite3.connect(file)) as connection:
        return {
            table: connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            for table, names in columns.items()
        }


def test_every_row_that_was_there_is_there(released: Path) -> None:
    columns = columns_of(released)
    before = rows_of(released, columns)
    SqliteStore(released, writer=True).close()
    assert rows_of(released, columns) == before
    assert all(before[table] for table in columns if table != "sqlite_stat1")


def test_an_upgraded_database_is_sound(store: SqliteStore) -> None:
    store.check()
    with store.transaction() as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        check_words(connection)


def test_what_was_told_is_known_still(released: Path) -> None:
    columns = "session_id, observation_id, hook, reason, at"
    with closing(sqlite3.connect(released)) as connection:
        before = connection.execute(f"SELECT {columns} FROM injections").fetchall()
    SqliteStore(released, writer=True).close()
    columns = columns.replace("observation_id", "source")
    with closing(sqlite3.connect(released)) as connection:
        told = connection.execute(f"SELECT {columns} FROM told WHERE kind = 'observation'")
        assert sorted(told.fetchall()) == sorted(before)


def test_what_an_older_one_wrote_is_indexed(store: SqliteStore) -> None:
    index_all(store)
    made = index_of(store)
    assert made["documents"]
    assert made["waiting"] == []
    store.forget_index()
    index_all(store)
    assert index_of(store) == made


def test_what_was_remembered_is_read_and_found(store: SqliteStore) -> None:
    project = session(store, "1-0").project_id
    titles = [o.draft.title for o in store.recent_observations(project, 9)]
    assert titles[0] == "Steel instead of brass"
    assert len(titles) == 3
    (pinned,) = store.pinned_observations(project)
    assert (pinned.model, pinned.draft.doubts, pinned.draft.repeats) == (None, (), None)
    assert pinned.draft.facts == ("The gasket was worn.", "The seal held.")
    index_all(store)
    (hit,) = search(store, "gasket", project_id=project, types=("bugfix",))
    assert (hit.title, hit.doubted) == ("The pump is mended", False)
    (summary,) = store.summaries_of_session(session(store, "1-0").id)
    assert (summary.draft.request, summary.model) == ("Mend the pump", None)
    assert [job.last_error for job in store.skipped_jobs()] == ["it is hopeless"]


def test_a_turn_that_was_going_on_is_worked_up(store: SqliteStore) -> None:
    opened = session(store, "open")
    told = Told(opened.project_id, session="open", at=opened.last_event_at, count=9)
    store.add_events([told.stop()], NOW)
    events = []
    while job := store.claim_job("test", NOW, NOW + HOUR):
        if job.session_id == opened.id:
            events.append(len(store.events_of_job(job.id)))
        store.skip_job(job, "seen", NOW)
    assert events == [2, 0]


def test_what_was_missed_before_the_upgrade_is_healed(store: SqliteStore) -> None:
    opened = session(store, "open")
    known = events_of(store, opened.id)
    told = Told(opened.project_id, session="open", at=opened.last_event_at, count=99)
    lost = replace(told.tool("lost"), healed=True)
    assert store.heal([lost], NOW).added == 1
    assert store.heal([lost], NOW).added == 0
    kept = events_of(store, opened.id)
    assert [event.id for event in kept[:-1]] == [event.id for event in known]
    assert (kept[-1].prompt_number, store.health().healed) == (1, 1)


def test_what_was_written_before_can_be_written_anew(store: SqliteStore) -> None:
    found = session(store, "1-0")
    assert store.do_again(Again(str(MODEL), session_id=found.id), NOW) == 4
    draft = ObservationDraft("change", "Anew", facts=("new",), doubts=(Doubt("facts 0", "no"),))
    while job := store.claim_job("test", NOW, NOW + HOUR):
        if job.kind == "observe":
            store.finish_observe(job, MODEL, [draft], NOW, NOW)
        else:
            store.finish_summary(job, MODEL, None, NOW, NOW)
    titles = [o.draft.title for o in store.observations_of_session(found.id)]
    assert titles == ["The pump is mended", "Anew", "Anew"]  # the first is pinned
    store.check()
