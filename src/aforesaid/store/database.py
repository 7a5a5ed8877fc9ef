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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, cast

from aforesaid.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew
from aforesaid.filesystems import why_shared
from aforesaid.paths import PRIVATE_FILE, private_dir
from aforesaid.store.values import bound, read

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


class Queries(ABC):
    """Asks the statements of `sql/` by topic and name."""

    @abstractmethod
    def rows(self, noun: str, name: str, /, **values: Any) -> list[Row]: ...

    def row(self, noun: str, name: str, /, **values: Any) -> Row | None:
        return next(iter(self.rows(noun, name, **values)), None)

    def only(self, noun: str, name: str, /, **values: Any) -> Row:
        """The row of a statement that always has one."""
        return self.rows(noun, name, **values)[0]

    def all(self, kind: type[T], noun: str, name: str, /, **values: Any) -> list[T]:
        """The rows as values: the columns are the fields."""
        return [read(kind, row) for row in self.rows(noun, name, **values)]

    def one(self, kind: type[T], noun: str, name: str, /, **values: Any) -> T | None:
        return next(iter(self.all(kind, noun, name, **values)), None)

    def column(self, _kind: type[T], noun: str, name: str, /, **values: Any) -> list[T]:
        """The first column of all rows, which is of that type."""
        return [cast(T, row[0]) for row in self.rows(noun, name, **values)]

    def value(self, kind: type[T], noun: str, name: str, /, **values: Any) -> T | None:
        """The first column of the first row; None if there is none."""
        return next(iter(self.column(kind, noun, name, **values)), None)

    def number(self, noun: str, name: str, /, **values: Any) -> int:
        """Such as a new id or a count."""
        return self.value(int, noun, name, **values) or 0


class Connection(sqlite3.Connection, Queries):
    def run(self, noun: str, name: str, /, **values: Any) -> sqlite3.Cursor:
        """Lists and sets are bound as JSON."""
        return self.execute(load_queries(noun)[name], {k: bound(v) for k, v in values.items()})

    def rows(self, noun: str, name: str, /, **values: Any) -> list[Row]:
        """Also those of a RETURNING. All are fetched: an unfinished statement holds a lock."""
        return self.run(noun, name, **values).fetchall()


class Database(Queries):
    def __init__(self, path: Path, *, writer: bool, checked: bool = False) -> None:
        """`checked`: the file was checked already."""
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"This Python has SQLite {sqlite3.sqlite_version}; aforesaid needs 3.35 or later. Install it "
                "with a newer Python."
            )
        self.path, self._checked = path, checked
        self.before_commit: Callable[[Connection], object] = lambda _: None
        self.on_damage: Callable[[StoreDamaged], None] = lambda _: None
        self.lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, Connection]] = []
        self._readers_lock = threading.Lock()
        self.writer: Connection | None = None
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
    def transaction(self) -> Iterator[Connection]:
        """All or nothing, durable when it returns. Threads take turns."""
        assert self.writer is not None, "this store was opened for reading"
        with self.lock:
            try:
                self.writer.execute("BEGIN IMMEDIATE")
                yield self.writer
                self.before_commit(self.writer)
                self.writer.commit()
            except BaseException as error:
                self.writer.rollback()
                # A lock or the disk, not what was written: the caller may wait and try again.
                if type(error) in (sqlite3.DatabaseError, sqlite3.OperationalError):
                    raise self.refused(cast(sqlite3.DatabaseError, error)) from error
                if isinstance(error, StoreDamaged):
                    self.on_damage(error)
                raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """This thread's reader. What it meets is raised as a StoreError."""
        try:
            yield self.reader()
        except FAULTS as error:
            raise self.refused(error) from error

    def rows(self, noun: str, name: str, /, **values: Any) -> list[Row]:
        with self.reading() as connection:
            return connection.rows(noun, name, **values)

    def each(self, noun: str, name: str, /, **values: Any) -> Iterator[Row]:
        """One at a time: for rows that together may be larger than memory."""
        with self.reading() as connection:
            yield from connection.run(noun, name, **values)

    def run(self, noun: str, name: str, /, **values: Any) -> int:
        """One statement in a transaction of its own: how many rows it changed."""
        with self.transaction() as connection:
            return connection.run(noun, name, **values).rowcount

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

    def reader(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = self._open_reader()
            except FAULTS as error:
                raise self.refused(error) from error
            self._local.connection = connection
            with self._readers_lock:
                # Close those of threads that have ended: a pool may start many in the life of a server.
                for kept in [each for each in self._readers if not each[0].is_alive()]:
                    self._readers.remove(kept)
                    kept[1].close()
                self._readers.append((threading.current_thread(), connection))
        return connection

    def _open_reader(self) -> Connection:
        connection = _connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)
        with ExitStack() as on_error:
            on_error.callback(connection.close)
            connection.execute("PRAGMA query_only = 1")
            version = _check_version(connection)
            if version == 0:  # the worker is just about to make the tables
                raise StoreMissing
            if version < newest_version():
                update = "Bring it up to date with `aforesaid worker start`."
                raise StoreError(f"{self.path} is of an older aforesaid. {update}")
            on_error.pop_all()
        return connection

    def _open_writer(self) -> Connection:
        private_dir(self.path.parent)
        # SQLite would create it with the umask's mode, and -wal and -shm copy that.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE))
        connection = _connect(self.path, isolation_level=None)
        with ExitStack() as on_error:
            on_error.callback(connection.close)
            # Where others may have a hand in the file, the log's shared memory proves nothing.
            journal = "DELETE" if why_shared(self.path.parent) else "WAL"
            settings = (f"journal_mode = {journal}", "synchronous = FULL", "foreign_keys = ON")
            for setting in (*settings, f"journal_size_limit = {WAL_LIMIT}"):
                connection.execute(f"PRAGMA {setting}")
            if not self._checked:
                quick = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if quick != "ok":
                    raise StoreDamaged(_damaged(self.path, quick))
            migrate(connection)
            on_error.pop_all()
        return connection


def open_file(path: Path, mode: str = "ro") -> sqlite3.Connection:
    """A plain connection to a file that may be damaged, or is no store's."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _connect(place: str | Path, **options: Any) -> Connection:
    connection = sqlite3.connect(
        place, timeout=BUSY_SECONDS, check_same_thread=False, factory=Connection, **options
    )
    connection.row_factory = Row
    return connection


class Part:
    """What the store can do with one kind of thing."""

    def __init__(self, database: Database) -> None:
        self._db = database


def migrate(connection: sqlite3.Connection, until: int | None = None) -> None:
    """In one transaction: a kill leaves the old or the new schema. `until`: the last version."""
    before, newest = _check_version(connection), until or newest_version()
    missing = [each for each in migrations() if before < each[0] <= newest]
    if missing:
        scripts = "\n".join(script for _, script in missing)
        version = missing[-1][0]
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{scripts}\nPRAGMA user_version = {version};\nCOMMIT;"
        )


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


def schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_version(connection: sqlite3.Connection) -> int:
    version = schema_version(connection)
    if version > newest_version():
        raise StoreTooNew
    return version
