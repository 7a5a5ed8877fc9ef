"""How many sessions there were, for agents that no worker watches: a line with its time for each.

A dream waits for some sessions. Those of an agent loop of one's own leave a line in `.sessions`; those that
were captured leave the memory of the session. Nothing depends on either but when the next dream comes.
"""

import os
from contextlib import suppress
from pathlib import Path

from recollect.memory.storage.files import make_folder
from recollect.paths import PRIVATE_FILE

NAME, CAPTURED = ".sessions", "sessions"
MOST_BYTES = 64 * 1024  # some thousand sessions: then old ones may go


def note(root: Path, now: int) -> None:
    """One more. A line is appended whole, whoever does the same just then."""
    with suppress(OSError):
        make_folder(root)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(root / NAME, flags, PRIVATE_FILE)
        try:
            if os.fstat(descriptor).st_size > MOST_BYTES:
                os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{now}\n".encode())
        finally:
            os.close(descriptor)


def since(root: Path, at: int) -> int:
    """Sessions after that time."""
    noted = [int(line) for line in _lines(root / NAME) if line.isdecimal()]
    captured = [path.stat().st_mtime_ns // 1_000_000 for path in _files(root / CAPTURED)]
    return sum(1 for each in (*noted, *captured) if each > at)


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text("ascii", "replace").split("\n")
    return []


def _files(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.is_file()]
    return []
