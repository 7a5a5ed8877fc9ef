"""Damage that a query meets is told to whoever can have it mended, wherever it is met."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from recollect.errors import StoreDamaged
from recollect.paths import Paths
from recollect.store.sqlite.store import SqliteStore


class Malformed(sqlite3.Connection):
    """One that stumbles when it reads rows, or the whole file."""

    at: tuple[str, ...] = ()

    def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
        if query.lstrip().startswith(self.at):
            raise sqlite3.DatabaseError("database disk image is malformed")
        return super().execute(query, *values)


@pytest.fixture
def store(home: Paths) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home.database, writer=True)) as store:
        yield store


MEETINGS: dict[str, Callable[[SqliteStore], object]] = {
    "a row": lambda store: store.row("events", "newest"),
    "one row after the other": lambda store: [*store.each("events", "newest")],
    "rows with a text": lambda store: store._found(store._reader(), "prompts"),
    "giving space back": lambda store: store.shrink(at_once=True),
    "scrubbing": lambda store: store.scrub(),
    "emptying the log": lambda store: store.empty_log(),
}


def stumbling(name: str, connection: Malformed) -> tuple[str, object]:
    if "row" in name:
        connection.at = ("SELECT",)
        return "_reader", lambda: connection
    connection.at = ("VACUUM", "PRAGMA wal_checkpoint")
    return "_writer", connection


@pytest.mark.parametrize("name", MEETINGS)
def test_damage_is_told_wherever_it_is_met(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """T25: a new worker looks for certain, and mends it."""
    met: list[StoreDamaged] = []
    store.on_damage = met.append
    with closing(Malformed(store._path, isolation_level=None)) as connection:
        monkeypatch.setattr(store, *stumbling(name, connection))
        with pytest.raises(StoreDamaged):
            MEETINGS[name](store)
    assert met
