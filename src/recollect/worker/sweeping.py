"""Files that nobody will come back for, and files that only grow."""

import os
import time
from pathlib import Path

from recollect import log
from recollect.clock import DAY, Clock
from recollect.paths import PRIVATE_FILE, Paths
from recollect.store.protocol import Store
from recollect.worker.health import failures_in

ORPHAN_SECONDS = 3600  # a writer that has not finished in an hour is dead
DAY_SECONDS = 24 * 3600
BAD_SECONDS, BAD_BYTES = 30 * DAY_SECONDS, 256 * 1024 * 1024  # of captures that could not be read
REASONS_KEPT, MOST_REASONS = 90 * DAY, 10_000  # why they could not
BRIEF_SECONDS, GONE_SECONDS = 90 * DAY_SECONDS, 7 * DAY_SECONDS
FAILURES_BYTES = 4096
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def sweep(paths: Paths, store: Store, clock: Clock) -> None:
    for folder in (paths.spool_tmp, paths.run / "claims", paths.file_lists):
        _tell(folder.name, _remove_older(folder, ORPHAN_SECONDS))
    for folder in {paths.state, paths.data, paths.config, paths.run, paths.briefs}:
        _tell("tmp", _remove_older(folder, ORPHAN_SECONDS, ".*.tmp"))
    _tell("bad", _bound(paths.spool_bad))
    _tell("briefs", _briefs(paths.briefs))
    _fold_failures(paths.capture_failures)
    if dropped := store.trim_quarantine(clock() - REASONS_KEPT, MOST_REASONS):
        log.action("quarantine.trimmed", count=dropped)


def _tell(what: str, swept: int) -> None:
    if swept:
        log.action("spool.swept", folder=what, count=swept)


def _remove_older(folder: Path, seconds: float, pattern: str = "*") -> int:
    limit = time.time() - seconds
    return sum(_unlink(path) for path, at, _ in _files(folder, pattern) if at < limit)


def _bound(folder: Path) -> int:
    """By age, then by size, the oldest first. The reasons stay in the database for longer."""
    swept = _remove_older(folder, BAD_SECONDS)
    total = 0
    for path, _, size in sorted(_files(folder), key=lambda each: each[1], reverse=True):
        total += size
        if total > BAD_BYTES:
            swept += _unlink(path)
    return swept


def _briefs(folder: Path) -> int:
    """Of directories that are gone, or that nobody has worked in for long."""
    now, swept = time.time(), 0
    for path, at, _ in _files(folder):
        old = now - at > BRIEF_SECONDS
        if old or (now - at > GONE_SECONDS and not _directory_of(path)):
            swept += _unlink(path)
    return swept


def _directory_of(brief: Path) -> bool:
    """Whether the one that it was prepared for is there."""
    try:
        return os.path.isdir(brief.read_bytes().partition(b"\0\n")[0])  # noqa: PTH112 - bytes
    except (OSError, ValueError):
        return True  # nobody can tell


def _fold_failures(file: Path) -> None:
    """A line for each that was lost becomes one with their number. Hooks may add lines meanwhile: they go
    to a new file, and ours behind them."""
    aside = file.with_name(f"{file.name}.folded")
    try:
        if file.stat().st_size <= FAILURES_BYTES:
            return
        file.rename(aside)
        with os.fdopen(os.open(file, APPEND, PRIVATE_FILE), "ab") as kept:
            kept.write(b"+%d\n" % failures_in(aside.read_bytes()))
        aside.unlink()
    except FileNotFoundError:
        return
    except OSError as error:  # the disk is full: it stays as it is
        log.warning("capture_failures.unfolded", error=log.cause(error))


def _files(folder: Path, pattern: str = "*") -> list[tuple[Path, float, int]]:
    """With their times and sizes."""
    found = []
    for path in folder.glob(pattern) if folder.is_dir() else ():
        try:
            status = path.lstat()
        except OSError:
            continue
        if not path.is_dir() or path.is_symlink():
            found.append((path, status.st_mtime, status.st_size))
    return found


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True
