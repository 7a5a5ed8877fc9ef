"""A disk that loses its power: which bytes of a database are left, if it happened after a given call.

The worst that the rules allow: of what was written and not synced nothing is left, or any part of it; what
was removed or renamed is gone at once; a new file is there only once its folder was synced. A sync keeps what
was written before it began.
"""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.system_calls import Call

SUFFIXES = ("", "-wal", "-journal")


@dataclass(slots=True)
class _File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, Call]] = field(default_factory=list)
    made_at: int = 0
    is_listed: bool = False  # its name would be found again


@dataclass(slots=True)
class Disk:
    """Told every call in order. It holds the files of one database."""

    database: Path
    files: dict[str, _File] = field(default_factory=dict)
    gone: set[str] = field(
        default_factory=set
    )  # names in other folders that were removed or renamed
    _calls: int = 0

    def happens(self, call: Call) -> None:
        number, self._calls = self._calls, self._calls + 1
        match call.name:
            case "openat" if self._is_ours(call.path):
                self.files.setdefault(call.path, _File(made_at=number))
            case "pwrite64" | "write" | "ftruncate" if self._is_ours(call.path):
                self.files.setdefault(call.path, _File(made_at=number))
                self.files[call.path].pending.append((number, call))
            case "fsync" | "fdatasync":
                self._sync(call)
            case "unlink" | "unlinkat" | "rename":
                self.files.pop(call.path, None)
                self.gone.add(call.path)

    def left(self, folder: Path, chance: random.Random | None = None) -> Path:
        """The database as it is found afterwards. With `chance`, some of what was not synced is left."""
        for suffix in SUFFIXES:
            found = self.files.get(f"{self.database}{suffix}")
            target = Path(f"{folder / self.database.name}{suffix}")
            target.unlink(missing_ok=True)
            if found is not None and found.is_listed:
                content = bytearray(found.durable)
                for _, call in found.pending if chance else ():
                    if chance and chance.random() < 0.5:
                        _apply(content, call)
                target.write_bytes(content)
        Path(f"{folder / self.database.name}-shm").unlink(missing_ok=True)
        return folder / self.database.name

    def _is_ours(self, path: str) -> bool:
        return any(path == f"{self.database}{suffix}" for suffix in SUFFIXES)

    def _sync(self, call: Call) -> None:
        if call.path == os.fspath(self.database.parent):
            for each in self.files.values():
                each.is_listed |= each.made_at < call.begun
        elif (file := self.files.get(call.path)) is not None:
            for _, write in [one for one in file.pending if one[0] < call.begun]:
                _apply(file.durable, write)
            file.pending = [one for one in file.pending if one[0] >= call.begun]


def _apply(content: bytearray, call: Call) -> None:
    if call.name == "ftruncate":
        del content[call.offset :]
        content.extend(bytes(call.offset - len(content)))
        return
    offset = len(content) if call.offset < 0 else call.offset
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(call.data)] = call.data
