"""Files of memories that go for good, or lose a part: told, retired, or left over by a crash."""

import os
from collections.abc import Iterator
from pathlib import Path

from recollect.memory.history.git_erasing import Keeping
from recollect.memory.storage import files
from recollect.memory.storage.journal import rebuild_index
from recollect.memory.storage.locks import NAME, TURN

HISTORIES = (".git", ".git.new", ".history")


def erase(root: Path, keeping: Keeping) -> list[str]:
    """Which files changed, below the root. Only for whoever holds the lock."""
    changed = []
    for path in list(every_file(root)):
        data = path.read_bytes()
        name = path.relative_to(root).as_posix()
        kept = keeping(name, data)
        if kept == data:
            continue
        if kept is None:
            files.remove(path)
        else:
            files.write(path, kept)
        changed.append(name)
    for folder in sorted({(root / name).parent for name in changed}):
        rebuild_index(root, folder)
        _tidy(root, folder)
    return changed


def every_file(root: Path) -> Iterator[Path]:
    """But for the histories and the locks. Links are not followed, and are nobody's content."""
    for folder, folders, names in os.walk(root):
        if Path(folder) == root:
            folders[:] = [each for each in folders if each not in HISTORIES]
        for name in names:
            path = Path(folder, name)
            if name not in (NAME, TURN) and path.is_file() and not path.is_symlink():
                yield path


def _tidy(root: Path, folder: Path) -> None:
    """A folder's name tells of what was in it."""
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
