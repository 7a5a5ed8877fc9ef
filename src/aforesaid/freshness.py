"""Whether files have changed since they were seen, by their git blob id. Needs no model and no git.

Only regular files inside the project's directory are looked at, whatever links lead out of it. What was not
seen then, or cannot be seen now, is unknown: nothing is reported as unchanged on a guess.
"""

import hashlib
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from aforesaid.model.observations import Observation
from aforesaid.paths import open_regular

UNCHANGED, CHANGED, GONE, UNKNOWN = "unchanged", "changed", "gone", "unknown"
WORST_FIRST = (GONE, CHANGED, UNKNOWN, UNCHANGED)
LARGEST = 8 * 1024 * 1024
PART = 1 << 16
REMEMBERED = 4096  # contents whose name is known
# A file may change twice within one tick of its time: only what has been quiet for a while is remembered.
QUIET_NS = 2_000_000_000
NAMED = 5  # files, in the words for people

Signature = tuple[int, int, int, int]  # size, times of its content and of its inode, inode


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
        parts = (("changed since", self.changed), ("gone", self.gone))
        return "; ".join(f"{what}: {_listed(paths)}" for what, paths in parts if paths)


def check_files(observation: Observation, root: str) -> Freshness:
    draft = observation.draft
    blobs = dict(draft.blobs)
    paths = dict.fromkeys((*draft.files_modified, *draft.files_read))
    return check_blobs(root, {path: blobs.get(path) for path in paths if _within(root, path)})


def check_blobs(root: str, blobs: Mapping[str, str | None]) -> Freshness:
    """`blobs`: what was seen then, by path; None if that is not known."""
    states = {path: state(root, path, blob) for path, blob in blobs.items()}
    return Freshness(
        state=min(states.values(), key=WORST_FIRST.index, default=UNKNOWN),
        changed=tuple(path for path, found in states.items() if found == CHANGED),
        gone=tuple(path for path, found in states.items() if found == GONE),
    )


def state(root: str, path: str, blob: str | None) -> str:
    if blob is None or not Path(root).is_dir():
        return UNKNOWN
    try:
        if (place := _inside(root, path)) is None:
            return UNKNOWN
        return UNCHANGED if _blob(place, place.lstat()) == blob else CHANGED
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except (OSError, ValueError, RuntimeError):
        return UNKNOWN


def unchanged_blob(root: str, path: str, *, until: int) -> str | None:
    """The blob id of a file that has not changed since before `until`; None if that is not known."""
    try:
        place = _inside(root, path)
        found = place.lstat() if place else None
        # The inode's time too: a file that was moved to this place keeps the time of its content.
        if place and found and max(found.st_mtime_ns, found.st_ctime_ns) <= until * 1_000_000:
            return _blob(place, found)
    except (OSError, ValueError, RuntimeError):
        pass
    return None


def directory(project_dir: str, root: str) -> str:
    """Where to look for a session's files: its directory, or the project's if a worktree is gone."""
    return project_dir if Path(project_dir).is_dir() else root


def _blob(path: Path, found: os.stat_result) -> str | None:
    """None for anything but a regular file of bounded size."""
    if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
        return None
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < QUIET_NS:
        return _digest.__wrapped__(path, _signature(found))
    return _digest(path, _signature(found))


def _signature(found: os.stat_result) -> Signature:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


@lru_cache(maxsize=REMEMBERED)
def _digest(path: Path, signature: Signature) -> str:
    """Streamed. A file that is not what it was a moment ago is an OSError."""
    with open_regular(path) as file:
        size = signature[0]
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        read = 0
        while part := file.read(min(PART, size + 1 - read)):
            digest.update(part)
            read += len(part)
        if _signature(os.fstat(file.fileno())) != signature:
            raise OSError(f"{path} was changed while it was read")
    return digest.hexdigest()


def _inside(root: str, path: str) -> Path | None:
    """Where the file really is, if that is inside the root."""
    top = Path(root).resolve()
    place = (top / _relative(root, path)).resolve()
    return place if place.is_relative_to(top) else None


def _within(root: str, path: str) -> bool:
    name = _relative(root, path)
    return not (name.is_absolute() or ".." in name.parts)


def _relative(root: str, path: str) -> PurePosixPath:
    name = PurePosixPath(path)
    return name.relative_to(root) if name.is_relative_to(root) else name


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
