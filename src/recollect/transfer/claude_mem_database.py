"""A claude-mem database, read from a copy of our own.

The program may be running, so its files are opened read-only at most, and where even that would create a file
beside them, not at all. The copy has no name and is gone when we are.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from recollect.errors import TransferError

FOLDER = ".claude-mem"
FILE = "claude-mem.db"
FOLDER_VARIABLE = "CLAUDE_MEM_DATA_DIR"
MAGIC = b"SQLite format 3\0"
WAL_VERSION = 2
SECONDS = 30.0
# One of each: what a table's columns are called now, and what they were called before.
SESSION_NAMES = {
    "sdk_sessions": (
        ("content_session_id", "claude_session_id", "session_id"),
        ("memory_session_id", "sdk_session_id"),
    ),
    "observations": (("memory_session_id", "sdk_session_id"),),
    "session_summaries": (("memory_session_id", "sdk_session_id"),),
    "user_prompts": (("content_session_id", "claude_session_id", "sdk_session_id"),),
}
NEEDED = ("sdk_sessions", "observations")


def default_path(env: Mapping[str, str]) -> Path:
    folder = env.get(FOLDER_VARIABLE)
    return (Path(folder).expanduser() if folder else Path.home() / FOLDER) / FILE


def open_copy(path: Path) -> sqlite3.Connection:
    """Rows by name; text that is not UTF-8 is read as far as it goes."""
    _check_header(path)
    copy = sqlite3.connect("", check_same_thread=False)
    try:
        _fill(copy, path)
        faults = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if faults != "ok":
            raise sqlite3.DatabaseError(faults)
        copy.row_factory = sqlite3.Row
        copy.text_factory = lambda data: data.decode("utf-8", "replace")
        _check_tables(copy, path)
    except sqlite3.DatabaseError as error:
        copy.close()
        raise TransferError(
            f"{path} cannot be read ({error}). If claude-mem is running, stop it and try again; if the file "
            "is damaged, mend it with `sqlite3 old.db .recover | sqlite3 new.db` and import new.db."
        ) from None
    except TransferError:
        copy.close()
        raise
    return copy


def project_names(path: Path) -> list[str]:
    """For a shell's completion, which must not wait: as the file stands, and nothing if that fails."""
    try:
        uri = f"{path.absolute().as_uri()}?immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as source:
            return [
                str(row[0]) for row in source.execute("SELECT DISTINCT project FROM sdk_sessions")
            ]
    except (sqlite3.Error, ValueError):
        return []


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """None at all for a table that is not there."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(row[0] for row in rows)


def session_columns(connection: sqlite3.Connection, table: str) -> list[str | None]:
    there = columns(connection, table)
    return [next((n for n in names if n in there), None) for names in SESSION_NAMES[table]]


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_sqlite = file.read(len(MAGIC)) == MAGIC
    except FileNotFoundError:
        raise TransferError(
            f"There is no {path}. Give the path of claude-mem's database, or set {FOLDER_VARIABLE}."
        ) from None
    except OSError as error:
        raise TransferError(f"{path} cannot be read: {error.strerror}.") from None
    if not is_sqlite:
        raise TransferError(f"{path} is not an SQLite database. Claude-mem's is called {FILE}.")


def _check_tables(copy: sqlite3.Connection, path: Path) -> None:
    for table in NEEDED:
        if None in session_columns(copy, table):
            raise TransferError(
                f"{path} is not a claude-mem database: it has no table {table!r} as claude-mem makes it. "
                f"Claude-mem's own is usually ~/{FOLDER}/{FILE}."
            )


def _fill(copy: sqlite3.Connection, path: Path) -> None:
    log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    if log.exists() and not shared.exists():
        # Nobody has it open, and opening it would make files there.
        with tempfile.TemporaryDirectory() as folder:
            for file in (path, log):
                shutil.copyfile(file, Path(folder, file.name))
            _back_up(Path(folder, path.name), "mode=rw", copy)
        return
    with path.open("rb") as opened:
        in_wal_mode = opened.read(20)[18:] == bytes((WAL_VERSION, WAL_VERSION))
    # In that mode, without a log, it is closed and complete.
    _back_up(path, "immutable=1" if in_wal_mode and not log.exists() else "mode=ro", copy)


def _back_up(path: Path, how: str, copy: sqlite3.Connection) -> None:
    uri = f"{path.absolute().as_uri()}?{how}"
    with closing(sqlite3.connect(uri, uri=True, timeout=SECONDS)) as source:
        source.backup(copy)
