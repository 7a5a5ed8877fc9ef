"""Connections: one that writes, many that read.

Exactly one process writes (SQLite before 3.51.3 can corrupt a WAL that two processes reset at once,
and its busy handler is unfair), so a writer may only be opened by the holder of the worker's lock.
Commits are durable (`synchronous=FULL`) because a spool file is unlinked right after. Readers open
read-only, one connection per thread, and never wait for the writer.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.errors import StoreDamaged, StoreError, StoreMissing, StoreTooNew
from recollect.filesystems import why_shared
from recollect.paths import PRIVATE_FILE, private_dir
from recollect.store.sqlite import queries
from recollect.store.sqlite.faults import FAULTS, Fault

Row = sqlite3.Row
BUSY_SECONDS = 30.0
OLDEST_SQLITE = (3, 35, 0)  # the first with RETURNING
WAL_LIMIT = 64 * 1024 * 1024
DAMAGE = ("malformed", "disk I/O error")  # in an error that may be about anything


class Database:
    def __init__(self, path: Path, *, writer: bool, checked: bool = False) -> None:
        """`checked`: somebody has seen to it that the file is sound."""
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(_old_sqlite())
        self._path, self._checked = path, checked
        self.on_damage: Callable[[StoreDamaged], None] = lambda _: None
        self._lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._readers_lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        if writer:
            self._writer = self._open_writer()
        elif not path.exists():
            raise StoreMissing
        else:
            self._reader()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, durable when it returns. Threads take turns."""
        assert self._writer is not None, "this store was opened for reading"
        with self._lock:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self.before_commit(self._writer)
                self._writer.commit()
            except sqlite3.DatabaseError as error:
                self._writer.rollback()
                # A lock or the disk, not what was written: the caller may wait and try again.
                if type(error) in (sqlite3.DatabaseError, sqlite3.OperationalError):
                    raise self._refused(error) from error
                raise
            except StoreDamaged as error:
                self._writer.rollback()
                self.on_damage(error)
                raise
            except BaseException:
                self._writer.rollback()
                raise

    def before_commit(self, connection: sqlite3.Connection) -> None:
        """What has to be done before any transaction ends."""

    def rows(self, noun: str, name: str, /, **values: Any) -> list[Row]:
        try:
            return self._reader().execute(queries.load(noun)[name], values).fetchall()
        except FAULTS as error:
            raise self._refused(error) from error

    def each(self, noun: str, name: str, /, **values: Any) -> Iterator[Row]:
        """One at a time: for rows that together may be larger than memory."""
        try:
            yield from self._reader().execute(queries.load(noun)[name], values)
        except FAULTS as error:
            raise self._refused(error) from error

    def row(self, noun: str, name: str, /, **values: Any) -> Row | None:
        found = self.rows(noun, name, **values)
        return found[0] if found else None

    def _refused(self, error: Fault) -> StoreError:
        """Damage is told to whoever can have it mended, whichever thread has met it."""
        found = translate(error, self._path)
        if isinstance(found, StoreDamaged):
            self.on_damage(found)
        return found

    def check(self) -> None:
        """Raises StoreDamaged unless every page and every index is sound."""
        try:
            faults = [row[0] for row in self._reader().execute("PRAGMA integrity_check(5)")]
        except FAULTS as error:
            raise translate(error, self._path) from error
        if faults != ["ok"]:
            raise StoreDamaged(_damaged(self._path, faults[0]))

    def close(self) -> None:
        """Nobody may be asking it anything: SQLite does not survive that."""
        with self._lock, self._readers_lock:
            for _, connection in self._readers:
                connection.close()
            self._readers.clear()
            if self._writer is not None:
                self._writer.close()
            self._writer = None

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = sqlite3.connect(
                    f"{self._path.absolute().as_uri()}?mode=ro",
                    uri=True,
                    timeout=BUSY_SECONDS,
                    check_same_thread=False,
                )
            except FAULTS as error:
                raise self._refused(error) from error
            try:
                connection.row_factory = Row
                connection.execute("PRAGMA query_only = 1")
                if _version(connection) == 0:  # the worker is just about to make the tables
                    raise StoreMissing
                _check_version(connection)
                if _version(connection) < queries.migrations()[-1][0]:
                    raise StoreError(_old(self._path))
            except FAULTS as error:
                connection.close()
                raise self._refused(error) from error
            except StoreError:
                connection.close()
                raise
            self._local.connection = connection
            self._keep(connection)
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
        private_dir(self._path.parent)
        # SQLite would create it with the umask's mode, and -wal and -shm copy that.
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE))
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.row_factory = Row
            # Where others may have a hand in the file, the log's shared memory proves nothing.
            journal = "DELETE" if why_shared(self._path.parent) else "WAL"
            connection.execute(f"PRAGMA journal_mode = {journal}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT}")
            if not self._checked:
                quick = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if quick != "ok":
                    raise StoreDamaged(_damaged(self._path, quick))
            migrate(connection)
        except FAULTS as error:
            connection.close()
            raise translate(error, self._path) from error
        except StoreError:
            connection.close()
            raise
        return connection


def migrate(connection: sqlite3.Connection, until: int | None = None) -> None:
    """The missing steps are one transaction: a kill leaves the old or the new schema, and nobody reads one
    that is half made. `until`: no further than to that version."""
    _check_version(connection)
    before, newest = _version(connection), until or queries.migrations()[-1][0]
    missing = [each for each in queries.migrations() if before < each[0] <= newest]
    if missing:
        scripts = "\n".join(script for _, script in missing)
        version = missing[-1][0]
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{scripts}\nPRAGMA user_version = {version};\nCOMMIT;"
        )


def write(
    connection: sqlite3.Connection, noun: str, name: str, values: Mapping[str, Any]
) -> sqlite3.Cursor:
    return connection.execute(queries.load(noun)[name], values)


def write_many(
    connection: sqlite3.Connection, noun: str, name: str, rows: Iterable[Mapping[str, Any]]
) -> None:
    connection.executemany(queries.load(noun)[name], rows)


def write_one(
    connection: sqlite3.Connection, noun: str, name: str, values: Mapping[str, Any]
) -> Row | None:
    """The first row of a query or a RETURNING. All rows are fetched: an unfinished one holds a lock."""
    found = write(connection, noun, name, values).fetchall()
    return found[0] if found else None


def translate(error: Fault, path: Path) -> StoreError:
    if isinstance(error, UnicodeDecodeError):
        return StoreDamaged(_damaged(path, "its tables are not what they were"))
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreError(f"{path} is locked by another program. Close it and try again.")
    if "Could not decode" in text:  # what follows is the content itself
        return StoreDamaged(_damaged(path, "a text is none"))
    if isinstance(error, sqlite3.OperationalError) and not any(sign in text for sign in DAMAGE):
        return StoreError(f"{path} cannot be used: {text}. Run `recollect doctor`.")
    return StoreDamaged(_damaged(path, text))


def _damaged(path: Path, why: str) -> str:
    return (
        f"{path} is damaged ({why}). `recollect worker restart` mends it, from what can still be read and "
        "the backups, or says what to do; captured events wait in the spool."
    )


def _old(path: Path) -> str:
    return f"{path} is of an older recollect. Bring it up to date with `recollect worker start`."


def _old_sqlite() -> str:
    return (
        f"This Python has SQLite {sqlite3.sqlite_version}; recollect needs 3.35 or later. Install it with a "
        "newer Python."
    )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_version(connection: sqlite3.Connection) -> None:
    if _version(connection) > queries.migrations()[-1][0]:
        raise StoreTooNew
