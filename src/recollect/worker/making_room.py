"""What goes when there is too little room, in this order, until there is enough:

captures that could not be read; prepared answers, which are made anew; backups but the two newest good
ones; and, where it is recollect itself that takes too much, the contents of the oldest events (`age_out`):
those are not given up because others fill the disk. Never a capture that waits, an observation, a summary
or a memory. If that is not enough, new events go on being stored, with the outputs of tools cut short:
first of boring ones, then of all (`Room.thrift`). Prompts and the agents' last words are always whole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recollect import log
from recollect.backups.shelf import FULL, Backup, Shelf
from recollect.errors import BackupError, StoreError
from recollect.paths import Paths
from recollect.settings import Settings
from recollect.worker.disk import Room, measure

KEPT_BACKUPS = 2
FULL_STORE = (
    "disk is full",
    "disk I/O error",
)  # SQLite's words; the second where the log cannot grow

AgeOut = Callable[[int], int]  # so many bytes should go; how many went


@dataclass(slots=True)
class Housekeeper:
    """Knows how much room there was at its last look, and makes some where it is too little."""

    paths: Paths
    settings: Settings
    shelf: Shelf
    age_out: AgeOut | None = None
    room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.room = measure(self.paths, self.settings)

    def look(self) -> None:
        """It never raises what the disk and the store do: one of them may just have refused something."""
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
        """How many bytes went."""
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
        """Removes one thing after the other, and says how large it was."""
        yield from map(_remove, _oldest(self.paths.spool_bad))
        yield from map(_remove, _prepared(self.paths))
        for backup in _old_backups(self.shelf):
            self.shelf.drop(backup)
            yield backup.manifest.size


def _prepared(paths: Paths) -> Iterator[Path]:
    yield from _oldest(paths.briefs)
    yield from _oldest(paths.file_lists)


def _old_backups(shelf: Shelf) -> list[Backup]:
    """Those before the two newest that pass, the oldest first. Who has fewer good ones keeps all."""
    known = shelf.all()
    if len(known) <= KEPT_BACKUPS:
        return []  # none can go, so none has to be checked: that means to read all of it
    good, surplus = 0, []
    for backup in known:
        if good == KEPT_BACKUPS:
            surplus.append(backup)
            continue
        try:
            shelf.check(backup)
            good += 1
        except BackupError as error:
            log.warning("backup.bad", backup=backup.name, error=log.cause(error))
    return surplus[::-1]


def _oldest(folder: Path) -> list[Path]:
    return [path for _, path in sorted((_time(path), path) for path in _entries(folder))]


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _time(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _remove(path: Path) -> int:
    try:
        size = path.lstat().st_size
        path.unlink()
    except OSError:  # what cannot go stays; the next one may
        return 0
    log.warning("disk.removed", file=path.name, bytes=size)
    return size
