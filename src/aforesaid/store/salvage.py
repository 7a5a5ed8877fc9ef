"""Copies the rows that can be read out of a damaged database, and fills the gaps from a backup.

Rows keep their ids, so references stay valid. From the backup come only rows that the damaged file cannot
read: whatever was changed or deleted since the backup stays so. Tables without ids are the exception: where
such a table has any gap, all its rows in the backup are added. A row whose owner is lost is dropped. SQLite
keeps no checksums, so altered content that still looks valid is not noticed.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid.errors import StoreDamaged
from aforesaid.paths import PRIVATE_FILE
from aforesaid.store.database import (
    FAULTS,
    migrate,
    newest_version,
    open_file,
    schema_version,
    translate,
)
from aforesaid.store.values import unpack
from aforesaid.text import words

Values = tuple[Any, ...]
# The search index, which `aforesaid rebuild` makes again.
DERIVED = frozenset(
    words(
        "documents document_vectors document_labels document_words event_texts event_words fact_words "
        "unindexed index_state"
    )
)
HIGHEST_ID = 2**53  # a higher id is damage
TYPES: dict[str, type] = {"TEXT": str, "INTEGER": int, "BLOB": bytes}
COMPRESSED = {("events", "body"), ("requests", "reply")}
MOST_FAULTS = 1_000_000  # unreadable ids in a row, then the rest is given up


class Table(NamedTuple):
    name: str
    columns: tuple[tuple[str, str], ...]  # name and type
    key: str  # to order by
    has_rowid: bool

    @property
    def listed(self) -> str:
        return ", ".join(f'"{name}"' for name, _ in self.columns)

    def valid(self, values: Values) -> Values | None:
        """None: they were never written."""
        for (name, kind), value in zip(self.columns, values, strict=True):
            allowed = TYPES.get(kind)
            if value is not None and allowed and type(value) is not allowed:
                return None
            if value is not None and (self.name, name) in COMPRESSED:
                try:
                    unpack(value)  # zlib keeps a checksum
                except StoreDamaged:
                    return None
        return values

    def rows(self, connection: sqlite3.Connection) -> Iterator[tuple[int, Values | None]]:
        """The id and the values of each row, None for those that cannot be read."""
        if self.has_rowid:
            yield from self._rows_by_id(connection)
            return
        for direction in ("ASC", "DESC"):  # from both ends, to where it breaks
            order = self.key.replace(",", f" {direction},")
            query = f'SELECT {self.listed} FROM "{self.name}" ORDER BY {order} {direction}'
            try:
                for values in connection.execute(query):
                    yield 0, self.valid(values)
                return
            except FAULTS:
                yield 0, None

    def _rows_by_id(self, connection: sqlite3.Connection) -> Iterator[tuple[int, Values | None]]:
        """In order; after a fault, on from the next id that can be read. A row counts once the next one
        confirms its place: an altered id must not hide others."""
        query = f'SELECT rowid, {self.listed} FROM "{self.name}" WHERE rowid > ? ORDER BY rowid'
        after, faults = 0, 0
        last: int | None = None
        while faults < MOST_FAULTS:
            held: tuple[int, Values] | None = None
            is_broken = False
            try:
                for key, *values in connection.execute(query, (after,)):
                    if held is not None and held[0] < key:
                        after, faults = held[0], 0
                        yield after, self.valid(held[1])
                    elif held is not None:
                        yield key - 1, None
                    held = key, tuple(values)
            except FAULTS:
                is_broken, faults = True, faults + 1
            if held is not None and after < held[0] < HIGHEST_ID:
                after = held[0]
                yield after, self.valid(held[1])
            if last is None and is_broken:
                last = max(self.last_id(connection), *self.indexed_ids(connection), after + 1)
            if not is_broken or after >= (last or 0):
                return
            after += 1
            yield after, None

    def last_id(self, connection: sqlite3.Connection) -> int:
        """The highest id that was ever given out; 0 if that is not known."""
        known = {0}
        sequence = f"SELECT seq FROM sqlite_sequence WHERE name = '{self.name}'"
        for query in (sequence, f'SELECT max(rowid) FROM "{self.name}"'):
            with suppress(*FAULTS):
                row = connection.execute(query).fetchone()
                known.add(row[0] if row and isinstance(row[0], int) else 0)
        return max(key for key in known if key < HIGHEST_ID)

    def indexed_ids(self, connection: sqlite3.Connection) -> set[int]:
        found = {0}
        with suppress(*FAULTS):
            indexes = connection.execute(f'PRAGMA index_list("{self.name}")').fetchall()
            for name in (name for _, name, _, _, partial in indexes if not partial):
                with suppress(*FAULTS):
                    query = f'SELECT rowid FROM "{self.name}" INDEXED BY "{name}"'
                    rows = connection.execute(query)
                    found.update(row[0] for row in rows if 0 < row[0] < HIGHEST_ID)
        return found - {0}

    def ids(self, connection: sqlite3.Connection) -> set[int]:
        return {row[0] for row in connection.execute(f'SELECT rowid FROM "{self.name}"')}

    def fill(self, connection: sqlite3.Connection, gaps: set[int]) -> int:
        """From the attached `older`, what is missing; of a table without ids, all if anything is."""
        query = f'INSERT OR IGNORE INTO main."{self.name}" ({self.listed}) SELECT {self.listed}'
        where = "WHERE rowid IN (SELECT value FROM json_each(:ids))" if self.has_rowid else ""
        ids = {"ids": json.dumps(sorted(gaps))}
        return connection.execute(f'{query} FROM older."{self.name}" {where}', ids).rowcount


@dataclass(slots=True)
class Salvaged:
    """Counts by table. `lost`: ids that neither the file nor the backup can read; `torn`: tables with a gap.
    `orphans`: rows that were dropped because their owner is lost."""

    read: dict[str, int] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    torn: set[str] = field(default_factory=set)
    orphans: int = 0


def open_damaged(path: Path) -> sqlite3.Connection:
    """Read-only. Lines of the schema that cannot be parsed are skipped."""
    connection = open_file(path)
    for pragma in ("query_only", "writable_schema", "cell_size_check"):
        connection.execute(f"PRAGMA {pragma} = 1")
    return connection


def create(path: Path, version: int, contents: Path | None = None) -> sqlite3.Connection:
    """A new database of that schema version, blank or with the rows of an older one. Not durable: the caller
    syncs the file."""
    path.unlink(missing_ok=True)  # left by a killed process
    path.touch(PRIVATE_FILE)
    connection = open_file(path, "rw")
    try:
        if contents is not None:
            with closing(open_file(contents)) as source:
                source.backup(connection)
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        migrate(connection, version)
    except BaseException:
        connection.close()
        raise
    return connection


def kept_tables(connection: sqlite3.Connection) -> tuple[Table, ...]:
    """All tables but the search index and SQLite's own."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
    found: list[tuple[str, str]] = rows.fetchall()
    virtual = tuple(f"{name}_" for name, sql in found if sql and sql.startswith("CREATE VIRTUAL"))
    return tuple(
        _table(connection, name, has_rowid=not sql.rstrip().endswith("WITHOUT ROWID"))
        for name, sql in found
        if name not in DERIVED and not name.startswith(("sqlite_", *virtual))
    )


