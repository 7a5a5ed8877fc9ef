"""Reading, writing, replacing and locking of memory files.

Files are read without following links, and written so that a crash or a power cut leaves the old content or
the new one: the content is synced before it gets its name, and the name before the call returns.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aforesaid import locks
from aforesaid.errors import MemoryRefused
from aforesaid.ids import digest
from aforesaid.memory.format import MAX_FILE_BYTES
from aforesaid.paths import PRIVATE_DIR, PRIVATE_FILE, open_regular, private_dir, sync

TEMPORARY = ".writing"


class UnreadableFile(OSError):
    """The message names the fix."""


def read_file(path: Path) -> bytes | None:
    """None if there is no such file. Raises UnreadableFile, also for a link."""
    try:
        with open_regular(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = f"it cannot be read ({error.strerror}): check its permissions"
        if path.is_symlink():
            why = "it is a link, and links are not followed: put the file there"
        elif os.path.lexists(path) and not path.is_file():
            why = "it is not a file: put a Markdown file there, or nothing"
        raise UnreadableFile(why) from None
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableFile(f"it is larger than {MAX_FILE_BYTES // 1024} KB: split it")
    return data


def read_or_none(path: Path) -> bytes | None:
    """None also for what cannot be read."""
    with suppress(OSError):
        return read_file(path)
    return None


def write_file(path: Path, data: bytes, *, private: bool = True) -> None:
    """Durable and atomic. Overwrites: see `swap_files` for files that people edit."""
    temporary = write_temporary(path, data, private=private)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_temporary(path: Path, data: bytes, *, private: bool = True) -> Path:
    """Writes and syncs a hidden file beside that path. `private`: readable by its owner alone."""
    make_directory(path.parent, private=private)
    temporary = path.with_name(f".{path.name[:40]}.{os.urandom(6).hex()}{TEMPORARY}")
    mode = PRIVATE_FILE if private else 0o666
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def remove_file(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
        sync(path.parent)


def make_directory(path: Path, *, private: bool = True) -> None:
    """With its parents; existing ones keep their mode."""
    if path.is_dir():
        return
    make_directory(path.parent, private=private)
    with suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_DIR if private else 0o777)
        sync(path.parent)


def remove_temporaries(folder: Path) -> None:
    """Left by a killed writer. Only under the write lock."""
    with suppress(OSError):
        for path in folder.glob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


LOCK_FILE, TURN_FILE = ".lock", ".turn"
WRITER_SECONDS = 60.0  # longer than all changes that can be waiting
READER_SECONDS = 1.0  # then it reads without a lock: a prompt does not wait for a stuck writer

_held = threading.local()


def holds_write_lock(root: Path) -> bool:
    """Whether this thread holds it."""
    return root in getattr(_held, "roots", ())


@contextmanager
def write_lock(root: Path, seconds: float = WRITER_SECONDS) -> Iterator[None]:
    """Raises MemoryRefused after that time. Not reentrant."""
    if holds_write_lock(root):
        raise MemoryRefused("A change of memories is already open. Put everything into that one.")
    private_dir(root)
    descriptor = _acquire(root, seconds, shared=False)
    if descriptor is None:
        raise MemoryRefused(
            f"Another process has been changing memories for {seconds:.0f} seconds. Try again; if it stays "
            "so, restart the worker with `aforesaid worker restart`."
        )
    _held.roots = {*getattr(_held, "roots", ()), root}
    try:
        yield
    finally:
        _held.roots -= {root}
        os.close(descriptor)


@contextmanager
def read_lock(root: Path) -> Iterator[None]:
    """Keeps writers out, if the lock is free in time. Creates no file."""
    descriptor = None if holds_write_lock(root) else _acquire(root, READER_SECONDS, shared=True)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquire(root: Path, seconds: float, *, shared: bool) -> int | None:
    """Everybody queues for the turn first, so that readers cannot starve a writer."""
    end = time.monotonic() + seconds
    turn = locks.acquire(root / TURN_FILE, timeout=seconds, create=not shared)
    if turn is None:
        return None
    try:
        left = max(0.0, end - time.monotonic())
        return locks.acquire(root / LOCK_FILE, timeout=left, shared=shared, create=not shared)
    finally:
        os.close(turn)


OLD_SUFFIX = ".old"  # the old content, set aside
EDITED_SUFFIX = ".edited-"  # one of two versions that somebody saved at the same time


class FileChange(NamedTuple):
    """None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None


def swap_files(changes: Sequence[FileChange], number: int, root: Path) -> list[Path]:
    """Changes files under the write lock. Returns those that were left alone, because somebody is editing
    them; if that is seen before the first one is changed, all are. `number` identifies the change: it may be
    made again after an interruption or an OSError.

    The old file is set aside and the new one linked to the free name; an edit that comes in between takes the
    name first, and one to the old file is found aside."""
    asides: dict[Path, Path] = {}
    temporaries: dict[Path, Path] = {}
    try:
        for path, before, after in changes:
            hidden = f".{path.name[:40]}.{digest(f'{number} {path.name}')}{OLD_SUFFIX}"
            asides[path] = path.with_name(hidden)
            _return_aside(asides[path], path, before)  # after a crash
            if after is not None and _read(path) != [after]:
                private = path.is_relative_to(root)
                temporaries[path] = write_temporary(path, after, private=private)
        edited = [path for path, before, after in changes if _read(path) not in ([before], [after])]
        if edited and not any(_read(path) == [after] for path, _, after in changes):
            return [*edited, *(path for path in asides if path not in edited)]
        # New files first: a file that moves is never missing.
        for each in sorted(changes, key=lambda each: each.after is None):
            swapped = _swap(each, temporaries.get(each.path), asides[each.path])
            if not swapped and each.path not in edited:
                edited.append(each.path)
        _sync_directories(asides)
        for path, before, _ in changes:
            _return_aside(asides[path], path, before, edited_only=path not in edited)
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)
    _sync_directories(asides)
    return edited


def _swap(change: FileChange, new: Path | None, aside: Path) -> bool:
    """False if the file is being edited."""
    path, before, after = change
    if (content := _read(path)) != [before]:
        return content == [after]
    if before is not None:
        try:
            path.rename(aside)
        except FileNotFoundError:  # just deleted
            return False
        if _read(aside) != [before]:
            return False
    return new is None or _link_if_free(new, path)


def _return_aside(
    aside: Path, path: Path, before: bytes | None, *, edited_only: bool = False
) -> None:
    """Gives a file that was set aside its name again, if that is free. If not, it is removed; with an edit it
    stays beside the other one, under a visible name: both were saved at the same time."""
    if not os.path.lexists(aside):
        return
    content = _read(aside)
    edited = content != [before]
    if (edited or not edited_only) and _link_if_free(aside, path):
        return
    if edited and content != _read(path):
        aside.rename(path.with_name(f"{path.name[:50]}{EDITED_SUFFIX}{os.urandom(3).hex()}"))
    else:
        aside.unlink()


def _sync_directories(paths: Iterable[Path]) -> None:
    for folder in sorted({path.parent for path in paths}):
        with suppress(FileNotFoundError, NotADirectoryError):
            sync(folder)


def _read(path: Path) -> list[bytes | None]:
    """The content in a list; an empty list for what is not a regular file."""
    try:
        return [read_file(path)]
    except OSError:
        return []


def _link_if_free(file: Path, path: Path) -> bool:
    """Renames a file, but never over another one: False if the name is taken."""
    try:
        os.link(file, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):  # no hard links here, or not a regular file
        if os.path.lexists(path):
            return False
        file.rename(path)
    else:
        file.unlink(missing_ok=True)
    return True
