"""Opens the database, and recovers it first if it is damaged. What recovery needs is loaded only then."""

from dataclasses import replace
from typing import TYPE_CHECKING

from aforesaid import log, wiring
from aforesaid.backups import database_state
from aforesaid.backups.database_state import DatabaseState
from aforesaid.clock import Clock
from aforesaid.errors import BackupError, StoreDamaged
from aforesaid.paths import Paths
from aforesaid.store import files
from aforesaid.store.database import newest_version
from aforesaid.store.store import Store
from aforesaid.wiring import Home

if TYPE_CHECKING:
    from aforesaid.backups.recovery import Recovery

LOOK_SECONDS = 2.0  # hooks may be waiting for us; the next backup reads what is left
GONE, EMPTY = "the file is gone", "the file is empty"
DISK = "disk I/O error"  # SQLite's words


def open_database(home: Home, clock: Clock) -> Store:
    paths = home.paths
    if paths.damaged.exists():
        _recovery(home, clock).resume()
    if any(paths.memory.parent.glob(".memory.*")):
        from aforesaid.backups.recovery import put_back_memories

        put_back_memories(wiring.backup_repository(home, clock))
    known = database_state.load(paths)
    if why := _damage(home, clock, known):
        _recovery(home, clock).recover(why)
        known = None
    elif not paths.database.exists():
        known = None  # a beginning
    elif known is not None and known.suspected:
        known = _settle(paths, known, clock())
    elif known is not None and known.open:
        gone = known.events - files.newest_event(paths.database)
        if gone > 0:
            _recovery(home, clock).record_lost_log("its last commits are gone", gone)
    store = _open(home, clock)
    cleared_at = known.cleared_at if known else 0
    database_state.save(paths, DatabaseState(cleared_at=cleared_at, at=clock()))
    return store


def _recovery(home: Home, clock: Clock) -> "Recovery":
    from aforesaid.backups.recovery import Recovery

    return Recovery(wiring.backup_repository(home, clock))


def _open(home: Home, clock: Clock) -> Store:
    """Damage that the quick check missed may show here: a migration reads a lot."""
    encoder = wiring.encoder(home.settings)
    try:
        _back_up_before_migration(home, clock)
        return wiring.open_for_writing(home.paths, encoder, checked=True)
    except StoreDamaged as error:
        _recovery(home, clock).recover(log.cause(error))
        return wiring.open_for_writing(home.paths, encoder, checked=True)


def _damage(home: Home, clock: Clock, known: DatabaseState | None) -> str | None:
    database = home.paths.database
    if not database.exists():
        # Without a backup it is a beginning, by the user's own hand maybe.
        return GONE if _has_backup(home, clock) else None
    files.roll_back(database)
    if database.stat().st_size == 0:
        return EMPTY if known is not None or _has_backup(home, clock) else None
    if known is not None and known.suspected:
        return files.check_rows(database)
    if known is not None and known.is_clean(database):
        return None
    why, whole = files.check_pages(database, LOOK_SECONDS)
    if not whole:
        log.action("database.looked_in_part", seconds=LOOK_SECONDS)
    return why


def _has_backup(home: Home, clock: Clock) -> bool:
    return home.paths.backups.exists() and bool(wiring.backup_repository(home, clock).all())


def _settle(paths: Paths, known: DatabaseState, now: int) -> DatabaseState:
    """An error was met, and every page and row is sound: the index is damaged and is rebuilt, or the disk
    failed for a moment."""
    log.warning("database.sound", suspected=known.suspected)
    if DISK not in (known.suspected or ""):
        files.prepare_restored(paths.database)
    return replace(known, suspected=None, cleared_at=now)


def _back_up_before_migration(home: Home, clock: Clock) -> None:
    database = home.paths.database
    if not database.exists() or not 0 < files.read_version(database) < newest_version():
        return
    from aforesaid.backups.repository import MIGRATION

    try:
        wiring.backup_repository(home, clock).make(MIGRATION, home.settings.number("backup.keep"))
    except BackupError as error:  # no room; the migration is all or nothing by itself
        log.warning("backup.skipped", error=log.cause(error))
