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
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from aforesaid import log
from aforesaid.backups import archive, database_state, recovery_log
from aforesaid.backups import repository as backups
from aforesaid.backups.database_state import AGAIN_MINUTES
from aforesaid.backups.recovery_log import BY_HAND, FILE, LOG, NOUNS, RecoveryRecord
from aforesaid.backups.repository import Backup, BackupRepository
from aforesaid.clock import MINUTE, day_and_time
from aforesaid.english import count
from aforesaid.errors import StoreDamaged, StoreError
from aforesaid.paths import PRIVATE_FILE, Paths, private_dir, sync
from aforesaid.store import files
from aforesaid.store.files import Progress, no_progress
from aforesaid.store.salvage import Salvaged, salvage

EXCLUDING = {"pauses", "erased_sessions", "events"}  # say what transcripts must not bring back
REPLACED = ".memory.replaced"  # the memories that were here, until they are in a safe place
DROPPED = ".memory.dropped"  # those that are in a backup


def recover(repository: BackupRepository, why: str) -> None:
    paths, now = repository.paths, repository.clock()
    since = now - AGAIN_MINUTES * MINUTE
    recent = (each for each in recovery_log.load_all(paths) if each.done and each.at > since)
    if any(each.what == FILE for each in recent):
        raise StoreDamaged(
            f"{paths.database} is damaged again ({why}), soon after it was repaired. Its disk may be "
            "failing, or another program writes to the file. Fix that, then run `aforesaid restore`; "
            f"events wait in the spool, and {paths.damaged} has what was there before."
        )
    log.warning("recovery.began", why=why)
    _finish(repository, recovery_log.begin(paths, RecoveryRecord(now, FILE, why)))


def resume(repository: BackupRepository) -> None:
    """A recovery that was begun and killed."""
    begun = [each for each in recovery_log.load_all(repository.paths) if not each.done]
    if begun:
        _finish(repository, begun[0])


def record_lost_log(repository: BackupRepository, events: int) -> None:
    """The file itself is sound. `events`: how many are known to be gone."""
    log.warning("recovery.log_lost", events=events)
    now = repository.clock()
    message = (
        f"aforesaid's database lost its log at a crash before {day_and_time(now)}. At least "
        f"{count(events, 'event')} may be missing; what the transcripts tell of it is read again."
    )
    record = RecoveryRecord(now, LOG, "its last commits are gone", done=True, message=message)
    recovery_log.begin(repository.paths, record)


def _finish(repository: BackupRepository, record: RecoveryRecord) -> None:
    paths, backup = repository.paths, repository.newest_good()
    database, folder = paths.database, paths.damaged / record.folder
    moved, new = folder / database.name, replacement_path(database)
    if not moved.exists() and database.exists():
        move_database(database, folder)
    remove_database(new)
    found = _salvage(moved, backup, new)
    if found is None and backup is not None:
        files.copy(backup.database, new)
    last = database_state.last_exclusion(paths)
    # Something was paused or purged that the backup does not know of.
    is_unknown = last is not None and (backup is None or last > backup.manifest.made_at)
    held_back = is_unknown and (found is None or bool(EXCLUDING & found.torn))
    is_complete = found is not None and not (found.torn or found.orphans)
    since = None if is_complete or held_back else _start_of_replay(paths, backup)
    if new.exists():
        skip_until = record.at if held_back else None
        files.prepare_restored(new, reread_since=since, skip_until=skip_until)
        replace_database(new, database)
    else:
        remove_database(database)
    # SQLite's own words, on one line.
    why = " ".join(record.why.replace("*** in database main ***", "").split())[:120]
    message = (
        f"aforesaid's database was damaged ({why}) and was repaired at {day_and_time(record.at)}: "
        f"{_describe(found, backup, held_back=held_back)} The damaged file is in {folder}."
    )
    record = replace(record, done=True, message=message, since=since, held_back=held_back)
    recovery_log.save(paths, record)
    log.warning("recovery.done", folder=record.folder)


def _salvage(damaged: Path, backup: Backup | None, target: Path) -> Salvaged | None:
    if not damaged.exists() or damaged.stat().st_size == 0:
        return None
    with suppress(StoreDamaged):
        if found := salvage(damaged, backup.database if backup else None, target):
            files.check(target)
            return found
    remove_database(target)
    return None


def _start_of_replay(paths: Paths, backup: Backup | None) -> int | None:
    """When the backup was made, or recording began: the lock file is created once and never written to."""
    if backup is not None:
        return backup.manifest.made_at
    try:
        return paths.lock_file.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None


def _describe(found: Salvaged | None, backup: Backup | None, *, held_back: bool) -> str:
    """Where the rows are from, and what was lost."""
    at = day_and_time(backup.manifest.made_at) if backup else ""
    if found is None:
        what = (
            f"the backup of {at} was restored. What was stored since {at}"
            if backup
            else "there was no backup that could be used, so an empty database was created. What was stored"
        )
        lost = f"{what} is lost, unless the spool or a transcript has it."
    else:
        filled = _list_counts(found.filled)
        lost = f"{_list_counts(found.read) or 'little'} could still be read"
        lost += f", {filled} came from the backup of {at}. " if filled else ". "
        if not (found.torn or found.orphans):
            return f"{lost}Nothing was lost."
        if found.lost:
            lost += f"About {_list_counts(found.lost) or 'a few rows'} could not be recovered. "
        # Whatever knew of rows at the end of a table may be damaged too.
        names = " and ".join(table for table in NOUNS if table in found.torn)
        lost += f"The last {names or 'rows'} may be missing."
    if held_back:
        return (
            f"{lost} Sessions were paused or erased, and which is no longer known: so transcripts are not "
            "read by themselves. `aforesaid import claude-code` reads them; `aforesaid pause` again what "
            "should be."
        )
    return f"{lost} The spool and the transcripts are read again."


def _list_counts(rows: dict[str, int]) -> str:
    named = [count(rows[table], noun) for table, noun in NOUNS.items() if rows.get(table)]
    return ", ".join(named[:-1]) + " and " + named[-1] if len(named) > 1 else "".join(named)


def restore(
    repository: BackupRepository,
    backup: Backup,
    keep: int,
    progress: Progress = no_progress,
    *,
    memories: bool = True,
) -> Backup | Path:
    """Everything is prepared first: until the last moment what is here stays. Returns the backup of that; the
    folder where it is if none could be made."""
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
    before = _keep_current(repository, backup, keep)
    if backup.manifest.schema:
        replace_database(new, paths.database)
    if memories:
        # Until the old ones have another name, the next start would put them back.
        old = paths.memory.with_name(REPLACED)
        archive.replace(paths.memory, source, old)
        shutil.rmtree(source)
        if isinstance(before, Path):
            old.rename(before / paths.memory.name)
        else:
            shutil.rmtree(old.rename(paths.memory.with_name(DROPPED)))
    log.action("backup.restored", backup=backup.name)
    return before


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


def _keep_current(repository: BackupRepository, backup: Backup, keep: int) -> Backup | Path:
    """What is here now, in a backup or aside. No room for a backup is no reason to go on without."""
    database = repository.paths.database
    files.roll_back(database)
    try:
        return repository.make(backups.RESTORE, keep, spare=backup.name)
    except StoreError as error:
        folder = _create_aside(repository, log.cause(error))
    move_database(database, folder)
    return folder


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
