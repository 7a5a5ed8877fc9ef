"""Copies a database while it is written: one snapshot, in small steps, without the index.

Not by SQLite's backup API: that begins anew whenever somebody else writes, and takes free pages along, in
which there may be what was erased. Here a reader's snapshot is copied row by row, and the writer never waits.
It does on a shared file system, which has a rollback journal instead of a log: no commit ends there until the
copy is made, or `BUSY_SECONDS` are over and the writer has to try again. Every copy is opened and checked
before anybody may rely on it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recollect.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew
from recollect.store.files import Contents, Progress, nothing
from recollect.store.sqlite import tables
from recollect.store.sqlite.database import translate
from recollect.store.sqlite.faults import FAULTS
from recollect.store.sqlite.tables import Table

STEP = 500  # rows between two chances to give way


def copy(source: Path, target: Path, progress: Progress = nothing) -> Contents:
    """`progress` is called between two steps and may take its time. Raises StoreDamaged where the source
    cannot be read; then there is no target."""
    if not source.exists() or source.stat().st_size == 0:
        raise StoreMissing
    try:
        with closing(_connected(source, target)) as connection:
            return _filled(connection, progress)
    except FAULTS as error:
        target.unlink(missing_ok=True)
        raise translate(error, source) from error
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def check(path: Path) -> Contents:
    """Of a file that nobody writes. Raises StoreDamaged unless every page is sound and every row belongs to
    one that is there."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA cell_size_check = 1")
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreDamaged(f"{path} is damaged ({found}).")
            if orphan := connection.execute("PRAGMA foreign_key_check").fetchone():
                raise StoreDamaged(f"{path} is damaged (a row of {orphan[0]} belongs to nothing).")
            schema = tables.version(connection)
            if schema > tables.newest():
                raise StoreTooNew
            if schema == 0:
                raise StoreDamaged(f"{path} is damaged (it has no tables).")
            return Contents(schema, tables.counts(connection))
    except FAULTS as error:
        raise StoreDamaged(f"{path} is damaged ({error}).") from error


def version(path: Path) -> int:
    """0 for a file that holds nothing yet."""
    with _read_only(path) as connection:
        return tables.version(connection)


def newest_event(path: Path) -> int:
    """Of a database of any version: a store would refuse one that is still to be brought up to date."""
    with _read_only(path) as connection:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])


@contextmanager
def _read_only(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            yield connection
    except FAULTS as error:
        raise translate(error, path) from error


def _connected(source: Path, target: Path) -> sqlite3.Connection:
    """To a blank target of the same version, with the source attached, to be read only."""
    schema = version(source)
    if schema > tables.newest():
        raise StoreTooNew
    if schema == 0:
        raise StoreMissing
    connection = tables.blank(target, schema)
    try:
        uri = f"{source.absolute().as_uri()}?mode=ro"
        connection.execute("ATTACH ? AS live", (uri,))
    except BaseException:
        connection.close()
        raise
    return connection


def _filled(connection: sqlite3.Connection, progress: Progress) -> Contents:
    schema = tables.version(connection)
    connection.execute("BEGIN")
    if tables.version(connection, "live") != schema:  # somebody has migrated it just now
        raise StoreError("The database was brought up to date meanwhile. Try again.")
    expected = tables.counts(connection, "live")
    total, done = sum(expected.values()), 0
    with tables.without_triggers(connection):
        for table in tables.kept(connection):
            for taken in _steps(connection, table):
                done += taken if table.name in expected else 0
                progress(done, total)
        _take_numbers(connection)
    connection.execute("COMMIT")
    found = tables.counts(connection)
    if found != expected:
        raise StoreDamaged(
            "The copy lacks rows; its source may be damaged. Run `recollect doctor`."
        )
    return Contents(schema, found)


def _steps(connection: sqlite3.Connection, table: Table) -> Iterator[int]:
    """How many rows each step took."""
    if not table.has_rowid:  # small rows, and no id to go on from
        query = f'INSERT INTO main."{table.name}" SELECT {table.listed} FROM live."{table.name}"'
        yield connection.execute(query).rowcount
        return
    query = (
        f'INSERT INTO main."{table.name}" ({table.listed}) SELECT {table.listed} '
        f'FROM live."{table.name}" WHERE rowid > ? AND rowid <= ?'
    )
    last = f'SELECT max(rowid) FROM (SELECT rowid FROM live."{table.name}" WHERE rowid > ? LIMIT {STEP})'
    after = 0
    while (until := connection.execute(last, (after,)).fetchone()[0]) is not None:
        yield connection.execute(query, (after, until)).rowcount
        after = until


def _take_numbers(connection: sqlite3.Connection) -> None:
    """Ids that were given to rows that are gone are not given again."""
    connection.execute("DELETE FROM main.sqlite_sequence")
    derived = ", ".join(f"'{name}'" for name in sorted(tables.DERIVED))
    connection.execute(
        "INSERT INTO main.sqlite_sequence (name, seq) "
        f"SELECT name, seq FROM live.sqlite_sequence WHERE name NOT IN ({derived})"
    )
