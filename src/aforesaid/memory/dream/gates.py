"""When a dream may run: the conditions, the lock, and when the last one was completed.

A dream costs a model request and rewrites memories, so it runs seldom. Each condition alone can prevent it;
the cheapest are checked first. The modification time of the lock file is that of the last completed dream.
"""

import fcntl
import json
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from aforesaid import locks
from aforesaid.clock import DAY, HOUR, MINUTE, age
from aforesaid.english import count
from aforesaid.memory.folders import Places
from aforesaid.paths import PRIVATE_FILE, private_dir

INTERVAL = DAY  # between two dreams
THROTTLE = 10 * MINUTE  # between two checks, as a check reads the disk
MIN_SESSIONS = 5  # since the last dream
MIN_MEMORIES = 10
LOCK_EXPIRES = HOUR  # the holder is then taken to hang
DREAM_LOCK_FILE = ".dream"
DREAM_TIMES_FOLDER = ".dreams"


def closed_gate(
    now: int,
    *,
    last: int | None = None,
    checked: int | None = None,
    sessions: int | None = None,
    memories: int | None = None,
    held_since: int | None = None,
) -> str | None:
    """The reason why no dream may run now, or None. `last`: the last completed dream; `checked`: the last
    check; None for never. `sessions` since the last dream and `memories`: None if not counted, then not
    judged. `held_since`: when a dream began that is still running."""
    if last is not None and _within(now, last, INTERVAL):
        return f"the last dream was {age(last, now=now)} ago, and a day is between two"
    if checked is not None and _within(now, checked, THROTTLE):
        return (
            f"it was checked {age(checked, now=now)} ago, and {THROTTLE // MINUTE} min are between"
        )
    if sessions is not None and sessions < MIN_SESSIONS:
        return f"{count(sessions, 'session')} since the last dream, and {MIN_SESSIONS} are needed"
    if held_since is not None and _within(now, held_since, LOCK_EXPIRES):
        return f"another dream began {age(held_since, now=now)} ago"
    if memories is not None and memories < MIN_MEMORIES:
        return f"{count(memories, 'memory')}, and {MIN_MEMORIES} are needed"
    return None


def sessions_counted_since(now: int, last: int | None) -> int:
    """A time in the future was written under a wrong clock and is ignored."""
    return 0 if last is None or last > now else last


def _within(now: int, then: int, span: int) -> bool:
    """A time far in the future was written under a wrong clock: it must not close a gate for years."""
    return abs(now - then) < span


class DreamLock(AbstractContextManager["DreamLock"]):
    """Released on exit. Only `done` records that the dream was completed."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def is_mine(self) -> bool:
        """False after another process took us for hung and took over."""
        with suppress(OSError):
            return os.path.samestat(
                os.fstat(self._descriptor), self._path.stat(follow_symlinks=False)
            )
        return False

    def done(self, now: int) -> None:
        _set_time(self._descriptor, now)

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire_dream_lock(path: Path, now: int) -> DreamLock | None:
    """None while another process dreams. The folder has to exist. An expired lock is replaced by a new file,
    which is locked before it is in place and keeps the time of the last dream."""
    with locks.lock(path.parent, create=False):
        since = lock_held_since(path)
        if since is not None and _within(now, since, LOCK_EXPIRES):
            return None
        for left in path.parent.glob(f"{path.name}.*.new"):  # of a process that was killed
            left.unlink(missing_ok=True)
        temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.new")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        lock = DreamLock(path, descriptor := os.open(temporary, flags, PRIVATE_FILE))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps({"pid": os.getpid(), "since": now}).encode())
            _set_time(descriptor, last_dream_at(path) or 0)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            lock.release()
            raise
        return lock


def last_dream_at(path: Path) -> int | None:
    """When the last dream was completed."""
    with suppress(OSError):
        return path.stat(follow_symlinks=False).st_mtime_ns // 1_000_000 or None
    return None


def lock_held_since(path: Path) -> int | None:
    """None if no process holds it, and for a file that names no holder, as `touch` makes it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            since = int(json.loads(file.read(1000))["since"])
            return since if locks.is_locked(file.fileno()) else None
    return None


def last_project_dream_at(places: Places) -> int | None:
    return last_dream_at(_project_file(places))


def record_project_dream(places: Places, now: int) -> None:
    """The caller holds the lock."""
    path = _project_file(places)
    private_dir(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, PRIVATE_FILE), "wb") as file:
        _set_time(file.fileno(), now)


def _project_file(places: Places) -> Path:
    return places.root / DREAM_TIMES_FOLDER / places.project.path.name


def _set_time(descriptor: int, now: int) -> None:
    os.utime(descriptor, ns=(now * 1_000_000, now * 1_000_000))
