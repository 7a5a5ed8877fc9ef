"""The curated memories as one file: their folder with its history, so that `undo` works after a restore.

Packed while nobody changes a memory; locks are left out. Unpacked by hand, file by file: an archive that was
tampered with can write nowhere but into the folder, and makes nothing but files and folders.
"""

import gzip
import os
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from aforesaid.errors import BackupError
from aforesaid.memory.files import LOCK_FILE, TURN_FILE, read_lock, write_lock
from aforesaid.paths import PRIVATE_FILE, private_dir

LOCKS = (LOCK_FILE, TURN_FILE)
FAST = 1  # zlib level


def pack(root: Path, target: Path) -> int:
    """How many files."""
    count = 0
    locks = [root / name for name in LOCKS]
    with read_lock(root), tarfile.open(target, "w:gz", compresslevel=FAST) as archive:
        for path in sorted(root.rglob("*")):
            if path not in locks and not path.is_symlink() and (path.is_file() or path.is_dir()):
                archive.add(path, path.relative_to(root).as_posix(), recursive=False)
                count += path.is_file()
    target.chmod(PRIVATE_FILE)
    return count


def check(path: Path) -> int:
    """How many files it holds. Reads all of it: gzip keeps a checksum."""
    try:
        with gzip.open(path) as file, tarfile.open(fileobj=file, mode="r:") as archive:
            members = archive.getmembers()
            while file.read(1 << 20):
                pass
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise BackupError(f"{path} is damaged ({error}).") from error
    for member in members:
        _safe(member.name)
    return sum(member.isfile() for member in members)


def unpack(path: Path, target: Path) -> None:
    private_dir(target)
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            place = target / _safe(member.name)
            if member.isdir():
                private_dir(place)
            elif (content := archive.extractfile(member)) is not None:
                private_dir(place.parent)
                with content, place.open("xb") as file:
                    shutil.copyfileobj(content, file)
                place.chmod(PRIVATE_FILE | (member.mode & 0o100))


def replace(root: Path, source: Path, old: Path) -> None:
    """The folder's content goes to `old`, that of `source` comes in. The folder and its lock stay."""
    private_dir(old)
    with write_lock(root):
        for path in [*root.iterdir()]:
            if path.name not in LOCKS:
                path.rename(old / path.name)
        for path in [*source.iterdir()]:
            path.rename(root / path.name)


def put_back(root: Path, old: Path) -> bool:
    """After a killed `replace`. Whether something stays in `old`, as its place is taken."""
    with write_lock(root):
        for path in [*old.iterdir()]:
            if not os.path.lexists(root / path.name):
                path.rename(root / path.name)
    return any(old.iterdir())


def _safe(name: str) -> PurePosixPath:
    found = PurePosixPath(name)
    if found.is_absolute() or ".." in found.parts or not found.parts:
        raise BackupError(f"The archive of memories has a name that leads out of it: {name!r}.")
    return found
