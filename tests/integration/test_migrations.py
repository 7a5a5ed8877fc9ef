"""The database file: made in whole steps, private, readable while it is written, refused when unfit."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew
from aforesaid.store import database
from aforesaid.store.database import load_queries, migrations
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository
from tests.support.write_schema import SCHEMA, schema_of, sum_of_migrations

PARAMETER = re.compile(r":(\w+)")
TABLE = re.compile(r"SCAN (?:d|o|f|c|documents|observations|observation_\w+)\b")
Migrations = tuple[tuple[int, str], ...]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "aforesaid.db"


@pytest.fixture
def filled(file: Path) -> Path:
    """A database with something in it, closed."""
    with closing(Store(file, writer=True)) as store:
        fill(store)
    return file


def fill(store: Store, session: str = "session-1") -> None:
    project = store.projects.resolve(repository("shop"), "/home/dev/shop", START)
    told = Told(project, session=session)
    store.events.add([told.prompt("p"), *(told.tool(f"t{n}") for n in range(200))], START)


def statements(script: str) -> Iterator[str]:
    """Triggers hold semicolons, so SQLite itself has to say where a statement ends."""
    lines: list[str] = []
    for line in script.splitlines(keepends=True):
        lines.append(line)
        if sqlite3.complete_statement("".join(lines)):
            yield "".join(lines)
            lines.clear()


def version_and_schema(file: Path) -> tuple[int, str]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0], schema_of(connection)


def sum_up_to(version: int) -> str:
    with closing(sqlite3.connect(":memory:")) as connection:
        for number, script in migrations():
            if number <= version:
                connection.executescript(script)
        return schema_of(connection)


def patch_migrations(monkeypatch: pytest.MonkeyPatch, found: Migrations) -> None:
    monkeypatch.setattr(database, "migrations", lambda: found)


def test_the_schema_file_is_the_sum_of_the_migrations() -> None:
    hint = "run `python -m tests.support.write_schema`"
    assert SCHEMA.exists(), hint
    assert SCHEMA.read_text() == sum_of_migrations(), hint


def test_the_schema_file_makes_the_same_database() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text())
        assert schema_of(connection) == sum_of_migrations()


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = [number for number, _ in migrations()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_migration_that_fails_at_any_statement_changes_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T32: at every statement in turn."""
    Store(file, writer=True).close()
    before = version_and_schema(file)
    done = migrations()
    parts = list(statements(done[0][1].replace("TABLE ", "TABLE x_")))[:12]
    for place in range(len(parts) + 1):
        script = "".join([*parts[:place], "SELECT no_such_column;", *parts[place:]])
        patch_migrations(monkeypatch, (*done, (len(done) + 1, script)))
        with pytest.raises(StoreError):
            Store(file, writer=True)
        assert version_and_schema(file) == before


