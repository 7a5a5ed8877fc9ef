"""Files that are going to change together: what they were, and what they will be."""

from pathlib import Path

from recollect.clock import Clock
from recollect.errors import Edited, MemoryRefused
from recollect.memory.storage import files
from recollect.memory.storage.folders import Folder
from recollect.memory.storage.format import checksum, parse
from recollect.memory.storage.journal import FileChange
from recollect.memory.storage.names import slug, unsafe
from recollect.model.memories import Broken, StoredMemory


class Staged:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before: dict[Path, bytes | None] = {}
        self._after: dict[Path, bytes | None] = {}
        self._together: dict[Path, str] = {}

    def changes(self) -> tuple[FileChange, ...]:
        """What differs from before."""
        return tuple(
            FileChange(path, self._before[path], after, self._together[path])
            for path, after in self._after.items()
            if after != self._before[path]
        )

    def has_staged(self, path: Path) -> bool:
        return path in self._after

    def content(self, path: Path) -> bytes | None:
        """Of a file, within this change. Raises Edited for what is no plain file."""
        if path in self._after:
            return self._after[path]
        # Read once: what was looked at and what is replaced must be the same, whoever edits in between.
        if path not in self._before:
            try:
                self._before[path] = files.read(path)
            except files.Strange as error:
                raise Edited(f"{path} was left alone: {error}.") from None
        return self._before[path]

    def _stage(self, path: Path, data: bytes | None, together: str) -> None:
        self.content(path)
        self._after[path] = data
        self._together.setdefault(path, together)

    def _find(
        self, name: str, places: tuple[Folder, ...]
    ) -> tuple[Folder, StoredMemory | None] | None:
        """Where the file is; without a memory if it is broken."""
        if why := unsafe(name):
            raise MemoryRefused(
                f"{name!r} is no name for a memory: {why}. Use one such as {slug(name)!r}."
            )
        for folder in places:
            path = folder.file(name)
            data = self.content(path)
            if data is None:
                continue
            match parse(data, path):
                case Broken():
                    return folder, None
                case memory:
                    stored = StoredMemory(memory, folder.scope, path, checksum(data), self._clock())
                    return folder, stored
        return None
