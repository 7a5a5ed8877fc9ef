"""Replaces a damaged database by the best that can be had, and restores backups.

Recovery: the damaged file is moved aside; the new one has all rows that can still be read, completed from the
newest good backup; else it is that backup; else it is empty. The transcripts since the backup are read again,
and the spool holds what was not stored. Nothing is deleted. It can be killed at any moment: the recovery log
says that it began, and the next start resumes it. Damage that returns within minutes is a failing disk, and
is reported instead of being recovered in a loop.

Restore: the user's choice of a backup. What is here is backed up first; where the database is too damaged for
that, it is moved aside with the memories. A restore that is killed is not resumed: the next start finds the
old database or the chosen one; in the moment between there is none, and it takes the newest backup. Memories
that had been moved away are put back.

Only for the holder of the worker's lock.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from aforesaid import log
from aforesaid.backups import archive, database_state, recovery_log
from aforesaid.backups import repository as backups
from aforesaid.backups.database_state import AGAIN_MINUTES
from aforesaid.backups.recovery_log import BY_HAND, FILE, LOG, RecoveryRecord
from aforesaid.backups.repository import Backup, BackupRepository
from aforesaid.clock import MINUTE
from aforesaid.errors import StoreDamaged, StoreError
from aforesaid.paths import PRIVATE_FILE, Paths, private_dir, sync
from aforesaid.store import files
from aforesaid.store.files import Progress, no_progress
from aforesaid.store.salvage import salvage

EXCLUDING = {"pauses", "erased_sessions", "events"}  # say what transcripts must not bring back
REPLACED = ".memory.replaced"  # the memories that were here, until they are in a safe place
DROPPED = ".memory.dropped"  # those that are in a backup


class Restored(NamedTuple):
    """`before`: the backup of what was here; None when it could not be made, then it is in `aside`."""

    backup: Backup
    before: Backup | None
    aside: Path | None


@dataclass(slots=True)
class Recovery:
    repository: BackupRepository

    @property
    def _paths(self) -> Paths:
        return self.repository.paths

    def resume(self) -> RecoveryRecord | None:
        """A recovery that was begun and killed."""
        begun = next((each for each in recovery_log.load_all(self._paths) if not each.done), None)
        return None if begun is None else self._finish(begun)

    def recover(self, why: str) -> RecoveryRecord:
        paths, now = self._paths, self.repository.clock()
        if recovery_log.was_recovered_since(paths, now - AGAIN_MINUTES * MINUTE):
            raise StoreDamaged(
                f"{paths.database} is damaged again ({why}), soon after it was mended. Its disk may be "
                "failing, or another program writes to the file. See to that, then run `aforesaid restore`; "
                f"events wait in the spool, and {paths.damaged} has what was there before."
            )
        log.warning("recovery.began", why=why)
        return self._finish(recovery_log.begin(paths, RecoveryRecord(now, FILE, why)))

    def record_lost_log(self, why: str, events: int) -> RecoveryRecord:
        """The file itself is sound. `events`: how many are known to be gone; 0 if that is not known."""
        lost = {"events": events} if events else {}
        log.warning("recovery.log_lost", why=why, events=events)
        record = RecoveryRecord(self.repository.clock(), LOG, why, done=True, lost=lost)
        return recovery_log.begin(self._paths, record)

    def _finish(self, record: RecoveryRecord) -> RecoveryRecord:
        database, folder = self._paths.database, self._paths.damaged / record.folder
        moved = folder / database.name
        if not moved.exists() and database.exists():
            move_database(database, folder)
        new = replacement_path(database)
        remove_database(new)
        backup = self.repository.newest_good()
        found = self._salvage(record, moved, backup, new)
        if found is None:
            held_back = self._is_exclusion_lost(backup)
            found = replace(record, since=self._start_of_replay(backup), held_back=held_back)
            if backup is not None:
                rows, at = files.copy(backup.database, new).rows, backup.manifest.made_at
                found = replace(found, rows=rows, backup=backup.name, backup_at=at)
        found = replace(found, since=None if found.held_back else found.since, done=True)
        if new.exists():
            skip_until = record.at if found.held_back else None
            files.prepare_restored(new, reread_since=found.since, skip_until=skip_until)
            replace_database(new, database)
        else:
            remove_database(database)
        recovery_log.save(self._paths, found)
        log.warning("recovery.done", folder=record.folder, rows=sum(found.rows.values()))
        return found

    def _salvage(
        self, record: RecoveryRecord, damaged: Path, backup: Backup | None, target: Path
    ) -> RecoveryRecord | None:
        if not damaged.exists() or damaged.stat().st_size == 0:
            return None
        try:
            found = salvage(damaged, backup.database if backup else None, target)
            rows = files.check(target).rows if found else {}
        except StoreDamaged:
            found = None
        if found is None:
            remove_database(target)
            return None
        if backup is not None and found.filled:
            record = replace(record, backup=backup.name, backup_at=backup.manifest.made_at)
        return replace(
            record,
            rows=rows,
            salvaged={table: count for table, count in found.read.items() if count},
            filled=found.filled,
            lost=found.lost,
            at_least=sorted(found.at_least),
            held_back=bool(EXCLUDING & found.torn) and self._is_exclusion_lost(backup),
            since=(
                self._start_of_replay(backup)
                if found.lost or found.at_least or found.orphans
                else None
            ),
        )

    def _is_exclusion_lost(self, backup: Backup | None) -> bool:
        """Whether something was paused or purged that the backup does not know of."""
        last = database_state.last_exclusion(self._paths)
        return last is not None and (backup is None or last > backup.manifest.made_at)

    def _start_of_replay(self, backup: Backup | None) -> int | None:
        """When the backup was made, or recording began here: the lock file is created once and never written
        to."""
        if backup is not None:
            return backup.manifest.made_at
        try:
            return self._paths.lock_file.stat().st_mtime_ns // 1_000_000
        except OSError:
            return None


def restore(
    repository: BackupRepository,
    backup: Backup,
    keep: int,
    progress: Progress = no_progress,
    *,
    memories: bool = True,
) -> Restored:
    """Everything is prepared first: until the last moment what is here stays."""
    repository.check(backup)
    put_back_memories(repository)
    paths = repository.paths
    new, source = replacement_path(paths.database), paths.memory.with_name(".memory.replacement")
    remove_database(new)
    if backup.manifest.schema:
        files.copy(backup.database, new, progress)
        files.prepare_restored(new)
    if memories:
        shutil.rmtree(source, ignore_errors=True)
        archive.unpack(backup.memories, source)
    before, aside = _keep_current(repository, backup, keep)
    if backup.manifest.schema:
        replace_database(new, paths.database)
    if memories:
        # Until the old ones have another name, the next start would put them back.
        old = paths.memory.with_name(REPLACED)
        archive.replace(paths.memory, source, old)
        shutil.rmtree(source)
        if aside is not None:
            old.rename(aside / paths.memory.name)
        else:
            shutil.rmtree(old.rename(paths.memory.with_name(DROPPED)))
    log.action("backup.restored", backup=backup.name)
    return Restored(backup, before, aside)


def put_back_memories(repository: BackupRepository) -> None:
    """Those that a killed restore moved away; kept aside if others took their place."""
    root = repository.paths.memory
    shutil.rmtree(root.with_name(DROPPED), ignore_errors=True)
    old = root.with_name(REPLACED)
    if not old.is_dir():
        return
    if archive.put_back(root, old):
        old.rename(_create_aside(repository, "a restore was killed") / root.name)
    else:
        old.rmdir()
    log.warning("backup.memories_put_back")


def _keep_current(
    repository: BackupRepository, backup: Backup, keep: int
) -> tuple[Backup | None, Path | None]:
    """What is here now, in a backup or aside. No room for a backup is no reason to go on without."""
    database = repository.paths.database
    files.roll_back(database)
    try:
        return repository.make(backups.RESTORE, keep, spare=backup.name), None
    except StoreError as error:
        folder = _create_aside(repository, log.cause(error))
    move_database(database, folder)
    return None, folder


def _create_aside(repository: BackupRepository, why: str) -> Path:
    record = RecoveryRecord(repository.clock(), BY_HAND, why, done=True, seen=True)
    return repository.paths.damaged / recovery_log.begin(repository.paths, record).folder


def replacement_path(database: Path) -> Path:
    return database.with_name(f".{database.name}.replacement")


def remove_database(database: Path) -> None:
    for part in files.parts(database):
        part.unlink(missing_ok=True)


def replace_database(new: Path, database: Path) -> None:
    """`new` has no log. The old log would be read into it, so all old parts go first."""
    new.chmod(PRIVATE_FILE)
    sync(new)
    remove_database(database)
    new.rename(database)
    sync(database.parent)


def move_database(database: Path, folder: Path) -> None:
    """All its parts, the file itself last: as long as it is here, it was not moved."""
    private_dir(folder)
    for part in reversed(files.parts(database)):
        if part.exists():
            part.rename(folder / part.name)
    sync(folder)
    sync(database.parent)