@pytest.mark.parametrize(
    "steps", [1, 400, 4000, 7500, 7700, 9000, 12_000, 15_000, 15_500, 10_000_000]
)
def test_a_migration_that_is_killed_leaves_the_old_or_the_new_schema(
    tmp_path: Path, steps: int
) -> None:
    """T32: killed with SIGKILL at many moments."""
    file = tmp_path / "aforesaid.db"
    code = (
        "import os, signal, sqlite3, sys\n"
        "from aforesaid.store.database import migrate\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA journal_mode = WAL')\n"
        "kill = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
        "connection.set_progress_handler(kill, int(sys.argv[2]))\n"
        "migrate(connection)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, file, str(steps)], check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    version, schema = version_and_schema(file)
    assert schema == sum_up_to(version)
    complete = (migrations()[-1][0], sum_of_migrations())
    assert (done.returncode == 0) <= ((version, schema) == complete)
    Store(file, writer=True).close()
    assert version_and_schema(file) == complete


def test_a_migration_that_is_killed_at_any_statement_leaves_the_old_or_the_new_schema(
    tmp_path: Path,
) -> None:
    """T32: SIGKILL before each statement of all migrations, and once they are through."""
    newest = migrations()[-1][0]
    schemas = {0: sum_up_to(0), newest: sum_of_migrations()}
    file = tmp_path / "aforesaid.db"
    found: list[int] = []
    ended = False
    while not ended:
        child = os.fork()
        if child == 0:
            migrate_and_die(file, len(found))
        ended = os.waitpid(child, 0)[1] == 0
        version, schema = version_and_schema(file)
        assert schema == schemas[version], len(found)
        found.append(version)
        for part in tmp_path.glob("aforesaid.db*"):
            part.unlink()
    assert len(found) > len(migrations())
    assert set(found) == set(schemas)


def migrate_and_die(file: Path, place: int) -> None:
    """In a process of its own: `place` statements are begun."""
    left = place

    def count(_: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        connection = sqlite3.connect(file, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.set_trace_callback(count)
        database.migrate(connection)
    finally:
        os._exit(0)


def test_a_later_migration_keeps_what_is_there(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = migrations()[-1][0]
    more = (number + 1, "ALTER TABLE projects ADD COLUMN note TEXT;")
    patch_migrations(monkeypatch, (*migrations(), more))
    with closing(Store(filled, writer=True)) as store:
        assert store.health().events == 201
    assert version_and_schema(filled)[0] == number + 1


@pytest.mark.parametrize("writer", [True, False])
def test_a_database_of_a_newer_aforesaid_is_refused_and_left_alone(
    filled: Path, writer: bool
) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    before = version_and_schema(filled)
    with pytest.raises(StoreTooNew):
        Store(filled, writer=writer)
    assert version_and_schema(filled) == before


def test_every_file_of_it_is_for_the_owner_alone(file: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Store(file, writer=True)) as store:
            fill(store)
            modes = {p.name: p.stat().st_mode & 0o777 for p in file.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("aforesaid.db", "aforesaid.db-wal", "aforesaid.db-shm"), 0o600)
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_reader_opens_when_nobody_writes(filled: Path) -> None:
    with closing(Store(filled, writer=False)) as reader:
        assert reader.health().events == 201
        reader.database.check()


def test_a_reader_opens_after_a_writer_was_killed(file: Path) -> None:
    code = (
        "import os, signal, sys, pathlib\n"
        "from aforesaid.store.store import Store\n"
        "from tests.integration.test_migrations import fill\n"
        "fill(Store(pathlib.Path(sys.argv[1]), writer=True))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code, file], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(Store(file, writer=False)) as reader:
        assert reader.health().events == 201


def test_a_reader_sees_the_last_commit_while_another_one_is_being_written(filled: Path) -> None:
    with closing(Store(filled, writer=True)) as writer:
        with writer.database.transaction() as connection:
            connection.execute("DELETE FROM events")
            with closing(Store(filled, writer=False)) as reader:
                assert reader.health().events == 201
        assert writer.health().events == 0


def test_a_reader_cannot_write(filled: Path) -> None:
    with closing(Store(filled, writer=False)) as reader, pytest.raises(AssertionError):
        reader.observations.pin(1, pinned=True)


def test_without_a_database_a_reader_is_told_that_nothing_was_recorded(file: Path) -> None:
    with pytest.raises(StoreMissing):
        Store(file, writer=False)
    file.parent.mkdir()
    file.touch()  # the worker has just begun
    with pytest.raises(StoreMissing):
        Store(file, writer=False)
    with closing(Store(file, writer=True)) as store:
        assert store.health().events == 0


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
        Store(filled, writer=True)
    assert filled.read_bytes() == before


@pytest.mark.parametrize("how", ["garbage", "cut in half", "header", "pages"])
def test_a_damaged_file_is_found_by_a_reader_that_looks(filled: Path, how: str) -> None:
    damage(filled, how)
    with pytest.raises(StoreDamaged, match="damaged"):
        Store(filled, writer=False).database.check()


def test_the_index_is_asked_without_a_scan(filled: Path) -> None:
    """Every insert and every finding asks; a scan would make each of them slower than the last."""
    with closing(sqlite3.connect(filled)) as connection:
        for noun, name in (
            ("index", "drop"),
            ("search", "documents"),
            ("search", "document_of"),
            ("lookups", "earlier"),
            ("lookups", "later"),
            ("lookups", "on_file"),
            ("lookups", "links"),
            ("lookups", "sharing_file"),
            ("lookups", "sharing_concept"),
        ):
            query = load_queries(noun)[name]
            values = dict.fromkeys(PARAMETER.findall(query), 1)
            plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
            scans = [row[3] for row in plan if row[3].startswith("SCAN")]
            assert [s for s in scans if TABLE.match(s)] == [], (name, scans)


def test_a_locked_database_is_an_error_that_says_so(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with (
        closing(Store(filled, writer=True)) as store,
        closing(sqlite3.connect(filled, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            store.observations.pin(1, pinned=True)
        other.execute("ROLLBACK")
        assert not store.observations.pin(1, pinned=True)
