"""Reads and replaces an agent's settings file.

A write is atomic, keeps mode and owner, and goes to the target of a symbolic link, because
dotfiles managers link settings. It refuses a file that is marked read-only, and one that somebody
else wrote to after we read it.
"""

import contextlib
import difflib
import io
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect import ids
from recollect.errors import InstallError


@dataclass(frozen=True)
class Change:
    """What was, or would be, done to `path`; None stands for a file that is not there."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """A unified diff, empty when nothing changes."""
        old, new = _lines(self.before), _lines(self.after)
        old_name = "/dev/null" if self.before is None else str(self.path)
        new_name = "/dev/null" if self.after is None else str(self.path)
        lines = difflib.unified_diff(old, new, old_name, new_name)
        return "".join(
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            for line in lines
        )


def target_of(path: Path) -> Path:
    """The file itself, behind any symbolic links; it need not exist."""
    try:
        return path.resolve()
    except RuntimeError as error:  # how Python 3.11 and 3.12 report a loop of links
        raise OSError(f"{path}: {error}") from None


def read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def missing_parents(path: Path) -> list[Path]:
    """Directories that a write to `path` has to make, the outermost one first."""
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def apply(change: Change) -> None:
    """Bring the file to `change.after`, making missing directories."""
    target = target_of(change.path)
    if change.before is not None:
        target.open("r+b").close()  # refuses a read-only file, which os.replace would not
    if change.after is None:
        _refuse_if_changed(target, change.before)
        target.unlink(missing_ok=True)
        return
    made = missing_parents(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, change.before, change.after)
    except BaseException:
        remove_empty(made)
        raise


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove these directories, innermost first, as far as they are empty."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def write_owner_only(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_beside(path, data, mode=0o600).replace(path)


def _replace(target: Path, before: bytes | None, after: bytes) -> None:
    temporary = _write_beside(target, after)
    try:
        if before is not None:
            _copy_mode_and_owner(target, temporary)
        _refuse_if_changed(target, before)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _refuse_if_changed(target: Path, before: bytes | None) -> None:
    if read(target) != before:
        raise InstallError(f"Another program changed {target} just now. Try again.")


def _write_beside(path: Path, data: bytes, mode: int = 0o666) -> Path:
    temporary = path.with_name(f".{path.name}.{ids.lease_name()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _copy_mode_and_owner(source: Path, copy: Path) -> None:
    old = source.stat()
    if (old.st_uid, old.st_gid) != (copy.stat().st_uid, copy.stat().st_gid):
        with contextlib.suppress(PermissionError):  # only root may give a file away
            os.chown(copy, old.st_uid, old.st_gid)
    copy.chmod(stat.S_IMODE(old.st_mode))


def _lines(data: bytes | None) -> list[str]:
    # Not splitlines(): it also splits at characters that JSON allows inside a string.
    return io.StringIO((data or b"").decode("utf-8", "replace"), newline="\n").readlines()