def salvage(damaged: Path, backup: Path | None, target: Path) -> Salvaged | None:
    """Makes `target` with the newest schema and without a search index. None: nothing can be read."""
    try:
        with closing(open_damaged(damaged)) as source:
            version = schema_version(source)
            if not 0 < version <= newest_version():
                return None
            with closing(create(target, version)) as connection:
                found = _merge(source, backup, connection, target)
                if any(found.read.values()):
                    migrate(connection)
                    return found
                return None
    except FAULTS as error:
        if "full" in str(error):  # the disk: there will be another try
            raise translate(error, target) from error
        return None


def _merge(
    source: sqlite3.Connection, backup: Path | None, target: sqlite3.Connection, path: Path
) -> Salvaged:
    tables, found = kept_tables(target), Salvaged()
    target.execute("BEGIN")
    gaps = {table.name: _copy_table(source, target, table, found) for table in tables}
    target.execute("COMMIT")
    torn = [table for table in tables if gaps[table.name]]
    found.torn = {table.name for table in torn}
    if backup is not None and torn and any(found.read.values()):
        # A copy on the disk, which may be larger than memory.
        copy = path.with_name(f"{path.name}-older")
        create(copy, schema_version(target), backup).close()
        target.execute("ATTACH ? AS older", (str(copy),))
        filled = {table.name: table.fill(target, gaps[table.name]) for table in torn}
        found.filled = {name: count for name, count in filled.items() if count}
        target.execute("DETACH older")
        copy.unlink()
    for table in torn:
        if table.has_rowid and (lost := gaps[table.name] - table.ids(target)):
            found.lost[table.name] = len(lost)
    found.orphans = _drop_orphans(target, tables)
    return found


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, table: Table, found: Salvaged
) -> set[int]:
    """The ids that could not be read; of a table without ids, {0} if something is missing."""
    gaps: set[int] = set()
    count = 0
    places = ", ".join("?" * len(table.columns))
    insert = f'INSERT OR IGNORE INTO "{table.name}" ({table.listed}) VALUES ({places})'
    for key, values in table.rows(source):
        if values is None:
            gaps.add(key)
        else:
            count += target.execute(insert, values).rowcount
    found.read[table.name] = count
    if not table.has_rowid:
        return gaps
    update = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?"
    target.execute(update, (table.last_id(source), table.name))
    # A page that has lost rows may look sound; an index still knows them.
    return (gaps | table.indexed_ids(source)) - table.ids(target)


def _drop_orphans(target: sqlite3.Connection, tables: Iterable[Table]) -> int:
    """Deletes rows whose owner is lost; where the reference is optional, clears it."""
    dropped, more = 0, True
    while more:  # a row that goes may have been an owner
        more = False
        for name in (table.name for table in tables):
            links = target.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
            for _, _, owner, column, key, _, on_delete, _ in links:
                where = f'WHERE "{column}" NOT IN (SELECT "{key or "id"}" FROM "{owner}")'
                if on_delete == "SET NULL":
                    target.execute(f'UPDATE "{name}" SET "{column}" = NULL {where}')
                elif count := target.execute(f'DELETE FROM "{name}" {where}').rowcount:
                    dropped, more = dropped + count, True
    return dropped


def _table(connection: sqlite3.Connection, name: str, *, has_rowid: bool) -> Table:
    rows = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    keys = [f'"{row[1]}"' for row in sorted(rows, key=lambda row: row[5]) if row[5]]
    columns = tuple((row[1], row[2].upper()) for row in rows)
    return Table(name, columns, ", ".join(keys), has_rowid)
