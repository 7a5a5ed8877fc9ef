"""Opens the database, and recovers it first if it is damaged. What recovery needs is loaded only then."""

from dataclasses import replace

from aforesaid import log, wiring
from aforesaid.backups import database_state
from aforesaid.backups.database_state import DatabaseState
from aforesaid.backups.repository import MIGRATION, BackupRepository
from aforesaid.clock import Clock
from aforesaid.errors import BackupError, StoreDamaged
from aforesaid.paths import Paths
from aforesaid.store import files
from aforesaid.store.database import newest_version
from aforesaid.store.store import Store
from aforesaid.wiring import Home

LOOK_SECONDS = 2.0  # hooks may be waiting for us; the next backup reads what is left
GONE, EMPTY = "the file is gone", "the file is empty"
DISK = "disk I/O error"  # SQLite's words


def open_database(home: Home, clock: Clock) -> Store:
    paths, backups = home.paths, wiring.backup_repository(home, clock)
    if paths.damaged.exists() or any(paths.memory.parent.glob(".memory.*")):
        from aforesaid.backups import recovery

        recovery.resume(backups)
        recovery.put_back_memories(backups)
    known = database_state.load(paths)
    if why := _damage(backups, known):
        _recover(backups, why)
        known = None
    elif not paths.database.exists():
        known = None  # a beginning
    elif known is not None and known.suspected:
        known = _settle(paths, known, clock())
    elif known is not None and known.open:
        gone = known.events - files.newest_event(paths.database)
        if gone > 0:
            from aforesaid.backups import recovery

            recovery.record_lost_log(backups, gone)
    encoder = wiring.encoder(home.settings)
    try:
        _back_up_before_migration(backups, home.settings.number("backup.keep"))
        store = wiring.open_for_writing(paths, encoder, checked=True)
    except StoreDamaged as error:  # what the quick check missed: a migration reads a lot
        _recover(backups, log.cause(error))
        store = wiring.open_for_writing(paths, encoder, checked=True)
    cleared_at = known.cleared_at if known else 0
    database_state.save(paths, DatabaseState(cleared_at=cleared_at))
    return store


def _recover(backups: BackupRepository, why: str) -> None:
    from aforesaid.backups import recovery

    recovery.recover(backups, why)


def _damage(backups: BackupRepository, known: DatabaseState | None) -> str | None:
    database = backups.paths.database
    if not database.exists():
        # Without a backup it is a beginning, by the user's own hand maybe.
        return GONE if backups.all() else None
    files.roll_back(database)
    if database.stat().st_size == 0:
        return EMPTY if known is not None or backups.all() else None
    if known is not None and known.suspected:
        return files.check_rows(database)
    if known is not None and known.is_clean(database):
        return None
    why, whole = files.check_pages(database, LOOK_SECONDS)
    if not whole:
        log.action("database.looked_in_part", seconds=LOOK_SECONDS)
    return why


def _settle(paths: Paths, known: DatabaseState, now: int) -> DatabaseState:
    """An error was met, and every page and row is sound: the index is damaged and is rebuilt, or the disk
    failed for a moment."""
    log.warning("database.sound", suspected=known.suspected)
    if DISK not in (known.suspected or ""):
        files.prepare_restored(paths.database)
    return replace(known, suspected=None, cleared_at=now)


def _back_up_before_migration(backups: BackupRepository, keep: int) -> None:
    database = backups.paths.database
    if not database.exists() or not 0 < files.read_version(database) < newest_version():
        return
    try:
        backups.make(MIGRATION, keep)
    except BackupError as error:  # no room; the migration is all or nothing by itself
        log.warning("backup.skipped", error=log.cause(error))
