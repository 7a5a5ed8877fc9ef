"""Connections: one that writes, many that read.

Exactly one process writes (SQLite before 3.51.3 can corrupt a WAL that two processes reset at once,
and its busy handler is unfair), so a writer may only be opened by the holder of the worker's lock.
Commits are durable (`synchronous=FULL`) because a spool file is unlinked right after. Readers open
read-only, one connection per thread, and never wait for the writer.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from aforesaid.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew
from aforesaid.filesystems import why_shared
from aforesaid.paths import PRIVATE_FILE, private_dir
from aforesaid.text import sqlite_safe

T = TypeVar("T")
Row = sqlite3.Row
# Where damage has reached the schema, the quote in SQLite's error is no UTF-8, and Python raises
# UnicodeDecodeError in place of the error.
Fault = sqlite3.DatabaseError | UnicodeDecodeError
FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError)
QUERY_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
BUSY_SECONDS = 30.0
OLDEST_SQLITE = (3, 35, 0)  # the first with RETURNING
WAL_LIMIT = 64 * 1024 * 1024
DAMAGE = ("malformed", "disk I/O error")  # in an error that may be about anything


@cache
def load_queries(topic: str) -> dict[str, str]:
    """The statements of `sql/<topic>.sql` by name."""
    text = resources.files(__package__).joinpath("sql", f"{topic}.sql").read_text("utf-8")
    parts = QUERY_NAME.split(text)
    return dict(zip(parts[1::2], (body.strip() for body in parts[2::2]), strict=True))


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """(number, script), in order."""
    folder = resources.files(__package__).joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple((int(f.name.partition("_")[0]), f.read_text("utf-8")) for f in files)


def newest_version() -> int:
    return migrations()[-1][0]


class Database:
    def __init__(self, path: Path, *, writer: bool, checked: bool = False) -> None:
        """`checked`: the file was checked already."""
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(_old_sqlite())
        self.path, self._checked = path, checked
        self.before_commit: Callable[[sqlite3.Connection], None] = lambda _: None
        self.on_damage: Callable[[StoreDamaged], None] = lambda _: None
        self.lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._readers_lock = threading.Lock()
        self.writer: sqlite3.Connection | None = None
        if writer:
            try:
                self.writer = self._open_writer()
            except FAULTS as error:
                raise translate(error, path) from error
        elif not path.exists():
            raise StoreMissing
        else:
            self.reader()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, durable when it returns. Threads take turns."""
        assert self.writer is not None, "this store was opened for reading"
        with self.lock:
            try:
                self.writer.execute("BEGIN IMMEDIATE")
                yield self.writer
                self.before_commit(self.writer)
                self.writer.commit()
            except sqlite3.DatabaseError as error:
                self.writer.rollback()
                # A lock or the disk, not what was written: the caller may wait and try again.
                if type(error) in (sqlite3.DatabaseError, sqlite3.OperationalError):
                    raise self.refused(error) from error
                raise
            except StoreDamaged as error:
                self.writer.rollback()
                self.on_damage(error)
                raise
            except BaseException:
                self.writer.rollback()
                raise

    def rows(self, noun: str, name: str, /, **values: Any) -> list[Row]:
        try:
            return write(self.reader(), noun, name, values).fetchall()
        except FAULTS as error:
            raise self.refused(error) from error

    def each(self, noun: str, name: str, /, **values: Any) -> Iterator[Row]:
        """One at a time: for rows that together may be larger than memory."""
        try:
            yield from write(self.reader(), noun, name, values)
        except FAULTS as error:
            raise self.refused(error) from error

    def row(self, noun: str, name: str, /, **values: Any) -> Row | None:
        found = self.rows(noun, name, **values)
        return found[0] if found else None

    def all(self, kind: type[T], noun: str, name: str, /, **values: Any) -> list[T]:
        """The rows as values: the columns are the fields."""
        return [kind(**dict(row)) for row in self.rows(noun, name, **values)]

    def one(self, kind: type[T], noun: str, name: str, /, **values: Any) -> T | None:
        return next(iter(self.all(kind, noun, name, **values)), None)

    def value(self, noun: str, name: str, /, **values: Any) -> Any:
        """The first column of the first row; None if there is none."""
        found = self.row(noun, name, **values)
        return found[0] if found else None

    def number(self, noun: str, name: str, /, **values: Any) -> int:
        return int(self.value(noun, name, **values) or 0)

    def execute(self, noun: str, name: str, values: Mapping[str, Any]) -> int:
        """One statement in a transaction of its own: how many rows it changed."""
        with self.transaction() as connection:
            return write(connection, noun, name, values).rowcount

    def refused(self, error: Fault) -> StoreError:
        """Damage is reported to whoever can repair it, whichever thread has met it."""
        found = translate(error, self.path)
        if isinstance(found, StoreDamaged):
            self.on_damage(found)
        return found

    def check(self) -> None:
        """Raises StoreDamaged unless every page and every index is sound."""
        try:
            faults = [row[0] for row in self.reader().execute("PRAGMA integrity_check(5)")]
        except FAULTS as error:
            raise translate(error, self.path) from error
        if faults != ["ok"]:
            raise StoreDamaged(_damaged(self.path, faults[0]))

    def close(self) -> None:
        """Nobody may be asking it anything: SQLite does not survive that."""
        with self.lock, self._readers_lock:
            for _, connection in self._readers:
                connection.close()
            self._readers.clear()
            if self.writer is not None:
                self.writer.close()
            self.writer = None

    def reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = self._open_reader()
            except FAULTS as error:
                raise self.refused(error) from error
            self._local.connection = connection
            self._keep(connection)
        return connection

    def _open_reader(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
        with _closed_on_error(connection):
            connection.row_factory = Row
            connection.execute("PRAGMA query_only = 1")
            if _version(connection) == 0:  # the worker is just about to make the tables
                raise StoreMissing
            _check_version(connection)
            if _version(connection) < newest_version():
                raise StoreError(_old(self.path))
        return connection

    def _keep(self, connection: sqlite3.Connection) -> None:
        """And close those of threads that have ended: a pool may start many in the life of a server."""
        with self._readers_lock:
            for kept in self._readers.copy():
                thread, idle = kept
                if not thread.is_alive():
                    self._readers.remove(kept)
                    idle.close()
            self._readers.append((threading.current_thread(), connection))

    def _open_writer(self) -> sqlite3.Connection:
        private_dir(self.path.parent)
        # SQLite would create it with the umask's mode, and -wal and -shm copy that.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE))
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with _closed_on_error(connection):
            connection.row_factory = Row
            # Where others may have a hand in the file, the log's shared memory proves nothing.
            journal = "DELETE" if why_shared(self.path.parent) else "WAL"
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
            if not self._checked:
                quick = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if quick != "ok":
                    raise StoreDamaged(_damaged(self.path, quick))
            migrate(connection)
        return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


class Part:
    """What the store can do with one kind of thing."""

    def __init__(self, database: Database) -> None:
        self._db = database


def migrate(connection: sqlite3.Connection, until: int | None = None) -> None:
    """The missing steps are one transaction: a kill leaves the old or the new schema, and no reader sees one
    that is half made. `until`: no further than to that version."""
    _check_version(connection)
    before, newest = _version(connection), until or newest_version()
    missing = [each for each in migrations() if before < each[0] <= newest]
    if missing:
        scripts = "\n".join(script for _, script in missing)
        version = missing[-1][0]
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{scripts}\nPRAGMA user_version = {version};\nCOMMIT;"
        )


