"""When each project was last dreamed of, on request or by itself: beside the lock an empty file for each,
named like the project's folder, whose time it is.

Like the lock's, a file comes into its place whole, with its time, and only after the dream was completed: one
that was killed just before that has changed the memories and is not counted, which costs a dream too many.
"""

import os
from pathlib import Path

from recollect.memory.dream import dream_lock
from recollect.memory.storage.folders import Places
from recollect.paths import PRIVATE_FILE, private_dir

FOLDER = ".dreams"


def last(places: Places) -> int | None:
    """When a dream of the project was last completed."""
    return dream_lock.last(_file(places))


def note(places: Places, now: int) -> None:
    """One was completed. Whoever notes it has the lock: nobody else does just then."""
    path = _file(places)
    private_dir(path.parent)
    temporary = path.with_name(f".{path.name}.new")  # one that was left is used again
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, PRIVATE_FILE)
    try:
        os.utime(descriptor, ns=(now * 1_000_000, now * 1_000_000))
    finally:
        os.close(descriptor)
    temporary.replace(path)


def _file(places: Places) -> Path:
    return places.root / FOLDER / places.project.path.name
