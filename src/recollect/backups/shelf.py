"""The backups that there are: `data/backups/<UTC time>-<reason>/`, each with a manifest.

One is made under another name, opened and checked, synced, and only then given its own; so what has a name
is whole. Any process may make one, as the database is only read, but one at a time. One is never changed.
"""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect import log
from recollect.backups import archive, manifest, rotation
from recollect.backups.manifest import DATABASE, MEMORIES, Manifest
from recollect.clock import SECOND, Clock
from recollect.errors import BackupError, NoRoom, StoreError, StoreMissing
from recollect.paths import PRIVATE_FILE, Paths, private_dir, sync
from recollect.store.files import Contents, DatabaseFiles, Progress, nothing

LOCK, MAKING = ".lock", ".making-"
RESERVE = 64 * 1024 * 1024  # bytes that a backup leaves free for those who need them more
FULL = (errno.ENOSPC, errno.EDQUOT)
NAME = re.compile(r"\d{8}T\d{6}Z-[a-z-]+(?:-\d+)?")
EMPTY = Contents(0, {})


@dataclass(frozen=True, slots=True)
class Backup:
    path: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def database(self) -> Path:
        return self.path / DATABASE

    @property
    def memories(self) -> Path:
        return self.path / MEMORIES


@dataclass(slots=True)
class Shelf:
    paths: Paths
    files: DatabaseFiles
    clock: Clock

    def all(self) -> list[Backup]:
        """Newest first. A folder without a manifest is not one of ours."""
        found = []
        for path in self._folders():
            try:
                found.append(Backup(path, manifest.read(path)))
            except BackupError as error:
                log.warning("backup.unreadable", backup=path.name, error=log.cause(error))
        return sorted(found, key=lambda each: (each.manifest.made_at, each.name), reverse=True)

    def named(self, name: str | None) -> Backup:
        """None: the newest. An error says what there is."""
        known = self.all()
        found = next((each for each in known if name in (None, each.name)), None)
        if found is not None:
            return found
        if not known:
            raise BackupError("There is no backup yet. Make one with `recollect backup`.")
        raise BackupError(f"There is no backup {name!r}. `recollect backup list` shows them.")

    def make(
        self, reason: str, keep: int, progress: Progress = nothing, *, spare: str | None = None
    ) -> Backup:
        """Of the database and the memories as they are now; then those that had their time go, but for the
        one that is spared."""
        with alone(self.paths):
            self._sweep()
            self._see_to_space()
            began = self.clock()
            making = private_dir(self.paths.backups / f"{MAKING}{os.getpid()}")
            try:
                found = self._made(making, reason, began, progress)
            except OSError as error:
                raise _unwritten(error) from error
            finally:
                shutil.rmtree(making, ignore_errors=True)
            self._rotate(keep, spare)
        size = found.manifest.size
        log.action("backup.made", backup=found.name, size=size, seconds=found.manifest.seconds)
        return found

    def check(self, backup: Backup) -> Contents:
        """Raises BackupError unless everything in it is as it was when it was made, and sound."""
        for name, expected in backup.manifest.files.items():
            try:
                if manifest.described(backup.path / name) != expected:
                    raise BackupError(f"{backup.name} is damaged: {name} is not what was written.")
            except OSError as error:
                raise BackupError(f"{backup.name} is damaged: {error.strerror}: {name}.") from error
        return self._checked(backup.path, backup.manifest)

    def newest_good(self) -> Backup | None:
        """With a database. Those that do not pass are left where they are."""
        for backup in self.all():
            try:
                if self.check(backup).schema:
                    return backup
            except BackupError as error:
                log.warning("backup.bad", backup=backup.name, error=log.cause(error))
        return None

    def drop(self, backup: Backup) -> None:
        """For good. It loses its name first: half of one is none."""
        gone = backup.path.with_name(f"{MAKING}{backup.name}")
        backup.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        log.action("backup.dropped", backup=backup.name)

    def _made(self, making: Path, reason: str, began: int, progress: Progress) -> Backup:
        try:
            held = self.files.copy(self.paths.database, making / DATABASE, progress)
            (making / DATABASE).chmod(PRIVATE_FILE)
        except StoreMissing:  # memories may be all there is
            held = EMPTY
        memories = archive.pack(self.paths.memory, making / MEMORIES)
        kept = {
            path.name: manifest.described(path)
            for path in (making / DATABASE, making / MEMORIES)
            if path.exists()
        }
        made = Manifest(
            made_at=began,
            reason=reason,
            seconds=manifest.seconds_between(began, self.clock()),
            schema=held.schema,
            rows=held.rows,
            memories=memories,
            files=kept,
        )
        self._checked(making, made)
        manifest.write(making, made)
        for path in (*making.iterdir(), making):
            sync(path)
        target = self._free_name(began, reason)
        making.rename(target)
        sync(self.paths.backups)
        return Backup(target, made)

    def _checked(self, folder: Path, expected: Manifest) -> Contents:
        """By opening it."""
        found = EMPTY
        if expected.schema:
            try:
                found = self.files.check(folder / DATABASE)
            except StoreError as error:
                raise BackupError(f"The backup {folder.name} cannot be used: {error}") from error
        memories = archive.check(folder / MEMORIES)
        if (found.schema, found.rows, memories) != (
            expected.schema,
            expected.rows,
            expected.memories,
        ):
            raise BackupError(f"{folder.name} does not hold what its manifest says.")
        return found

    def _rotate(self, keep: int, spare: str | None) -> None:
        known = {each.name: each for each in self.all()}
        dated = [
            rotation.Dated(each.name, each.manifest.made_at, each.manifest.reason)
            for each in known.values()
        ]
        for name in rotation.surplus(dated, keep):
            if name != spare:
                self.drop(known[name])

    def _see_to_space(self) -> None:
        needed = sum(
            path.stat().st_size
            for path in (*self.files.parts(self.paths.database), *self.paths.memory.rglob("*"))
            if path.is_file()
        )
        free = shutil.disk_usage(self.paths.backups).free
        if free < needed + RESERVE:
            raise NoRoom(
                f"There is no room for a backup: it may need {needed >> 20} MB, and of the {free >> 20} MB "
                f"that are free {RESERVE >> 20} MB stay so. Free some space and run `recollect backup`."
            )

    def _free_name(self, at: int, reason: str) -> Path:
        day = datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y%m%dT%H%M%SZ")
        path, number = self.paths.backups / f"{day}-{reason}", 1
        while path.exists():
            number += 1
            path = self.paths.backups / f"{day}-{reason}-{number}"
        return path

    def _folders(self) -> list[Path]:
        try:
            return [path for path in self.paths.backups.iterdir() if NAME.fullmatch(path.name)]
        except FileNotFoundError:
            return []

    def _sweep(self) -> None:
        """What was being made by somebody who was killed."""
        for path in self.paths.backups.glob(f"{MAKING}*"):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def alone(paths: Paths) -> Iterator[None]:
    """Nobody else makes a backup. Whoever comes second waits; one takes seconds."""
    file = private_dir(paths.backups) / LOCK
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _unwritten(error: OSError) -> BackupError:
    kind = NoRoom if error.errno in FULL else BackupError
    return kind(
        f"The backup could not be written: {error.strerror or error}. See that there is free space, "
        "then run `recollect backup`."
    )
