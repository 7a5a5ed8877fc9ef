"""A backup in the place of what is here now, on the user's word. Only for the holder of the worker's lock.

What is here is backed up first; a database that is too damaged for that is moved aside. The backup itself
stays as it is.
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


@dataclass(frozen=True, slots=True)
class Restored:
    """`before`: the backup of what was here; None when it could not be made."""

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
    paths, files = shelf.paths, shelf.files
    replacement = swapping.beside(paths.database)
    swapping.clear(files, replacement)
    if backup.manifest.schema:
        files.copy(backup.database, replacement, progress)
        files.ready(replacement)
    source = _unpacked(shelf, backup) if memories else None
    before, aside = _kept(shelf, keep)
    if backup.manifest.schema:
        swapping.put(files, replacement, paths.database)
    if source is not None:
        _replace_memories(paths.memory, source)
    log.action("backup.restored", backup=backup.name)
    return Restored(backup, before, aside)


def _kept(shelf: Shelf, keep: int) -> tuple[Backup | None, Path | None]:
    """What is here now, in a backup or aside. No room for a backup is no reason to go on without."""
    try:
        return shelf.make(rotation.RESTORE, keep), None
    except StoreError as error:
        why = log.cause(error)
    told = Account(shelf.clock(), BY_HAND, why, done=True, seen=True)
    folder = shelf.paths.damaged / accounts.begin(shelf.paths, told).folder
    swapping.move(shelf.files, shelf.paths.database, folder)
    return None, folder


def _unpacked(shelf: Shelf, backup: Backup) -> Path:
    source = shelf.paths.memory.with_name(".memory.replacement")
    shutil.rmtree(source, ignore_errors=True)
    archive.unpack(backup.memories, source)
    return source


def _replace_memories(root: Path, source: Path) -> None:
    old = root.with_name(".memory.replaced")
    shutil.rmtree(
        old, ignore_errors=True
    )  # of somebody who was killed; it is in the backup of then
    archive.replace(root, source, old)
    for folder in (source, old):
        shutil.rmtree(folder)
