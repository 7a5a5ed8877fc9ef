"""Damage that a query meets is told to whoever can have it mended, wherever it is met."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from aforesaid.errors import StoreDamaged
from aforesaid.paths import Paths
from aforesaid.store.database import Connection
from aforesaid.store.store import Store


class Malformed(Connection):
    """One that stumbles when it reads rows, or the whole file."""

    at: tuple[str, ...] = ()

    def execute(self, query: str, *values: Any) -> sqlite3.Cursor:
        if query.lstrip().startswith(self.at):
            raise sqlite3.DatabaseError("database disk image is malformed")
        return super().execute(query, *values)


@pytest.fixture
def store(home: Paths) -> Iterator[Store]:
    with closing(Store(home.database, writer=True)) as store:
        yield store


MEETINGS: dict[str, Callable[[Store], object]] = {
    "a row": lambda store: store.database.row("events", "newest"),
    "one row after the other": lambda store: [*store.database.each("events", "newest")],
    "rows with a text": lambda store: store.purge._keys("prompts", "traces"),
    "giving space back": lambda store: store.maintenance.shrink(at_once=True),
    "scrubbing": lambda store: store.maintenance.scrub(),
    "emptying the log": lambda store: store.maintenance.truncate_log(),
}


def stumbling(name: str, connection: Malformed) -> tuple[str, object]:
    if "row" in name:
        connection.at = ("SELECT",)
        return "reader", lambda: connection
    connection.at = ("VACUUM", "PRAGMA wal_checkpoint")
    return "writer", connection


@pytest.mark.parametrize("name", MEETINGS)
def test_damage_is_reported_wherever_it_is_met(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """T25: a new worker looks for certain, and repairs it."""
    met: list[StoreDamaged] = []
    store.database.on_damage = met.append
    with closing(Malformed(store.database.path, isolation_level=None)) as connection:
        monkeypatch.setattr(store.database, *stumbling(name, connection))
        with pytest.raises(StoreDamaged):
            MEETINGS[name](store)
    assert met
