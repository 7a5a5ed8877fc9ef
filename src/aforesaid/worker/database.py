"""The database as a file: opened, after recovery if it is damaged; backed up; watched for damage."""

from dataclasses import replace

from aforesaid import log, wiring
from aforesaid.backups import database_state, recovery
from aforesaid.backups.database_state import DatabaseState
from aforesaid.backups.repository import DAILY, MIGRATION, BackupRepository
from aforesaid.clock import HOUR, Clock
from aforesaid.errors import BackupError, NoRoom, StoreDamaged
from aforesaid.paths import Paths
from aforesaid.store import files
from aforesaid.store.database import newest_version
from aforesaid.store.store import Store
from aforesaid.wiring import Home
from aforesaid.worker.context import Context, Loop

LOOK_SECONDS = 2.0  # hooks may be waiting for us; the next backup reads what is left
GONE, EMPTY = "the file is gone", "the file is empty"
DISK = "disk I/O error"  # SQLite's words
FRESH = HOUR  # how old the first work to back up is, and a backup that is enough before a dream


def open_database(home: Home, clock: Clock) -> Store:
    paths, backups = home.paths, wiring.backup_repository(home, clock)
    recovery.resume(backups)
    recovery.put_back_memories(backups)
    known = database_state.load(paths)
    if why := _damage(backups, known):
        recovery.recover(backups, why)
        known = None
    elif not paths.database.exists():
        known = None  # a beginning
    elif known is not None and known.suspected:
        known = _settle(paths, known, clock())
    encoder = wiring.encoder(home.settings)
    try:
        _back_up_before_migration(backups, home.settings.number("backup.keep"))
        store = wiring.open_for_writing(paths, encoder, checked=True)
    except StoreDamaged as error:  # what the quick check missed: a migration reads a lot
        recovery.recover(backups, log.cause(error))
        store = wiring.open_for_writing(paths, encoder, checked=True)
    if known is not None and known.open and (gone := known.events - store.events.newest_id()) > 0:
        recovery.record_lost_log(backups, gone)
    cleared_at = known.cleared_at if known else 0
    database_state.save(paths, DatabaseState(cleared_at=cleared_at))
    return store


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


class BackupStopped(Exception):
    """The worker is to end. A backup is not worth waiting for; a purge is resumed by the next worker."""


class BackupThread(Loop):
    """`damaged`: a new worker has to recover the database."""

    name = "backups"
    damaged = False

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._busy = False  # nothing is due until maintenance wakes it
        self._backups = wiring.backup_repository(context.home, context.clock)
        known = database_state.load(self.context.paths)
        self._state = DatabaseState(cleared_at=known.cleared_at if known else 0)
        context.store.database.on_damage = self.suspect_damage

    def record_newest_event(self) -> None:
        """So that the next worker sees if commits got lost."""
        newest = self.context.store.events.newest_id()
        if newest != self._state.events and not self.damaged:
            self._state = replace(self._state, events=newest)
            database_state.save(self.context.paths, self._state)

    def record_close(self) -> None:
        """The store was closed, and all is well."""
        if not self.damaged and self.context.paths.database.exists():
            database_state.save_closed(self.context.paths, self._state)

    def suspect_damage(self, error: Exception) -> None:
        """Called by any thread. Acts once: more errors follow until the worker ends."""
        if self.damaged or not database_state.note_suspicion(
            self.context.paths, log.cause(error), self.context.clock()
        ):
            return
        self.damaged = True
        log.warning("database.suspected", error=log.cause(error))
        self.context.stopping.set()
        self.context.wake_ingest.set()

    def turn(self) -> None:
        self.make_if_older(self.context.settings.number("backup.every_hours") * HOUR)

    def make_before_dream(self) -> None:
        self.make_if_older(FRESH)

    def make_if_older(self, age: int) -> None:
        """If the last one is, and something was written since. A failure is logged, and `doctor` reports how
        old the last backup is."""
        try:
            if self.context.settings.number("backup.every_hours") and self._is_older(age):
                self._make()
        except BackupStopped:
            log.action("backup.stopped")
        except StoreDamaged as error:
            self.suspect_damage(error)
        except Exception as error:  # a file that was deleted under us, most likely
            log.warning("backup.skipped", error=log.cause(error))

    def _is_older(self, age: int) -> bool:
        newest = next(iter(self._backups.all()), None)
        if newest is None:
            first_start = self.context.paths.lock_file.stat().st_mtime_ns // 1_000_000
            return (
                self.context.store.events.newest_id() > 0
                and self.context.clock() - first_start >= FRESH
            )
        made_at = newest.manifest.made_at
        # Readers touch what else belongs to the database.
        written = [path for path in files.parts(self.context.paths.database)[:2] if path.exists()]
        written_at = max((path.stat().st_mtime_ns for path in written), default=0) // 1_000_000
        return self.context.clock() - made_at >= age and written_at > made_at

    def make_replacement(self) -> str | None:
        """Makes a backup that replaces all others. Returns its name; None without space, or if they are off.
        Any other failure is raised, so that the others stay."""
        if not self.context.settings.number("backup.every_hours"):
            return None
        try:
            return self._make()
        except NoRoom as error:
            log.warning("backup.skipped", error=log.cause(error))
            return None

    def _make(self) -> str:
        keep = self.context.settings.number("backup.keep")
        return self._backups.make(DAILY, keep, self._between).name

    def _between(self, _done: int, _total: int) -> None:
        if not self.context.go_on():
            raise BackupStopped
