"""The backup repository: `data/backups/<UTC time>-<reason>/`, each backup with a manifest.

A backup is made under a temporary name, opened and checked, synced, and only then renamed; so what has a name
is complete. Any process may make one, as the database is only read, but one at a time. None is ever changed.
"""

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from aforesaid import __version__, log
from aforesaid.backups import archive
from aforesaid.clock import SECOND, Clock
from aforesaid.errors import BackupError, NoRoom, StoreError, StoreMissing
from aforesaid.locks import lock
from aforesaid.paths import PRIVATE_FILE, Paths, private_dir, sync, write_private
from aforesaid.store import files
from aforesaid.store.files import Contents, Progress, no_progress

MANIFEST, DATABASE, MEMORIES = "manifest.json", "aforesaid.db", "memories.tar.gz"
FORMAT = 1
LOCK, TEMPORARY = ".lock", ".making-"
RESERVE = 64 * 1024 * 1024  # bytes that a backup leaves free on the disk
FULL = (errno.ENOSPC, errno.EDQUOT)
NAME = re.compile(r"\d{8}T\d{6}Z-[a-z-]+(?:-\d+)?")
EMPTY = Contents(0, {})
DAILY, BY_HAND, MIGRATION, RESTORE = "daily", "by-hand", "migration", "restore"
BEFORE_KEPT = 2  # of those made before a migration, and before a restore


