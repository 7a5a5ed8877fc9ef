"""The database as a file: copied, checked, and its parts.

`check_pages` is SQLite's own check of every page, within a time limit. `check_rows` also reads every row.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aforesaid.errors import StoreDamaged, StoreMissing, StoreTooNew
from aforesaid.store.database import FAULTS, newest_version, open_file, schema_version, translate
from aforesaid.store.salvage import kept_tables, open_damaged
from aforesaid.store.store import Store

Progress = Callable[[int, int], None]  # done, of how much
# The journal takes the place of a log where the file system is shared.
SUFFIXES = ("", "-wal", "-shm", "-journal")
# What people count.
COUNTED = ("projects", "sessions", "prompts", "events", "observations", "summaries", "requests")
STEP_PAGES = 500  # of a copy, before others get their turn
INSTRUCTIONS = 10_000  # of SQLite, between two looks at the clock


def no_progress(_done: int, _total: int) -> None:
    pass


class Contents(NamedTuple):
    """What a database holds, counted by table."""

    schema: int
    rows: dict[str, int]


def parts(database: Path) -> tuple[Path, ...]:
    """The file and its companions, whether they exist or not."""
    return tuple(Path(os.fspath(database) + suffix) for suffix in SUFFIXES)


def copy(source: Path, target: Path, progress: Progress = no_progress) -> Contents:
    """A snapshot of a database that may be in use. A failure leaves no target."""
    try:
        if not source.exists():
            raise StoreMissing
        with (
            _reading(source) as live,
            closing(sqlite3.connect(target, isolation_level=None)) as copied,
        ):
            live.execute("BEGIN")  # one snapshot: writers meanwhile do not restart the copy
            version = schema_version(live)
            if version > newest_version():
                raise StoreTooNew
            if version == 0:
                raise StoreMissing

            def report(_status: int, remaining: int, total: int) -> None:
                progress(total - remaining, total)

            live.backup(copied, pages=STEP_PAGES, progress=report)
            copied.execute("PRAGMA journal_mode = DELETE")  # readers make no files beside the copy
            return Contents(version, count_rows(copied))
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def check(path: Path) -> Contents:
    """Of a file that is not in use. Raises StoreDamaged unless every page and every reference is sound."""
    try:
        with closing(open_file(path)) as connection:
            connection.execute("PRAGMA cell_size_check = 1")
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreDamaged(f"{path} is damaged ({found}).")
            if orphan := connection.execute("PRAGMA foreign_key_check").fetchone():
                raise StoreDamaged(f"{path} is damaged (a row of {orphan[0]} belongs to nothing).")
            version = schema_version(connection)
            if version > newest_version():
                raise StoreTooNew
            if version == 0:
                raise StoreDamaged(f"{path} is damaged (it has no tables).")
            return Contents(version, count_rows(connection))
    except FAULTS as error:
        raise StoreDamaged(f"{path} is damaged ({error}).") from error


def read_version(path: Path) -> int:
    """0 for a file without tables."""
    with _reading(path) as connection:
        return schema_version(connection)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(open_file(path)) as connection:
            yield connection
    except FAULTS as error:
        raise translate(error, path) from error


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    return {
        name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])
        for name in COUNTED
        if connection.execute(f"PRAGMA table_info({name})").fetchone()
    }


def roll_back(path: Path) -> None:
    """Applies a rollback journal, if there is one: SQLite refuses to open such a file read-only. Only then:
    closing a database that has a log would checkpoint it."""
    if not parts(path)[-1].exists():
        return
    with suppress(*FAULTS), closing(open_file(path, "rw")) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def check_pages(path: Path, seconds: float) -> tuple[str | None, bool]:
    """What is wrong, if anything is; and whether everything was checked in that time.

    CHECK constraints are not checked on a read-only connection, so this one may write, and does not. A second
    connection stays open: the last one to close would checkpoint the log."""
    end = time.monotonic() + seconds
    try:
        with (
            closing(open_damaged(path)) as beside,
            closing(open_file(path, "rw")) as connection,
        ):
            beside.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA cell_size_check = 1")
            if schema_version(connection) == 0:
                return "it has no tables", True
            connection.set_progress_handler(lambda: time.monotonic() > end, INSTRUCTIONS)
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            return (None if found == "ok" else found), True
    except FAULTS as error:
        return (None, False) if str(error) == "interrupted" else (str(error), True)


def check_rows(path: Path) -> str | None:
    """Every page, every index and every row. What is wrong, if anything is."""
    try:
        with closing(open_damaged(path)) as connection:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                return str(found)
            for table in kept_tables(connection):
                if any(values is None for _, values in table.rows(connection)):
                    return f"the table {table.name} holds what was never written"
    except FAULTS as error:
        return str(error)
    return None


def prepare_restored(
    path: Path, *, reread_since: int | None = None, skip_until: int | None = None
) -> None:
    """Brings a restored database up to date: schema, search index, and which transcripts are read again."""
    with closing(Store(path, writer=True)) as store:
        store.index.reset()
        if reread_since is not None:
            store.events.reread_transcripts(reread_since)
        if skip_until is not None:
            store.events.skip_transcripts(skip_until)