def write(
    connection: sqlite3.Connection, noun: str, name: str, values: Mapping[str, Any]
) -> sqlite3.Cursor:
    return connection.execute(load_queries(noun)[name], _safe(values))


def write_many(
    connection: sqlite3.Connection, noun: str, name: str, rows: Iterable[Mapping[str, Any]]
) -> None:
    connection.executemany(load_queries(noun)[name], map(_safe, rows))


def _safe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every text passes here on its way into a statement."""
    return {
        name: sqlite_safe(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def write_one(
    connection: sqlite3.Connection, noun: str, name: str, values: Mapping[str, Any]
) -> Row | None:
    """The first row of a query or a RETURNING. All rows are fetched: an unfinished one holds a lock."""
    found = write(connection, noun, name, values).fetchall()
    return found[0] if found else None


def write_id(
    connection: sqlite3.Connection, noun: str, name: str, values: Mapping[str, Any]
) -> int:
    """The first column of the row that an INSERT returns."""
    row = write_one(connection, noun, name, values)
    assert row is not None, (noun, name)
    return int(row[0])


def translate(error: Fault, path: Path) -> StoreError:
    if isinstance(error, UnicodeDecodeError):
        return StoreDamaged(_damaged(path, "its tables are not what they were"))
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is locked by another program. Close it and try again.")
    if "Could not decode" in text:  # what follows is the content itself
        return StoreDamaged(_damaged(path, "a text is none"))
    if isinstance(error, sqlite3.OperationalError) and not any(sign in text for sign in DAMAGE):
        return StoreError(f"{path} cannot be used: {text}. Run `aforesaid doctor`.")
    return StoreDamaged(_damaged(path, text))


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is damaged ({why}). `aforesaid worker restart` mends it, from what can still be read and "
        "the backups, or says what to do; captured events wait in the spool."
    )


def _old(path: Path) -> str:
    return f"{path} is of an older aforesaid. Bring it up to date with `aforesaid worker start`."


def _old_sqlite() -> str:
    return (
        f"This Python has SQLite {sqlite3.sqlite_version}; aforesaid needs 3.35 or later. Install it with a "
        "newer Python."
    )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_version(connection: sqlite3.Connection) -> None:
    if _version(connection) > newest_version():
        raise StoreTooNew
