"""A new database out of a damaged one: all rows that can still be read, and for the others the backup's.

Rows keep their ids, so what points at them still does. From the backup come only rows that stood where the
damaged file cannot be read: whatever was changed, forgotten or erased since then stays so. Tables without ids
are the exception: where such a table has any gap, all rows come that the backup has of it, so that a concept
or a link that was taken away since may be back. A row whose owner neither of them has is left out. Content
that was altered and still looks like content cannot be told from what was meant; SQLite keeps no checksums.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recollect.errors import StoreDamaged
from recollect.paths import PRIVATE_FILE
from recollect.store.files import Progress, Salvaged, nothing
from recollect.store.sqlite import copying, scanning, tables
from recollect.store.sqlite.database import migrate, translate
from recollect.store.sqlite.faults import FAULTS
from recollect.store.sqlite.scanning import Gap
from recollect.store.sqlite.tables import Table

BATCH = 500


def is_sound(path: Path) -> str | None:
    """Every page, every index and every row. What is wrong, if anything is."""
    try:
        with closing(scanning.open_damaged(path)) as connection:
            connection.text_factory = str
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if found != "ok":
                return str(found)
            connection.text_factory = scanning.text_or_broken
            for table in tables.kept(connection):
                if any(isinstance(row, Gap) for row in scanning.rows(connection, table)):
                    return f"the table {table.name} holds what was never written"
    except FAULTS as error:
        return str(error)
    return None


def salvage(
    damaged: Path, backup: Path | None, target: Path, progress: Progress = nothing
) -> Salvaged | None:
    """None: nothing can be read at all. The target is of the newest version and was checked; its index is
    to be made again."""
    try:
        with closing(scanning.open_damaged(damaged)) as source:
            schema = tables.version(source)
            if not 0 < schema <= tables.newest():
                return None
            with closing(tables.blank(target, schema)) as connection:
                found = _merged(source, backup, connection, target, progress)
                if found is None:
                    return None
                migrate(connection)
        copying.check(target)
    except FAULTS as error:
        if "full" in str(error):  # the disk: there will be another try
            raise translate(error, target) from error
        return None
    except StoreDamaged:
        return None
    return found


def _merged(
    source: sqlite3.Connection,
    backup: Path | None,
    target: sqlite3.Connection,
    place: Path,
    progress: Progress,
) -> Salvaged | None:
    kept = tables.kept(target)
    found = Salvaged()
    target.execute("BEGIN")
    with tables.without_triggers(target):
        gaps = {}
        for done, table in enumerate(kept):
            progress(done, len(kept))
            gaps[table.name] = _read(source, target, table, found)
        found.torn = {name for name, each in gaps.items() if each}
        if not any(found.read.values()):
            return None
        _keep_numbers(source, target)
        if backup is not None and any(gaps.values()):
            with _at_version(backup, tables.version(target), place) as older:
                _fill(older, target, kept, gaps, found)
        _count_lost(target, kept, gaps, found)
        found.orphans = _drop_orphans(target)
    target.execute("COMMIT")
    return found


def _read(
    source: sqlite3.Connection, target: sqlite3.Connection, table: Table, found: Salvaged
) -> list[Gap]:
    """The gaps; all else is in the target."""
    query = f'INSERT OR IGNORE INTO "{table.name}" ({table.listed}) VALUES ({table.places})'
    gaps: list[Gap] = []
    count = 0
    for row in scanning.rows(source, table):
        if isinstance(row, Gap):
            gaps.append(row)
        else:
            count += target.execute(query, row).rowcount
    found.read[table.name] = count
    return gaps + _missing(source, target, table, gaps)


def _missing(
    source: sqlite3.Connection, target: sqlite3.Connection, table: Table, gaps: list[Gap]
) -> list[Gap]:
    """Rows that an index knows, and nothing else does."""
    if not table.has_rowid:
        return []
    here = {row[0] for row in target.execute(f'SELECT rowid FROM "{table.name}"')}
    wanted = scanning.ids_by_index(source, table) - here
    return [Gap(key, key) for key in sorted(wanted) if not any(_holds(gap, key) for gap in gaps)]


def _holds(gap: Gap, key: int) -> bool:
    assert gap.first is not None
    return gap.first <= key and (gap.last is None or key <= gap.last)


def _keep_numbers(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Ids that were given out, if that can still be read."""
    try:
        numbers = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    except FAULTS:
        return
    for name, number in numbers:
        if name not in tables.DERIVED and isinstance(number, int) and 0 < number < 2**53:
            target.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, name)
            )


