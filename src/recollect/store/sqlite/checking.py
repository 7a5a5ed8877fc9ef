"""Is a database sound? Three answers: at a glance, within a moment, and for certain.

`glance` costs the same however large the file is: it is for a database that was closed well and not touched
since. `quick` is SQLite's own look at every page, for as long as one can wait. `certain` also reads every
row. SQLite refuses to open a file to read it only while there is a journal to be rolled back.
"""

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from recollect.store.sqlite import salvage, scanning, tables
from recollect.store.sqlite.faults import FAULTS

INSTRUCTIONS = 10_000  # between two looks at the clock
certain = salvage.is_sound


def roll_back(path: Path) -> None:
    """SQLite does that by itself, for whoever may write. What keeps it from doing so the next look tells.
    Only where there is a journal: to close a database that has a log would take it in."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    with (
        suppress(*FAULTS),
        closing(sqlite3.connect(uri, uri=True)) as connection,
    ):
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def glance(path: Path) -> str | None:
    """The header, the schema and both ends of every table. What is wrong, if anything is."""
    try:
        with closing(scanning.open_damaged(path)) as connection:
            if tables.version(connection) == 0:
                return "it has no tables"
            connection.execute("PRAGMA writable_schema = 0")
            for table in tables.kept(connection):
                for order in ("ASC", "DESC"):
                    keys = ", ".join(f"{key} {order}" for key in table.key.split(", "))
                    ends = f'SELECT {table.listed} FROM "{table.name}" ORDER BY {keys} LIMIT 1'
                    connection.execute(ends).fetchone()
    except FAULTS as error:
        return str(error)
    return None


def quick(path: Path, seconds: float) -> tuple[str | None, bool]:
    """What is wrong, if anything is; and whether everything was looked at in that time.

    Who opens a file to read it only has no CHECK of its tables looked at. So this one may write, and does
    not: another stays open beside it, because the last to leave would take the log in."""
    end = time.monotonic() + seconds
    uri = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with (
            closing(scanning.open_damaged(path)) as beside,
            closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
        ):
            beside.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA cell_size_check = 1")
            if tables.version(connection) == 0:
                return "it has no tables", True
            connection.set_progress_handler(lambda: time.monotonic() > end, INSTRUCTIONS)
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            return (None if found == "ok" else found), True
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            return None, False
        return str(error), True
    except FAULTS as error:
        return str(error), True
