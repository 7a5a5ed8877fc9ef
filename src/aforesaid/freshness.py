"""Whether files have changed since they were seen, by their git blob id. Needs no model and no git.

Only regular files inside the project's directory are looked at, whatever links lead out of it. What was not
seen then, or cannot be seen now, is unknown: nobody is told that something is unchanged on a guess.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Protocol

UNCHANGED, CHANGED, GONE, UNKNOWN = "unchanged", "changed", "gone", "unknown"
WORST_FIRST = (GONE, CHANGED, UNKNOWN, UNCHANGED)
LARGEST = 8 * 1024 * 1024
PART = 1 << 16
REMEMBERED = 4096  # contents whose name is known
# A file may change twice within one tick of its time: only what has been quiet for a while is remembered.
QUIET_NS = 2_000_000_000
NAMED = 5  # files, in the words for people

Signature = tuple[int, int, int, int]  # size, times of its content and of its inode, inode


class Draft(Protocol):
    @property
    def files_read(self) -> tuple[str, ...]: ...
    @property
    def files_modified(self) -> tuple[str, ...]: ...
    @property
    def blobs(self) -> tuple[tuple[str, str], ...]: ...


class HasFiles(Protocol):
    """An observation, as far as it matters here."""

    @property
    def draft(self) -> Draft: ...


@dataclass(frozen=True, slots=True)
class Freshness:
    """`state`: the worst of the files, where not knowing is worse than knowing that nothing changed."""

    state: str
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __str__(self) -> str:
        """For people: `unchanged`, `changed since: a.py; gone: b.py`; nothing when nothing is known."""
        if self.state == UNCHANGED:
            return UNCHANGED
        told = (("changed since", self.changed), ("gone", self.gone))
        return "; ".join(f"{what}: {_listed(paths)}" for what, paths in told if paths)


def check_files(observation: HasFiles, root: str) -> Freshness:
    """The state of the project's files that an observation names."""
    draft = observation.draft
    blobs = dict(draft.blobs)
    paths = dict.fromkeys((*draft.files_modified, *draft.files_read))
    states = {path: state(root, path, blobs.get(path)) for path in paths if _within(root, path)}
    return Freshness(
        state=min(states.values(), key=WORST_FIRST.index, default=UNKNOWN),
        changed=tuple(path for path, found in states.items() if found == CHANGED),
        gone=tuple(path for path, found in states.items() if found == GONE),
    )


def state(root: str, path: str, blob: str | None) -> str:
    """The state of one file that had this blob id then."""
    if blob is None or not Path(root).is_dir():
        return UNKNOWN
    try:
        place = _inside(root, path)
        if place is None:
            return UNKNOWN
        found = place.lstat()
        if not _readable(found):
            return CHANGED
        return UNCHANGED if _named(place, found) == blob else CHANGED
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (OSError, ValueError, RuntimeError):
        return UNKNOWN


def unchanged_blob(root: str, path: str, *, until: int) -> str | None:
    """The blob id of a file that has not changed since before `until`; None if that is not known."""
    try:
        place = _inside(root, path)
        if place is None:
            return None
        found = place.lstat()
        # The inode's time too: a file that was moved to this place keeps the time of its content.
        if max(found.st_mtime_ns, found.st_ctime_ns) > until * 1_000_000 or not _readable(found):
            return None
        return _named(place, found)
    except (OSError, ValueError, RuntimeError):
        return None


def directory(project_dir: str, root: str) -> str:
    """Where to look for a session's files: its directory, or the project's if a worktree is gone."""
    return project_dir if Path(project_dir).is_dir() else root


def _readable(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST


def _named(path: Path, found: os.stat_result) -> str:
    signature = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < QUIET_NS:
        return _digest(path, signature)
    return _known(path, signature)


@lru_cache(maxsize=REMEMBERED)
def _known(path: Path, signature: Signature) -> str:
    return _digest(path, signature)


def _digest(path: Path, signature: Signature) -> str:
    """Streamed. A file that is not what it was a moment ago is an OSError."""
    # Neither a link nor a pipe that took the file's place meanwhile may be opened or waited for.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
        size = signature[0]
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        read = 0
        while part := file.read(min(PART, size + 1 - read)):
            digest.update(part)
            read += len(part)
        after = os.fstat(file.fileno())
    if (after.st_size, after.st_mtime_ns, after.st_ctime_ns, after.st_ino) != signature:
        raise OSError(f"{path} was changed while it was read")
    return digest.hexdigest()


def _inside(root: str, path: str) -> Path | None:
    """Where the file really is, if that is inside the root."""
    top = Path(root).resolve()
    place = (top / _relative(root, path)).resolve()
    return place if place.is_relative_to(top) else None


def _within(root: str, path: str) -> bool:
    """By its name alone."""
    name = _relative(root, path)
    return not (name.is_absolute() or ".." in name.parts)


def _relative(root: str, path: str) -> PurePosixPath:
    name = PurePosixPath(path)
    return name.relative_to(root) if name.is_relative_to(root) else name


def _listed(paths: Iterable[str]) -> str:
    names = list(paths)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