def _fill(
    older: sqlite3.Connection,
    target: sqlite3.Connection,
    kept: tuple[Table, ...],
    gaps: dict[str, list[Gap]],
    found: Salvaged,
) -> None:
    """What the backup has in the gaps."""
    older.text_factory = scanning.text_or_broken
    theirs = {table.name for table in tables.kept(older)}
    for table in kept:
        if not gaps[table.name] or table.name not in theirs:
            continue
        query = f'INSERT OR IGNORE INTO "{table.name}" ({table.listed}) VALUES ({table.places})'
        rows = _rows_in(older, table, gaps[table.name])
        found.filled[table.name] = sum(target.execute(query, row).rowcount for row in rows)


@contextmanager
def _at_version(backup: Path, wanted: int, target: Path) -> Iterator[sqlite3.Connection]:
    """One of an older version is brought up to date in a copy, beside the target: it may be larger than
    memory."""
    uri = f"{backup.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as source:
        if tables.version(source) == wanted:
            yield source
            return
        copy = target.with_name(f"{target.name}-older")
        copy.unlink(missing_ok=True)  # of somebody who was killed
        copy.touch(PRIVATE_FILE)
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as copied:
                source.backup(copied)
                copied.execute("PRAGMA journal_mode = MEMORY")  # it needs no file, and no care
                migrate(copied, wanted)
                yield copied
        finally:
            copy.unlink()


def _rows_in(
    connection: sqlite3.Connection, table: Table, gaps: list[Gap]
) -> Iterator[scanning.Values]:
    if not table.has_rowid:
        yield from connection.execute(f'SELECT {table.listed} FROM "{table.name}"')
        return
    query = f'SELECT {table.listed} FROM "{table.name}" WHERE rowid BETWEEN ? AND ?'
    for gap in gaps:
        last = scanning.HIGHEST if gap.last is None else gap.last
        yield from connection.execute(query, (gap.first, last))


def _count_lost(
    target: sqlite3.Connection,
    kept: tuple[Table, ...],
    gaps: dict[str, list[Gap]],
    found: Salvaged,
) -> None:
    """Of tables with ids. Where the end cannot be read, as far as ids are known to have been given out."""
    numbers = dict(target.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    for table in kept:
        if not table.has_rowid or not gaps[table.name]:
            continue
        here = f'SELECT count(*), max(rowid) FROM "{table.name}" WHERE rowid BETWEEN ? AND ?'
        lost = 0
        for gap in gaps[table.name]:
            assert gap.first is not None
            last = gap.last
            if last is None:
                found.at_least.add(table.name)
                highest = target.execute(f'SELECT max(rowid) FROM "{table.name}"').fetchone()[0]
                last = max(highest or 0, numbers.get(table.name, 0))
            if last >= gap.first:
                present = target.execute(here, (gap.first, last)).fetchone()[0]
                lost += last - gap.first + 1 - present
        if lost:
            found.lost[table.name] = lost


def _drop_orphans(target: sqlite3.Connection) -> int:
    """Rows whose owner is gone go; where the owner may be missing, they only lose it."""
    dropped = 0
    while broken := target.execute("PRAGMA foreign_key_check").fetchmany(BATCH):
        for name, rowid, _, number in broken:
            links = target.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
            _, _, owner, column, its, _, on_delete, _ = next(x for x in links if x[0] == number)
            its = its or _key_of(target, owner)
            if rowid is None:  # it has no id: all such rows of the table at once
                where = f'"{column}" NOT IN (SELECT "{its}" FROM "{owner}")'
                dropped += target.execute(f'DELETE FROM "{name}" WHERE {where}').rowcount
                break
            if on_delete == "SET NULL":
                target.execute(f'UPDATE "{name}" SET "{column}" = NULL WHERE rowid = ?', (rowid,))
            else:
                gone = target.execute(f'DELETE FROM "{name}" WHERE rowid = ?', (rowid,))
                dropped += gone.rowcount
    return dropped


def _key_of(connection: sqlite3.Connection, table: str) -> str:
    rows = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    return next(str(name) for _, name, _, _, _, key in rows if key == 1)