@dataclass(frozen=True, slots=True)
class FileEntry:
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The last file that is written. `rows` by table; `memories`: files, their history included. `schema`
    is 0 where there was no database."""

    made_at: int
    reason: str
    seconds: float
    schema: int
    rows: dict[str, int]
    memories: int
    files: dict[str, FileEntry]
    version: str = __version__
    format: int = FORMAT

    @property
    def size(self) -> int:
        return sum(each.size for each in self.files.values())


class Backup(NamedTuple):
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
class BackupRepository:
    paths: Paths
    clock: Clock

    def all(self) -> list[Backup]:
        """Newest first. Folders without a manifest are skipped."""
        found = []
        for path in self.paths.backups.glob("*"):
            try:
                if NAME.fullmatch(path.name):
                    found.append(Backup(path, read_manifest(path)))
            except BackupError as error:
                log.warning("backup.unreadable", backup=path.name, error=log.cause(error))
        return sorted(found, key=lambda each: (each.manifest.made_at, each.name), reverse=True)

    def get(self, name: str | None) -> Backup:
        """None: the newest."""
        for found in (known := self.all()):
            if name in (None, found.name):
                return found
        if not known:
            raise BackupError("There is no backup yet. Make one with `aforesaid backup`.")
        raise BackupError(f"There is no backup {name!r}. `aforesaid backup list` shows them.")

    def make(
        self, reason: str, keep: int, progress: Progress = no_progress, *, spare: str | None = None
    ) -> Backup:
        """Backs up the database and the memories, then deletes expired backups, except `spare`."""
        with lock_repository(self.paths):
            for path in self.paths.backups.glob(f"{TEMPORARY}*"):  # of somebody who was killed
                shutil.rmtree(path, ignore_errors=True)
            self._check_space()
            began = self.clock()
            folder = private_dir(self.paths.backups / f"{TEMPORARY}{os.getpid()}")
            try:
                made = self._make(folder, reason, began, progress)
            except OSError as error:
                kind = NoRoom if error.errno in FULL else BackupError
                raise kind(
                    f"The backup could not be written: {error.strerror or error}. See that there is "
                    "free space, then run `aforesaid backup`."
                ) from error
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            for expired in find_expired(self.all(), keep):
                if expired.name != spare:
                    self.delete(expired)
        size = made.manifest.size
        log.action("backup.made", backup=made.name, size=size, seconds=made.manifest.seconds)
        return made

    def check(self, backup: Backup) -> Contents:
        """Raises BackupError unless every file is as it was written, and sound."""
        for name, expected in backup.manifest.files.items():
            try:
                if describe_file(backup.path / name) != expected:
                    raise BackupError(f"{backup.name} is damaged: {name} is not what was written.")
            except OSError as error:
                raise BackupError(f"{backup.name} is damaged: {error.strerror}: {name}.") from error
        return _open_and_check(backup.path, backup.manifest)

    def newest_good(self) -> Backup | None:
        """The newest with a database that passes the check."""
        for backup in self.all():
            try:
                if self.check(backup).schema:
                    return backup
            except BackupError as error:
                log.warning("backup.bad", backup=backup.name, error=log.cause(error))
        return None

    def delete(self, backup: Backup) -> None:
        """Renamed first: a half deleted backup has no name."""
        gone = backup.path.with_name(f"{TEMPORARY}{backup.name}")
        backup.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        log.action("backup.dropped", backup=backup.name)

    def _make(self, folder: Path, reason: str, began: int, progress: Progress) -> Backup:
        database, memories = folder / DATABASE, folder / MEMORIES
        try:
            database.touch(PRIVATE_FILE)
            contents = files.copy(self.paths.database, database, progress)
        except StoreMissing:  # memories may be all there is
            contents = EMPTY
        count = archive.pack(self.paths.memory, memories)
        manifest = Manifest(
            made_at=began,
            reason=reason,
            seconds=round(max(0, self.clock() - began) / SECOND, 3),
            schema=contents.schema,
            rows=contents.rows,
            memories=count,
            files={path.name: describe_file(path) for path in folder.iterdir()},
        )
        _open_and_check(folder, manifest)
        write_private(folder / MANIFEST, json.dumps(asdict(manifest), indent=2).encode() + b"\n")
        for path in (*folder.iterdir(), folder):
            sync(path)
        target = unused_folder(self.paths.backups, began, f"-{reason}")
        folder.rename(target)
        sync(self.paths.backups)
        return Backup(target, manifest)

    def _check_space(self) -> None:
        needed = sum(
            path.stat().st_size
            for path in (*files.parts(self.paths.database), *self.paths.memory.rglob("*"))
            if path.is_file()
        )
        free = shutil.disk_usage(self.paths.backups).free
        if free < needed + RESERVE:
            raise NoRoom(
                f"There is no room for a backup: it may need {needed >> 20} MB, and of the {free >> 20} MB "
                f"that are free {RESERVE >> 20} MB stay so. Free some space and run `aforesaid backup`."
            )


def find_expired(newest_first: Sequence[Backup], keep: int) -> list[Backup]:
    """The newest of all is never expired: it has just been checked, and may be the only good one. The newest
    daily one of each of the latest weeks stays, too."""
    kept = [each.name for each in newest_first[:1]]
    most = {DAILY: keep, BY_HAND: keep, MIGRATION: BEFORE_KEPT, RESTORE: BEFORE_KEPT}
    for reason, number in most.items():
        kept += [each.name for each in newest_first if each.manifest.reason == reason][:number]
    weekly: dict[str, str] = {}
    for each in newest_first:
        if each.manifest.reason == DAILY:
            week = datetime.fromtimestamp(each.manifest.made_at / SECOND, UTC).strftime("%G-%V")
            weekly.setdefault(week, each.name)
    kept += list(weekly.values())[:keep]
    return [each for each in newest_first if each.name not in kept]


def read_manifest(folder: Path) -> Manifest:
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
        if found["format"] > FORMAT:
            raise BackupError(f"{folder.name} was made by a newer aforesaid ({found['version']}).")
        entries = {str(name): FileEntry(**each) for name, each in found.pop("files").items()}
        return Manifest(**found, files=entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"{folder.name} has no manifest that can be read.") from error


def describe_file(path: Path) -> FileEntry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileEntry(path.stat().st_size, digest)


@contextmanager
def lock_repository(paths: Paths) -> Iterator[None]:
    """Others wait to make their backup; one takes seconds."""
    with lock(private_dir(paths.backups) / LOCK):
        yield


def unused_folder(parent: Path, at: int, suffix: str = "") -> Path:
    """Named by the time; not created."""
    name = datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y%m%dT%H%M%SZ") + suffix
    path, number = parent / name, 1
    while path.exists():
        number += 1
        path = parent / f"{name}-{number}"
    return path


def _open_and_check(folder: Path, expected: Manifest) -> Contents:
    found = EMPTY
    if expected.schema:
        try:
            found = files.check(folder / DATABASE)
        except StoreError as error:
            raise BackupError(f"The backup {folder.name} cannot be used: {error}") from error
    count = archive.check(folder / MEMORIES)
    wanted = (expected.schema, expected.rows, expected.memories)
    if (found.schema, found.rows, count) != wanted:
        raise BackupError(f"{folder.name} does not hold what its manifest says.")
    return found
