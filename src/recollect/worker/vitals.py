"""The files a worker stands on. If one is deleted or replaced under it, what it does is lost.

A database that was deleted still takes writes and keeps none; a lock that was deleted lets a second worker
in; a spool that was made anew is no longer watched.
"""

from pathlib import Path


class Vitals:
    def __init__(self, *paths: Path) -> None:
        self._known = {path: _identity(path) for path in paths}

    def lost(self) -> Path | None:
        """The first one that is not what it was."""
        changed = (path for path, known in self._known.items() if _identity(path) != known)
        return next(changed, None)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
