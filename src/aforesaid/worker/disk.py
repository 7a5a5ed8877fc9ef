"""Disk space: `limits.home_mb` for all folders of aforesaid, and `limits.free_mb` that it leaves free.

Warns at 80 %. Beyond the limits the housekeeper deletes what can go, and tool outputs are stored shortened.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid import log
from aforesaid.backups.repository import FULL, BackupRepository
from aforesaid.errors import StoreError
from aforesaid.paths import Paths, walk
from aforesaid.settings import Settings
from aforesaid.worker.spool import oldest_first

MB = 1024 * 1024
BLOCK = 512  # bytes, as `stat` counts them
NEAR = 0.8
FAR_OVER = 1.1
KEPT_BACKUPS = 2
FULL_STORE = ("disk is full", "disk I/O error")  # SQLite's words; the second: the log cannot grow


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


@dataclass(slots=True)
class Housekeeper:
    """Knows how much room there was at its last look, and makes some where it is too little."""

    paths: Paths
    settings: Settings
    backups: BackupRepository
    age_out: Callable[[int], int] | None = None  # frees up to so many bytes; returns how many
    room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.room = measure(self.paths, self.settings)

    def look(self) -> None:
        """Never raises an error of the disk or the store: one of them may just have refused something."""
        try:
            self.room = measure(self.paths, self.settings)
            if self._make_room():
                self.room = measure(self.paths, self.settings)
        except (OSError, StoreError) as error:
            log.warning("disk.unkept", error=log.cause(error))

    def look_after(self, error: Exception) -> None:
        """Only where it is about space: to look may mean to read whole backups, and captures wait."""
        full = isinstance(error, OSError) and error.errno in FULL
        if isinstance(error, StoreError):
            full = any(words in str(error) for words in FULL_STORE)
        if full:
            self.look()

    def thrift(self) -> int:
        return self.room.thrift

    def _make_room(self) -> int:
        """Returns how many bytes went."""
        if not self.room.missing:
            return 0
        gone = 0
        for size in self._steps():
            gone += size
            if gone >= self.room.missing:
                break
        if self.age_out is not None and gone < self.room.over:
            gone += self.age_out(self.room.over - gone)
        log.warning("disk.room", missing=self.room.missing, made=gone)
        return gone

    def _steps(self) -> Iterator[int]:
        """Removes one thing after the other, and yields its size."""
        for folder in (self.paths.spool_bad, self.paths.briefs, self.paths.file_lists):
            for path, size in oldest_first(folder):
                with suppress(OSError):  # what cannot go stays; the next one may
                    path.unlink()
                    log.warning("disk.removed", file=path.name, bytes=size)
                    yield size
        known = self.backups.all()
        if len(known) <= KEPT_BACKUPS:
            return  # none can go, so none has to be checked: that means to read all of it
        good = self.backups.newest_good()
        for backup in reversed(known[KEPT_BACKUPS:]):
            if backup != good:
                self.backups.delete(backup)
                yield backup.manifest.size
