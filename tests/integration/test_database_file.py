"""The database file under violence: killed while it is made or written, and damaged afterwards."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from recollect.errors import StoreDamaged
from recollect.store.sqlite import database, queries
from recollect.store.sqlite.store import SqliteStore
from tests.support.arrivals import START, Told, repository
from tests.support.write_schema import SCHEMA


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "recollect.db"


@pytest.fixture
def filled(file: Path) -> Path:
    """A database with something in it, closed."""
    with closing(SqliteStore(file, writer=True)) as store:
        fill(store)
    return file


def fill(store: SqliteStore, session: str = "session-1") -> None:
    project = store.resolve_project(repository("shop"), "/home/dev/shop", START)
    told = Told(project, session=session)
    store.add_events([told.prompt("p"), *(told.tool(f"t{n}") for n in range(200))], START)


Schema = list[tuple[str, str]]


def schema_of(connection: sqlite3.Connection) -> Schema:
    """Everything that was made, without what the search index makes for itself."""
    return connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        " AND name NOT LIKE 'search_index_%' ORDER BY name"
    ).fetchall()


def sum_of_migrations() -> Schema:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        database.migrate(connection)
        return schema_of(connection)


def version_and_schema(file: Path) -> tuple[int, Schema]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0], schema_of(connection)


def test_the_schema_file_makes_the_same_database() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text())
        assert schema_of(connection) == sum_of_migrations()


@pytest.mark.parametrize("steps", [1, 400, 2000, 4000, 6000, 7500, 7600, 10_000_000])
def test_a_migration_that_is_killed_leaves_the_old_or_the_new_schema(
    tmp_path: Path, steps: int
) -> None:
    file = tmp_path / "recollect.db"
    code = (
        "import os, signal, sqlite3, sys\n"
        "from recollect.store.sqlite.database import migrate\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA journal_mode = WAL')\n"
        "kill = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "connection.set_progress_handler(kill, int(sys.argv[2]))\n"
        "migrate(connection)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, file, str(steps)], check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    version, schema = version_and_schema(file)
    complete = (queries.migrations()[-1][0], sum_of_migrations())
    assert (version, schema) == complete or version == 0
    assert (done.returncode == 0) <= ((version, schema) == complete)
    SqliteStore(file, writer=True).close()
    assert version_and_schema(file) == complete


def test_a_later_migration_keeps_what_is_there(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = queries.migrations()[-1][0]
    more = (number + 1, "ALTER TABLE projects ADD COLUMN note TEXT;")
    together = (*queries.migrations(), more)
    monkeypatch.setattr(queries, "migrations", lambda: together)
    with closing(SqliteStore(filled, writer=True)) as store:
        assert store.health().events == 201
    assert version_and_schema(filled)[0] == number + 1


def test_a_reader_opens_after_a_writer_was_killed(file: Path) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        "from recollect.store.sqlite.store import SqliteStore\n"
        "from tests.integration.test_database_file import fill\n"
        "fill(SqliteStore(pathlib.Path(sys.argv[1]), writer=True))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code, file], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(SqliteStore(file, writer=False)) as reader:
        assert reader.health().events == 201


def test_a_reader_cannot_write(filled: Path) -> None:
    with closing(SqliteStore(filled, writer=False)) as reader, pytest.raises(AssertionError):
        reader.pin(1, pinned=True)


def damage(file: Path, how: str) -> None:
    data = bytearray(file.read_bytes())
    match how:
        case "garbage":
            data[:] = os.urandom(len(data))
        case "cut in half":
            del data[len(data) // 2 :]
        case "header":
            data[:16] = b"not a database !"
        case "pages":
            data[4096 * 2 : 4096 * 20] = os.urandom(4096 * 18)
    file.write_bytes(data)


@pytest.mark.parametrize("how", ["garbage", "cut in half", "header", "pages"])
def test_a_damaged_file_is_refused_by_the_writer_and_not_deleted(filled: Path, how: str) -> None:
    damage(filled, how)
    before = filled.read_bytes()
    with pytest.raises(StoreDamaged, match="damaged"):
        SqliteStore(filled, writer=True)
    assert filled.read_bytes() == before


@pytest.mark.parametrize("how", ["garbage", "cut in half", "header", "pages"])
def test_a_damaged_file_is_found_by_a_reader_that_looks(filled: Path, how: str) -> None:
    damage(filled, how)
    with pytest.raises(StoreDamaged, match="damaged"):
        SqliteStore(filled, writer=False).check()


def test_the_search_index_is_asked_by_row_number_without_a_scan(filled: Path) -> None:
    """Every insert and every excerpt asks; a scan would make each of them slower than the last."""
    with closing(sqlite3.connect(filled)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM search_documents WHERE rowid = 8"
        ).fetchall()
    steps = [row[3] for row in plan]
    assert sum("USING INDEX" in step for step in steps) == 4
    assert [step for step in steps if step.startswith("SCAN")] in ([], ["SCAN search_documents"])
