"""Files as whole contents: read without following links, written so that no crash leaves a torn one.

What is written is on the disk before it gets its name, and the name is on the disk before we go on: a power
cut leaves the old content or the new one.
"""

import base64
import os
import stat
from contextlib import suppress
from pathlib import Path

from recollect.memory.storage.format import LARGEST
from recollect.paths import PRIVATE_DIR, PRIVATE_FILE

TEMPORARY = ".writing"  # nobody else ends a name so: what is left over can be told


class Strange(Exception):
    """A link, a folder, a pipe or something far too large stands where a memory would. The message names
    the fix."""


def read(path: Path) -> bytes | None:
    """None where nothing is. Raises Strange, and OSError."""
    return look(path)[0]


def look(path: Path) -> tuple[bytes | None, os.stat_result | None]:
    """The content, and what the system says of it."""
    try:
        # Neither a link nor a pipe may be followed or waited for.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except OSError:
        if path.is_symlink():
            raise Strange("it is a link, and links are not followed: put the file there") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Strange("it is not a file: put a Markdown file there, or nothing")
        if found.st_size > LARGEST:
            raise Strange(f"it is larger than {LARGEST // 1024} KB: split it")
        return file.read(LARGEST + 1), found


def write(path: Path, data: bytes, *, private: bool = True) -> None:
    """Durably: after this a power cut does not take it back. Whatever was there is gone: see `placing` for
    what people edit."""
    temporary = prepared(path, data, private=private)
    try:
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def prepared(path: Path, data: bytes, *, private: bool = True) -> Path:
    """On the disk beside that path, under a hidden name. `private`: for its owner alone; else as the user's
    other files, such as those of a repository."""
    make_folder(path.parent, private=private)
    temporary = path.with_name(f".{path.name[:40]}.{os.urandom(6).hex()}{TEMPORARY}")
    mode = PRIVATE_FILE if private else 0o666
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return temporary


def remove(path: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
        sync_folder(path.parent)


def make_folder(path: Path, *, private: bool = True) -> None:
    """With its parents; those that exist keep their rights."""
    if path.is_dir():
        return
    make_folder(path.parent, private=private)
    with suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_DIR if private else 0o777)
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """The names in it are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """What a killed writer left. Only for whoever holds the lock."""
    with suppress(OSError):
        for path in folder.glob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


def packed(data: bytes | None) -> str | list[str] | None:
    """For JSON: text as itself, so that people can read it, everything else in base64."""
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return [base64.b64encode(data).decode()]


def unpacked(value: object) -> bytes | None:
    """Raises ValueError."""
    match value:
        case None:
            return None
        case str():
            return value.encode("utf-8")
        case [str(encoded)]:
            return base64.b64decode(encoded, validate=True)
    raise ValueError("not a content")
