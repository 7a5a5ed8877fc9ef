"""What goes when there is too little room, in this order, until there is enough:

captures that could not be read; prepared answers, which are made anew; backups but the two newest; raw
events that have aged, if somebody can let them go (`age_out`). Never a capture that waits, an observation,
a summary or a memory. If that is not enough, new events go on being stored, with the outputs of tools cut
short: first of boring ones, then of all (`Room.thrift`). Prompts and the agents' last words are always
whole.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from recollect import log
from recollect.paths import Paths
from recollect.settings import Settings
from recollect.worker.disk import Room, measure

KEPT_BACKUPS = 2

AgeOut = Callable[[int], int]  # so many bytes should go; how many went


@dataclass(slots=True)
class Housekeeper:
    """Knows how much room there was at its last look, and makes some where it is too little."""

    paths: Paths
    settings: Settings
    age_out: AgeOut | None = None
    room: Room = field(init=False)

    def __post_init__(self) -> None:
        self.room = measure(self.paths, self.settings)

    def look(self) -> None:
        """A disk that cannot even be looked at is no reason to stop what the worker does."""
        try:
            self.room = measure(self.paths, self.settings)
            if make_room(self.paths, self.room, self.age_out):
                self.room = measure(self.paths, self.settings)
        except OSError as error:
            log.warning("disk.unmeasured", error=log.cause(error))

    def thrift(self) -> int:
        return self.room.thrift


def make_room(paths: Paths, room: Room, age_out: AgeOut | None = None) -> int:
    """How many bytes went."""
    missing, gone = room.missing, 0
    if not missing:
        return 0
    for path in (*_oldest(paths.spool_bad), *_prepared(paths), *_old_backups(paths)):
        if gone >= missing:
            break
        gone += _remove(path)
    if gone < missing and age_out is not None:
        gone += age_out(missing - gone)
    log.warning("disk.room", missing=missing, made=gone)
    return gone


def _prepared(paths: Paths) -> Iterator[Path]:
    yield from _oldest(paths.briefs)
    yield from _oldest(paths.file_lists)


def _old_backups(paths: Paths) -> list[Path]:
    """Their names begin with when they were made."""
    return sorted(path for path in _entries(paths.data / "backups") if path.is_dir())[
        :-KEPT_BACKUPS
    ]


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
        if path.is_dir() and not path.is_symlink():
            size = sum(each.lstat().st_size for each in path.rglob("*"))
            shutil.rmtree(path)
        else:
            size = path.lstat().st_size
            path.unlink()
    except OSError:  # what cannot go stays; the next one may
        return 0
    log.warning("disk.removed", file=path.name, bytes=size)
    return size
