"""A git history without some of its contents, as if they had never been recorded.

The whole of it is read as a stream (`git fast-export`), every content and every reason is shown to the
asker, and what is left is written as a new history (`git fast-import`), which takes the old one's place in
one step. Then the old objects are removed. Killed anywhere, it is the old history or the new one, and may be
done again.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from recollect.memory.history.git_history import BRANCH, FOLDER, LONG
from recollect.memory.history.git_program import git

Keeping = Callable[
    [str, bytes], bytes | None
]  # a path and its content: what it becomes; None: nothing
ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
SECONDS = 20 * LONG
LEFT_OVER = ("fast_import_crash_*", "objects/**/tmp_*")


def erase(root: Path, keeping: Keeping, lock: int | None = None) -> int:
    """How many contents and reasons were taken out. Only for whoever holds the lock. Raises GitFailed."""
    folder = root / FOLDER
    filtered = _Filtered(keeping)
    stream = _shown(folder, filtered, lock)
    if not stream:
        return 0
    if filtered.count:
        order = ("fast-import", "--quiet", "--force", "--done")
        git(folder, *order, data=stream, lock=lock, seconds=SECONDS)
    _forget_old(folder, lock)
    return filtered.count


def look(root: Path, keeping: Keeping, lock: int | None = None) -> None:
    """Shows everything to the asker, and leaves it as it is."""
    _shown(root / FOLDER, _Filtered(keeping), lock)


def _shown(folder: Path, filtered: "_Filtered", lock: int | None) -> bytes:
    """The new history; empty where there is none."""
    if not folder.is_dir() or not git(folder, "for-each-ref", BRANCH, lock=lock):
        return b""
    said = git(folder, "fast-export", BRANCH, lock=lock, seconds=SECONDS)
    return b"".join(filtered.of(io.BytesIO(said)))


def _forget_old(folder: Path, lock: int | None) -> None:
    """Also what an earlier try, or git itself, has left behind."""
    for pattern in LEFT_OVER:
        for path in folder.glob(pattern):
            with suppress(OSError):
                path.unlink()
    git(folder, "reflog", "expire", "--expire=now", "--all", lock=lock, seconds=SECONDS)
    git(folder, "gc", "--quiet", "--prune=now", lock=lock, seconds=SECONDS)


class _Filtered:
    """`count`: what was taken out so far."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._contents: dict[bytes, bytes] = {}  # by mark
        self.count = 0

    def of(self, lines: io.BytesIO) -> Iterator[bytes]:
        """Commits as they were, each with the contents that may stay."""
        while line := lines.readline():
            if line == b"blob\n":
                mark = lines.readline().split()[1]
                self._contents[mark] = _data(lines, lines.readline())
                lines.readline()
            elif line.startswith(b"data "):
                yield self._message(_data(lines, line))
            elif line.startswith(b"M "):
                yield self._file(*line.split(b" ", 3)[2:])
            elif line.startswith(b"D ") and self._keeping(_path(line[2:]), b"") is None:
                self.count += 1
            else:
                yield line
        yield b"done\n"

    def _message(self, message: bytes) -> bytes:
        """A reason may quote what was remembered. What it ends with is ours."""
        reason, gap, last = message.rpartition(b"\n\n")
        kept = self._keeping("", reason)
        if kept != reason:
            self.count += 1
            message = (kept or b"erased") + gap + last
        return b"data %d\n%s" % (len(message), message)

    def _file(self, mark: bytes, quoted: bytes) -> bytes:
        """One that is erased is as if it had been deleted. If its name is, nothing tells of it at all."""
        path, data = _path(quoted), self._contents[mark]
        kept = self._keeping(path, data)
        if kept != data:
            self.count += 1
        if kept is None:
            return b"" if self._keeping(path, b"") is None else b"D " + quoted
        return b"M 100644 inline %sdata %d\n%s\n" % (quoted, len(kept), kept)


def _data(lines: io.BytesIO, head: bytes) -> bytes:
    return lines.read(int(head.removeprefix(b"data ")))


def _path(quoted: bytes) -> str:
    raw = quoted.rstrip(b"\n")
    if raw.startswith(b'"'):
        raw = ESCAPED.sub(_unescaped, raw[1:-1])
    return os.fsdecode(raw)


def _unescaped(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8)]) if len(said) == 3 else LETTERS.get(said, said)
