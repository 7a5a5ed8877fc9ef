"""The tables, as copies of a database see them: those that hold what was told, and those that are made of it.

A table that nobody names here counts as one that must be kept; a new migration can forget nothing.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recollect.store.sqlite import queries

# The index: `recollect rebuild` makes it again. More than half of a database, measured.
DERIVED = frozenset(
    {
        *("documents", "document_vectors", "document_labels", "document_words"),
        *("event_texts", "event_words", "fact_words", "unindexed", "index_state"),
    }
)
NUMBERS = "sqlite_sequence"  # which ids were given out, also of rows that are gone
# What people count. Names as in `records.py` and in the tables.
COUNTED = ("projects", "sessions", "prompts", "events", "observations", "summaries", "requests")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    key: int  # its place in the primary key, from 1; 0 is in none


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    has_rowid: bool

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column.name}"' for column in self.columns)

    @property
    def places(self) -> str:
        return ", ".join("?" * len(self.columns))

    @property
    def key(self) -> str:
        keyed = sorted((c.key, c.name) for c in self.columns if c.key)
        return "rowid" if self.has_rowid else ", ".join(f'"{name}"' for _, name in keyed)


def newest() -> int:
    return queries.migrations()[-1][0]


def version(connection: sqlite3.Connection, schema: str = "main") -> int:
    return int(connection.execute(f"PRAGMA {schema}.user_version").fetchone()[0])


def kept(connection: sqlite3.Connection) -> tuple[Table, ...]:
    """Of a sound database: all but the index and SQLite's own."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
    found: list[tuple[str, str]] = rows.fetchall()
    virtual = tuple(f"{name}_" for name, sql in found if sql and sql.startswith("CREATE VIRTUAL"))
    return tuple(
        Table(name, _columns(connection, name), not sql.rstrip().endswith("WITHOUT ROWID"))
        for name, sql in found
        if name not in DERIVED and not name.startswith(("sqlite_", *virtual))
    )


def blank(path: Path, schema_version: int) -> sqlite3.Connection:
    """A new database of that version, without a row. It is synced by whoever keeps it, so nothing waits for
    the disk meanwhile. `uri`: others are attached by that."""
    connection = sqlite3.connect(
        path.absolute().as_uri(), uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        steps = [script for number, script in queries.migrations() if number <= schema_version]
        connection.executescript("\n".join(steps))
        connection.execute(f"PRAGMA user_version = {schema_version}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def without_triggers(connection: sqlite3.Connection) -> Iterator[None]:
    """Rows that are copied have had their effects. Inside a transaction, or a failure leaves none."""
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    triggers = found.fetchall()
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER "{name}"')
    yield
    for _, sql in triggers:
        connection.execute(sql)


def counts(connection: sqlite3.Connection, schema: str = "main") -> dict[str, int]:
    return {
        name: int(connection.execute(f"SELECT count(*) FROM {schema}.{name}").fetchone()[0])
        for name in COUNTED
        if connection.execute(f"PRAGMA {schema}.table_info({name})").fetchone()
    }


def _columns(connection: sqlite3.Connection, table: str) -> tuple[Column, ...]:
    rows = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    return tuple(Column(name, kind.upper(), key) for _, name, kind, _, _, key in rows)
