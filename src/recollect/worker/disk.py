"""How much room recollect takes, and how much it may: `limits.home_mb` for all its folders together, and
`limits.free_mb` that it leaves to others. At four fifths it is said; `making_room.py` sees to what is beyond.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from recollect.paths import Paths
from recollect.settings import Settings

MB = 1024 * 1024
BLOCK = 512  # bytes, as `stat` counts them
NEAR = 0.8
FAR_OVER = 1.1


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes. `allowed` and `kept_free` are 0 where there is no limit; `free`: None where nobody can tell."""

    used: int
    allowed: int
    free: int | None
    kept_free: int

    @property
    def share(self) -> float:
        return self.used / self.allowed if self.allowed else 0.0

    @property
    def is_short(self) -> bool:
        """Others need what is left on the disk."""
        return self.free is not None and self.free < self.kept_free

    @property
    def over(self) -> int:
        """How much more is taken than may be."""
        return max(self.used - self.allowed, 0) if self.allowed else 0

    @property
    def missing(self) -> int:
        """How much has to go."""
        short = self.kept_free - self.free if self.is_short and self.free is not None else 0
        return max(self.over, short)

    @property
    def thrift(self) -> int:
        """0: bodies are stored whole. 1: those of boring tools are not. 2: nor those of any tool."""
        if self.is_short or self.share >= FAR_OVER:
            return 2
        return 1 if self.share >= 1 else 0

    @property
    def warning(self) -> str | None:
        """In words that name the fix."""
        if self.is_short and self.free is not None:
            return (
                f"the disk has {_mb(self.free)} left; tool outputs are stored cut short until there are "
                f"{_mb(self.kept_free)} (`limits.free_mb`)"
            )
        if self.share < NEAR:
            return None
        taken = f"recollect takes {_mb(self.used)} of the {_mb(self.allowed)} that it may"
        done = "; tool outputs are stored cut short" if self.thrift else ""
        return f"{taken}{done} (raise `limits.home_mb`, or see `recollect doctor`)"


def measure(paths: Paths, settings: Settings) -> Room:
    """Looks at every file: for now and then, not for a hook."""
    allowed, kept = settings.number("limits.home_mb") * MB, settings.number("limits.free_mb") * MB
    return Room(sum(sizes(paths).values()), allowed, free(paths), kept)


def sizes(paths: Paths) -> dict[str, int]:
    """By the entry below the folders of config, data and state: what is taken there, in bytes."""
    found: dict[str, int] = {}
    for root in {paths.config, paths.data, paths.state}:
        for entry in root.glob("*"):
            name = entry.name if not entry.name.startswith(paths.database.name) else "database"
            found[name] = found.get(name, 0) + _size(entry)
    return found


def free(paths: Paths) -> int | None:
    """Of the file system with the least of it."""
    found = []
    for folder in (paths.data, paths.state):
        try:
            told = os.statvfs(folder)
        except OSError:
            continue
        found.append(told.f_bavail * told.f_frsize)
    return min(found, default=None)


def _size(path: Path) -> int:
    """What it takes on the disk; of a link, the link alone."""
    try:
        status = path.lstat()
        if not path.is_dir() or path.is_symlink():
            return status.st_blocks * BLOCK
        return sum(_size(Path(entry.path)) for entry in os.scandir(path))
    except OSError:  # gone meanwhile, or not ours to look at
        return 0


def _mb(size: int) -> str:
    return f"{size // MB:,} MB"
