"""Periodic work: stale sessions, leftover files, retention, a watchdog for replaced files."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

from aforesaid import log
from aforesaid.agents.registry import AGENTS
from aforesaid.clock import DAY, MINUTE, Clock
from aforesaid.model.events import Healed
from aforesaid.paths import Paths
from aforesaid.settings import Settings
from aforesaid.store.store import Store
from aforesaid.worker import health
from aforesaid.worker.context import DOCTOR_PREFIX
from aforesaid.worker.spool import entries, oldest_first

LEFT_BEHIND = 10 * MINUTE
ORPHAN_SECONDS = 3600  # a writer that has not finished in an hour is dead
DAY_SECONDS = 24 * 3600
BAD_SECONDS, BAD_BYTES = 30 * DAY_SECONDS, 256 * 1024 * 1024  # of captures that could not be read
REASONS_KEPT, MOST_REASONS = 90 * DAY, 10_000  # why they could not
BRIEF_SECONDS = 90 * DAY_SECONDS  # of a directory that nobody works in
SESSION_SECONDS = 30 * DAY_SECONDS  # a session that is resumed after that gets a new file
AT_ONCE = 200  # events in a transaction
AGE_OUT_SECONDS = 3600.0


class SessionReader(Protocol):
    def session(self, agent: str, ref: str) -> Healed: ...


def run(paths: Paths, store: Store, clock: Clock) -> None:
    """At the start of the worker, then every hour."""
    now = clock()
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


def sweep_session_files(paths: Paths, store: Store) -> None:
    """Deletes session memories whose session is gone, or was silent for long."""
    oldest = time.time() - SESSION_SECONDS
    for file in sorted((paths.memory / "sessions").glob("*.md")):
        agent = next((name for name in AGENTS if file.name.startswith(f"{name}-")), "")
        ref = file.name.removeprefix(f"{agent}-").removesuffix(".md")
        known = not agent or store.sessions.find(agent, ref) is not None
        if not known or file.stat().st_mtime < oldest:
            _unlink(file)


def interrupt_stale(store: Store, reader: SessionReader, clock: Clock) -> None:
    """Ends sessions that were silent for a day, after reading the rest of their transcripts."""
    now = clock()
    stale = store.sessions.stale(now - DAY)
    for session in stale:
        reader.session(session.agent, session.ref)
    # No others: one that was imported meanwhile has not been read.
    read = frozenset(session.id for session in stale)
    if interrupted := store.sessions.interrupt_stale(now - DAY, now, read):
        log.action("session.interrupted", count=interrupted)


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


@dataclass(slots=True)
class Retention:
    """Removes the content of old events. What is remembered of them stays."""

    store: Store
    settings: Settings
    clock: Clock
    _next: float = 0.0

    def run_if_due(self, go_on: Callable[[], bool]) -> None:
        """As `retention.days` says, once an hour."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + AGE_OUT_SECONDS
        days = self.settings.number("retention.days")
        before, count = self.clock() - days * DAY, 0
        while days and go_on() and (freed := self.store.maintenance.age_out(before, AT_ONCE)).rows:
            count += freed.rows
        if count:
            given_back = self.store.maintenance.shrink()
            log.action("retention.aged_out", events=count, given_back=given_back)

    def free_space(self, size: int, go_on: Callable[[], bool]) -> int:
        """Up to `size` bytes, of what is older than a day: a session that goes on may need its own. Returns
        how many bytes the disk got back."""
        rows, freed = self.store.maintenance, 0
        while freed < size and go_on():
            # Texts that search finds go last.
            more = rows.age_out(self.clock() - DAY, AT_ONCE, keep_texts=True)
            more = more if more.rows else rows.drop_old_texts(AT_ONCE)
            if not more.rows:
                break
            freed += more.size
        if not freed:
            return 0
        given_back = rows.shrink(at_once=True)
        log.action("retention.let_go", freed=freed, given_back=given_back)
        return given_back


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
