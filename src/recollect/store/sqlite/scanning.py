"""Reads the rows of a table that may be damaged: what can be read, and between which ids nothing can.

SQLite stops at the first page that makes no sense. Here that page is stepped over: by id, in strides that
double and are then halved, so that as little as possible is taken for lost. A row is read whole or not at
all: its values must have the types of their columns, texts must be texts, and what was packed must unpack.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.errors import StoreDamaged
from recollect.store.sqlite.bodies import unpack
from recollect.store.sqlite.faults import FAULTS
from recollect.store.sqlite.tables import Table

Values = tuple[Any, ...]
BROKEN = object()  # in the place of a text that is none
HIGHEST = 2**63 - 1
SANE = 2**53  # no id is ever as high
TYPES: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "BLOB": (bytes,)}
PACKED = {("events", "body"), ("requests", "reply")}


@dataclass(frozen=True, slots=True)
class Gap:
    """Ids that may have been given to rows that cannot be read. `last`: None for all that follow. A
    table without ids has `first` None: somewhere in it."""

    first: int | None
    last: int | None


def open_damaged(path: Path) -> sqlite3.Connection:
    """Never written to. A schema with a line that makes no sense is used without that line."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = text_or_broken
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA writable_schema = 1")
    connection.execute("PRAGMA cell_size_check = 1")
    return connection


def text_or_broken(raw: bytes) -> object:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return BROKEN


def rows(connection: sqlite3.Connection, table: Table) -> Iterator[Values | Gap]:
    """All that can be read, with the gaps where they are."""
    return _by_id(connection, table) if table.has_rowid else _by_key(connection, table)


def ids_by_index(connection: sqlite3.Connection, table: Table) -> set[int]:
    """Which rows there should be, as far as an index of the table can still be read. A page that has lost
    some of its rows may look sound; the index remembers them."""
    found: set[int] = set()
    indexes = connection.execute(f'PRAGMA index_list("{table.name}")').fetchall()
    for _, name, _, _, partial in indexes:
        if not partial:
            with suppress(*FAULTS):
                query = f'SELECT rowid FROM "{table.name}" INDEXED BY "{name}"'
                found.update(row[0] for row in connection.execute(query) if 0 < row[0] < SANE)
    return found


def _by_id(connection: sqlite3.Connection, table: Table) -> Iterator[Values | Gap]:
    after = 0
    while True:
        try:
            yield from _in_order(connection, table, after)
            return
        except _Broken as broken:
            gap = _gap(connection, table, broken.after)
            yield gap
            if gap.last is None:
                return
            after = gap.last


class _Broken(Exception):
    """Nothing can be read behind this id."""

    def __init__(self, after: int) -> None:
        self.after = after


def _in_order(connection: sqlite3.Connection, table: Table, after: int) -> Iterator[Values | Gap]:
    """Each row once the one behind it has confirmed its place: an id that was altered must not hide those
    that follow."""
    query = f'SELECT rowid, {table.listed} FROM "{table.name}" WHERE rowid > ? ORDER BY rowid'
    held: tuple[int, Values] | None = None
    try:
        for key, *values in connection.execute(query, (after,)):
            if key <= after:
                break
            if held is not None and held[0] < key:
                after = held[0]
                yield _judged(table, *held)
            elif held is not None:
                after, held = key - 1, None
                yield Gap(after, after)
            held = key, tuple(values)
        else:
            if held is not None:
                yield _judged(table, *held)
            return
    except FAULTS:
        pass
    if held is not None:
        after = held[0]
        yield _judged(table, *held)
    raise _Broken(after)


def _judged(table: Table, key: int, values: Values) -> Values | Gap:
    return values if _is_sound(table, values) else Gap(key, key)


def _gap(connection: sqlite3.Connection, table: Table, after: int) -> Gap:
    """What has to be stepped over behind `after`."""
    try:
        found = _next(connection, table, after)
        # The row is there, but what it holds is not; or the table ends here, which is damage enough.
        return Gap(after + 1, None) if found is None else Gap(found, found)
    except FAULTS:
        pass
    low, high, stride, found = after, after, 1, None
    while True:
        high = min(after + stride, HIGHEST)
        try:
            found = _next(connection, table, high)
            break
        except FAULTS:
            if high == HIGHEST:
                return Gap(after + 1, None)
            low, stride = high, stride * 2
    while high - low > 1:
        middle = (low + high) // 2
        try:
            found, high = _next(connection, table, middle), middle
        except FAULTS:
            low = middle
    return Gap(after + 1, None if found is None else found - 1)


def _next(connection: sqlite3.Connection, table: Table, after: int) -> int | None:
    query = f'SELECT rowid FROM "{table.name}" WHERE rowid > ? ORDER BY rowid LIMIT 1'
    row = connection.execute(query, (after,)).fetchone()
    if row is not None and row[0] <= after:
        raise sqlite3.DatabaseError("the ids are not in order")
    return row[0] if row else None


def _by_key(connection: sqlite3.Connection, table: Table) -> Iterator[Values | Gap]:
    """From both ends, to where it breaks. What stands there twice is stored once."""
    for order in ("ASC", "DESC"):
        keys = ", ".join(f"{key} {order}" for key in table.key.split(", "))
        try:
            for values in connection.execute(
                f'SELECT {table.listed} FROM "{table.name}" ORDER BY {keys}'
            ):
                yield values if _is_sound(table, values) else Gap(None, None)
            return
        except FAULTS:
            yield Gap(None, None)


def _is_sound(table: Table, values: Values | list[Any]) -> bool:
    for column, value in zip(table.columns, values, strict=True):
        allowed = TYPES.get(column.type)
        if value is BROKEN or (value is not None and allowed and not isinstance(value, allowed)):
            return False
        if (table.name, column.name) in PACKED and not _unpacks(value):
            return False
    return True


def _unpacks(packed: object) -> bool:
    """zlib keeps a checksum of what it has packed."""
    try:
        return packed is None or bool(isinstance(packed, bytes) and unpack(packed) is not None)
    except StoreDamaged:
        return False
