"""Periodic work: stale sessions, leftover files, retention, disk space; a watchdog for replaced files."""

import time
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from aforesaid import log, wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.backups.repository import FULL
from aforesaid.clock import DAY, MINUTE
from aforesaid.errors import StoreError
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import health
from aforesaid.worker.context import DOCTOR_PREFIX, Context
from aforesaid.worker.disk import Room, measure
from aforesaid.worker.spool import entries, oldest_first

LEFT_BEHIND = 10 * MINUTE
ORPHAN_SECONDS = 3600  # a writer that has not finished in an hour is dead
DAY_SECONDS = 24 * 3600
BAD_SECONDS, BAD_BYTES = 30 * DAY_SECONDS, 256 * 1024 * 1024  # of captures that could not be read
REASONS_KEPT, MOST_REASONS = 90 * DAY, 10_000  # why they could not
BRIEF_SECONDS = 90 * DAY_SECONDS  # of a directory without work
SESSION_SECONDS = 30 * DAY_SECONDS  # a session that is resumed after that gets a new file
AT_ONCE = 200  # events in a transaction
KEPT_BACKUPS = 2
FULL_STORE = ("disk is full", "disk I/O error")  # SQLite's words; the second: the log cannot grow


class Housekeeper:
    """Sweeps, and knows how much room there was at its last look; makes some where it is too little."""

    def __init__(self, context: Context) -> None:
        self.context, self._rows = context, context.store.maintenance
        self._backups = wiring.backup_repository(context.home, context.clock)
        self.room = self._measure()

    def run(self) -> None:
        """At the start of the worker, then every hour."""
        paths, store, now = self.context.paths, self.context.store, self.context.clock()
        for session in store.sessions.find_by_prefix(DOCTOR_PREFIX):
            if session.last_event_at < now - LEFT_BEHIND:  # it arrived after the doctor's clean-up
                store.sessions.drop(session.id, session.project_id)
        swept = _limit_quarantine(paths.spool_bad) + _remove_older(paths.briefs, BRIEF_SECONDS)
        for folder in (paths.spool_tmp, paths.run / "claims", paths.file_lists):
            swept += _remove_older(folder, ORPHAN_SECONDS)
        for folder in {paths.state, paths.data, paths.config, paths.run, paths.briefs}:
            swept += _remove_older(folder, ORPHAN_SECONDS, ".*.tmp")
        if swept:
            log.action("spool.swept", count=swept)
        health.forget_old_losses(paths, now)
        if dropped := store.events.trim_quarantine(now - REASONS_KEPT, MOST_REASONS):
            log.action("quarantine.trimmed", count=dropped)
        sweep_session_files(paths, store)
        self.make_room()

    def make_room(self) -> None:
        """Never raises an error of the disk or the store: one of them may just have refused something."""
        try:
            self.room = self._measure()
            if self.room.missing:
                self._delete(self.room)
                self.room = self._measure()
        except (OSError, StoreError) as error:
            log.warning("disk.unkept", error=log.cause(error))

    def make_room_after(self, error: Exception) -> None:
        """Only where it is about space: that may mean to read whole backups, and captures wait."""
        full = isinstance(error, OSError) and error.errno in FULL
        if isinstance(error, StoreError):
            full = any(words in str(error) for words in FULL_STORE)
        if full:
            self.make_room()

    def age_out(self) -> None:
        """Removes the content of old events, as `retention.days` says. What is remembered of them stays."""
        days, go_on = self.context.settings.number("retention.days"), self.context.go_on
        before, count = self.context.clock() - days * DAY, 0
        while days and go_on() and (freed := self._rows.age_out(before, AT_ONCE)).rows:
            count += freed.rows
        if count:
            log.action("retention.aged_out", events=count, given_back=self._rows.shrink())

    def _measure(self) -> Room:
        return measure(self.context.paths, self.context.settings)

    def _delete(self, room: Room) -> None:
        gone = 0
        for size in self._steps():
            gone += size
            if gone >= room.missing:
                break
        if gone < room.over:
            gone += self.free_space(room.over - gone)
        log.warning("disk.room", missing=room.missing, made=gone)

    def _steps(self) -> Iterator[int]:
        """Removes one thing after the other, and yields its size."""
        paths = self.context.paths
        for folder in (paths.spool_bad, paths.briefs, paths.file_lists):
            for path, size in oldest_first(folder):
                if _unlink(path):  # what cannot go stays; the next one may
                    log.warning("disk.removed", file=path.name, bytes=size)
                    yield size
        known = self._backups.all()
        if len(known) <= KEPT_BACKUPS:
            return  # none can go, so none has to be checked: that means to read all of it
        good = self._backups.newest_good()
        for backup in reversed(known[KEPT_BACKUPS:]):
            if backup != good:
                self._backups.delete(backup)
                yield backup.manifest.size

    def free_space(self, size: int) -> int:
        """Up to `size` bytes, of what is older than a day: a session that goes on may need its own. Returns
        how many bytes the disk got back."""
        freed = 0
        while freed < size and self.context.go_on():
            # Texts that search finds go last.
            more = self._rows.age_out(self.context.clock() - DAY, AT_ONCE, keep_texts=True)
            more = more if more.rows else self._rows.drop_old_texts(AT_ONCE)
            if not more.rows:
                break
            freed += more.size
        if not freed:
            return 0
        given_back = self._rows.shrink(at_once=True)
        log.action("retention.let_go", freed=freed, given_back=given_back)
        return given_back


def sweep_session_files(paths: Paths, store: Store) -> None:
    """Deletes session memories whose session is gone, or was silent for long."""
    oldest = time.time() - SESSION_SECONDS
    for file in sorted((paths.memory / "sessions").glob("*.md")):
        agent = next((name for name in AGENTS if file.name.startswith(f"{name}-")), "")
        ref = file.name.removeprefix(f"{agent}-").removesuffix(".md")
        known = not agent or store.sessions.find(agent, ref) is not None
        if not known or file.stat().st_mtime < oldest:
            _unlink(file)


def _remove_older(folder: Path, seconds: float, pattern: str = "*") -> int:
    limit = (time.time() - seconds) * 1e9
    old = (name for at, name, _, _ in entries(folder) if at < limit and fnmatch(name, pattern))
    return sum(_unlink(folder / name) for name in old)


def _limit_quarantine(folder: Path) -> int:
    """By age, then by size, the oldest first. The reasons stay in the database for longer."""
    swept = _remove_older(folder, BAD_SECONDS)
    surplus = sum(size for _, _, size, _ in entries(folder)) - BAD_BYTES
    for path, size in oldest_first(folder):
        if surplus <= 0:
            break
        if _unlink(path):
            surplus, swept = surplus - size, swept + 1
    return swept


def _unlink(path: Path) -> bool:
    with suppress(OSError):
        path.unlink()
        return True
    return False


class FileWatchdog:
    """Notices that a file was replaced or deleted."""

    def __init__(self, *paths: Path) -> None:
        self._known = {path: _identity(path) for path in paths}

    def find_replaced(self) -> Path | None:
        changed = (path for path, known in self._known.items() if _identity(path) != known)
        return next(changed, None)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
