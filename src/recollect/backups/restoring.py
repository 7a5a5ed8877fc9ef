"""A backup in the place of what is here now, on the user's word. Only for the holder of the worker's lock.

What is here is backed up first. Where the database is too damaged for that, it is moved aside, and the
memories with it: nothing is deleted that no backup has. The backup that is restored stays as it is.

A restore that is killed is not gone on with. The next start finds the old database or the chosen one; in the
moment between there is none, and it takes the newest backup, which is the one of what was here if that could
be made. Memories that had been taken away come back (`put_back`).
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from recollect import log
from recollect.backups import accounts, archive, rotation, swapping
from recollect.backups.accounts import BY_HAND, Account
from recollect.backups.shelf import Backup, Shelf
from recollect.errors import StoreError
from recollect.store.files import Progress, nothing

REPLACED = ".memory.replaced"  # the memories that were here, until they are in a safe place
DROPPED = ".memory.dropped"  # those that are in a backup


@dataclass(frozen=True, slots=True)
class Restored:
    """`before`: the backup of what was here; None when it could not be made, then it is in `aside`."""

    backup: Backup
    before: Backup | None
    aside: Path | None


def restore(
    shelf: Shelf,
    backup: Backup,
    keep: int,
    progress: Progress = nothing,
    *,
    memories: bool = True,
) -> Restored:
    """Everything is made ready first: until the last moment what is here stays."""
    shelf.check(backup)
    put_back(shelf)
    paths, files = shelf.paths, shelf.files
    replacement = swapping.beside(paths.database)
    swapping.clear(files, replacement)
    if backup.manifest.schema:
        files.copy(backup.database, replacement, progress)
        files.ready(replacement)
    source = _unpacked(shelf, backup) if memories else None
    before, aside = _kept(shelf, backup, keep)
    if backup.manifest.schema:
        swapping.put(files, replacement, paths.database)
    if source is not None:
        _replace_memories(paths.memory, source, aside)
    log.action("backup.restored", backup=backup.name)
    return Restored(backup, before, aside)


def put_back(shelf: Shelf) -> None:
    """The memories that a restore had taken away when it was killed. Where others have come in their stead,
    those stay, and the old ones are kept aside."""
    root = shelf.paths.memory
    shutil.rmtree(root.with_name(DROPPED), ignore_errors=True)
    old = root.with_name(REPLACED)
    if not old.is_dir():
        return
    if archive.put_back(root, old):
        old.rename(_aside(shelf, "a restore was killed") / root.name)
    else:
        old.rmdir()
    log.warning("backup.memories_put_back")


def _kept(shelf: Shelf, backup: Backup, keep: int) -> tuple[Backup | None, Path | None]:
    """What is here now, in a backup or aside. No room for a backup is no reason to go on without."""
    shelf.files.roll_back(shelf.paths.database)
    try:
        return shelf.make(rotation.RESTORE, keep, spare=backup.name), None
    except StoreError as error:
        folder = _aside(shelf, log.cause(error))
    swapping.move(shelf.files, shelf.paths.database, folder)
    return None, folder


def _aside(shelf: Shelf, why: str) -> Path:
    told = Account(shelf.clock(), BY_HAND, why, done=True, seen=True)
    return shelf.paths.damaged / accounts.begin(shelf.paths, told).folder


def _unpacked(shelf: Shelf, backup: Backup) -> Path:
    source = shelf.paths.memory.with_name(".memory.replacement")
    shutil.rmtree(source, ignore_errors=True)
    archive.unpack(backup.memories, source)
    return source


def _replace_memories(root: Path, source: Path, aside: Path | None) -> None:
    """Until the old ones have another name, the next start would put them back."""
    old = root.with_name(REPLACED)
    archive.replace(root, source, old)
    shutil.rmtree(source)
    if aside is not None:
        old.rename(aside / root.name)
    else:
        shutil.rmtree(old.rename(root.with_name(DROPPED)))
