"""Puts one database in the place of another. Only for the holder of the worker's lock.

A log that belongs to another file would be read into this one, so the old parts go first, all of them. Who
is killed in between leaves no database. A recovery has noted before that it was begun, and is begun again; a
restore notes nothing, and the next start takes the newest backup (see `restoring.py`).
"""

from pathlib import Path

from recollect.paths import PRIVATE_FILE, private_dir, sync
from recollect.store.files import DatabaseFiles


def beside(database: Path) -> Path:
    """Where a replacement is made."""
    return database.with_name(f".{database.name}.replacement")


def clear(files: DatabaseFiles, database: Path) -> None:
    for part in files.parts(database):
        part.unlink(missing_ok=True)


def put(files: DatabaseFiles, replacement: Path, database: Path) -> None:
    """The replacement is closed and has no log."""
    replacement.chmod(PRIVATE_FILE)
    sync(replacement)
    clear(files, database)
    replacement.rename(database)
    sync(database.parent)


def move(files: DatabaseFiles, database: Path, folder: Path) -> None:
    """All parts that there are, the file itself last: as long as it is here, it was not moved."""
    private_dir(folder)
    for part in reversed(files.parts(database)):
        if part.exists():
            part.rename(folder / part.name)
    sync(folder)
    sync(database.parent)
