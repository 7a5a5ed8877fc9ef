"""The database, opened for writing; mended first if it has to be. A part of the worker's start.

Finish what a killed recovery began, undo what a killed restore left → look at the file, closely if it was not
left well → mend it → a backup, if a newer version is about to change it → open. Whatever is damaged in a way
that only shows at work is looked at for certain the next time.
"""

from dataclasses import replace

from recollect import log, wiring
from recollect.backups import condition, restoring, rotation
from recollect.backups.condition import Condition
from recollect.backups.recovery import AGAIN_MINUTES, Recovery
from recollect.clock import MINUTE, Clock
from recollect.errors import BackupError, StoreDamaged
from recollect.paths import Paths
from recollect.store.files import DatabaseFiles
from recollect.store.protocol import Store
from recollect.wiring import Home

LOOK_SECONDS = 2.0  # hooks may be waiting for us; the next backup reads what is left
GONE, EMPTY = "the file is gone", "the file is empty"
DISK = "disk I/O error"  # SQLite's words


def opened(home: Home, clock: Clock) -> Store:
    paths = home.paths
    recovery = Recovery(wiring.shelf(home, clock))
    files = recovery.shelf.files
    recovery.finish()
    restoring.put_back(recovery.shelf)
    known = condition.read(paths)
    if why := _damage(paths, files, recovery, known):
        recovery.recover(why)
        known = None
    elif not paths.database.exists():
        known = None  # a beginning
    elif known is not None and known.suspected:
        known = _settle(paths, files, known, clock())
    elif known is not None and known.open and known.log is not None:
        _see_to_log(paths, files, recovery, known)
    store = _open(home, recovery)
    cleared_at = known.cleared_at if known else 0
    condition.write(paths, Condition(cleared_at=cleared_at, at=clock()))
    return store


def _open(home: Home, recovery: Recovery) -> Store:
    """What a glance did not find may show here: a migration, for one, reads a lot."""
    encoder = wiring.encoder(home.settings)
    try:
        _back_up_before_migration(home, recovery)
        return wiring.open_for_writing(home.paths, encoder, checked=True)
    except StoreDamaged as error:
        recovery.recover(log.cause(error))
        return wiring.open_for_writing(home.paths, encoder, checked=True)


def suspect(paths: Paths, why: str, now: int) -> bool:
    """Whether a new start should look for certain. Not if one has just done that and found nothing: a
    worker that starts anew again and again helps nobody."""
    known = condition.read(paths) or Condition()
    if now - known.cleared_at < AGAIN_MINUTES * MINUTE:
        return False
    condition.write(paths, replace(known, suspected=why))
    return True


def _damage(
    paths: Paths, files: DatabaseFiles, recovery: Recovery, known: Condition | None
) -> str | None:
    database = paths.database
    if not database.exists():
        # Without a backup it is a beginning, by the user's own hand maybe.
        return GONE if recovery.shelf.all() else None
    files.roll_back(database)
    if database.stat().st_size == 0:
        return EMPTY if known is not None or recovery.shelf.all() else None
    if known is not None and known.suspected:
        return files.certain(database)
    if known is not None and known.closed_well(database):
        return files.glance(database)
    why, whole = files.quick(database, LOOK_SECONDS)
    if not whole:
        log.action("database.looked_in_part", seconds=LOOK_SECONDS)
    return why


def _settle(paths: Paths, files: DatabaseFiles, known: Condition, now: int) -> Condition:
    """Somebody stumbled, and every page and row is sound: the index is to blame, which is made again; or the
    disk was, for a moment."""
    log.warning("database.sound", suspected=known.suspected)
    if DISK not in (known.suspected or ""):
        files.ready(paths.database)
    return replace(known, suspected=None, cleared_at=now)


def _see_to_log(paths: Paths, files: DatabaseFiles, recovery: Recovery, known: Condition) -> None:
    assert known.log is not None
    if files.log_lost(paths.database, known.log):
        gone = max(0, known.events - files.newest_event(paths.database))
        recovery.note_lost_log("its last commits are gone", gone)


def _back_up_before_migration(home: Home, recovery: Recovery) -> None:
    database, files = home.paths.database, recovery.shelf.files
    if not database.exists() or not 0 < files.version(database) < files.newest_version():
        return
    try:
        recovery.shelf.make(rotation.MIGRATION, home.settings.number("backup.keep"))
    except BackupError as error:  # no room; the migration is all or nothing by itself
        log.warning("backup.skipped", error=log.cause(error))
