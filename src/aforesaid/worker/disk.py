"""Disk space: `limits.home_mb` for all folders of aforesaid, and `limits.free_mb` that it leaves free.

Warns at 80 %. Beyond the limits `maintenance.py` deletes what can go, and tool outputs are stored shortened.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aforesaid.paths import Paths, walk
from aforesaid.settings import Settings

MB = 1024 * 1024
BLOCK = 512  # bytes, as `stat` counts them
NEAR = 0.8
FAR_OVER = 1.1


def free(paths: Paths) -> int | None:
    """Free bytes of the fullest file system."""
    found = []
    for folder in (paths.data, paths.state):
        with suppress(OSError):
            status = os.statvfs(folder)
            found.append(status.f_bavail * status.f_frsize)
    return min(found, default=None)


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
        """Less is free than `limits.free_mb`."""
        return self.free is not None and self.free < self.kept_free

    @property
    def over(self) -> int:
        """Bytes used beyond `limits.home_mb`."""
        return max(self.used - self.allowed, 0) if self.allowed else 0

    @property
    def missing(self) -> int:
        """Bytes that have to go."""
        return max(self.over, 0 if self.free is None else self.kept_free - self.free)

    @property
    def thrift(self) -> int:
        """0: bodies are stored whole. 1: those of boring tools are not. 2: nor those of any tool."""
        if self.is_short or self.share >= FAR_OVER:
            return 2
        return 1 if self.share >= 1 else 0

    @property
    def warning(self) -> str | None:
        if self.is_short and self.free is not None:
            return (
                f"the disk has {_mb(self.free)} left; tool outputs are stored cut short until there are "
                f"{_mb(self.kept_free)} (`limits.free_mb`)"
            )
        if self.share < NEAR:
            return None
        taken = f"aforesaid takes {_mb(self.used)} of the {_mb(self.allowed)} that it may"
        done = "; tool outputs are stored cut short" if self.thrift else ""
        return f"{taken}{done} (raise `limits.home_mb`, or see `aforesaid doctor`)"


def measure(paths: Paths, settings: Settings) -> Room:
    """Looks at every file: not for a hook."""
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


def _size(path: Path) -> int:
    """What it takes on the disk; of a link, the link alone."""
    size = 0
    is_folder = path.is_dir() and not path.is_symlink()
    for each in (Path(entry.path) for entry in walk(path)) if is_folder else (path,):
        with suppress(OSError):  # gone meanwhile, or not ours to look at
            status = each.lstat()
            size += 0 if stat.S_ISDIR(status.st_mode) else status.st_blocks * BLOCK
    return size


def _mb(size: int) -> str:
    return f"{size // MB:,} MB"
