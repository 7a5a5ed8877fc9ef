"""The files below `/memories`, within one change: read, written, taken away and moved.

A file that is a memory stays one, whatever a model writes into it. A memory that is deleted is retired, so
that it can be restored; plain files are in the history alone. What the user has pinned stays.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from recollect.memory.storage.changes import Change
from recollect.memory.storage.folders import Places
from recollect.memory.storage.format import render
from recollect.memory.tool.tool_paths import ROOT, USERS, Refused, Target, guard, resolve
from recollect.memory.tool.tool_texts import checked, decoded, memory_of
from recollect.model.memories import OF_PROJECT, OF_USER, PROJECT, USER, StoredMemory

MOST_FILES, MOST_BYTES = 500, 8 * 1024 * 1024  # plain files of a project
FULL = f"There is room for {MOST_FILES} files and {MOST_BYTES // 1024 // 1024} MB"


class Shelf:
    def __init__(self, change: Change, places: Places) -> None:
        self._change, self._places = change, places

    def at(self, path: object, *, new: bool = False) -> Target:
        target = resolve(path, self._places, new=new)
        guard(target)
        return target

    def exists(self, target: Target) -> bool:
        return target.path.is_dir() or self._change.content(target.path) is not None

    def text(self, target: Target) -> str:
        if target.is_index:
            raise Refused(
                f"Error: {target.told} is made anew at every change. Edit the memories themselves."
            )
        if target.path.is_dir():
            raise Refused(f"Error: The path {target.told} is a directory. Name a file in it.")
        data = self._change.content(target.path)
        if data is None:
            raise Refused(
                f"Error: The path {target.told} does not exist. Please provide a valid path."
            )
        return decoded(data, target.told)

    def write(self, target: Target, text: str) -> tuple[str, str]:
        """The text as it is kept, and where: the type of a memory decides whose it is."""
        text = self._change.redactor.text(checked(text, "text"))
        if target.is_index or not target.names:
            raise Refused(
                f"Error: {target.told} is made anew at every change. Write a memory beside it."
            )
        if target.memory is None:
            self._room_for(target, len(text.encode()))
            self._change.put(target.path, text.encode(), together=target.told)
            return text, target.told
        old = self._change.get(target.memory, _scope(target))
        memory = memory_of(text, target.memory, target, old.memory if old else None)
        if old is None and self._change.content(target.path) is not None:
            kept = render(memory)  # it could not be read before: this mends it
            self._change.put(target.path, kept.encode(), together=memory.name)
            return kept, target.told
        stored = self._change.write(memory, expected=old.checksum if old else None)
        return render(stored.memory), told(stored)

    def remove(self, target: Target, why: str) -> None:
        if target.is_index or not target.names:
            raise Refused(f"Error: {target.told} itself cannot be deleted. Delete what is in it.")
        if target.memory is None:
            for path in self._files(target):
                self._change.put(path, None, together=target.told)
        elif self._unpinned(target) is None:
            self.text(target)  # it has to be there
            self._change.put(target.path, None, together=target.memory)
        else:
            self._change.retire(target.memory, why)

    def move(self, old: Target, new: Target) -> None:
        """A memory may get another name, go from project to user, or become a plain file; and back."""
        if old.is_index or not old.names:
            raise Refused(f"Error: {old.told} itself cannot be renamed. Rename what is in it.")
        if old.memory is None and new.memory is None:
            for path in self._files(old):
                there = new.path / path.relative_to(old.path)
                self._change.put(there, self._change.content(path), together=old.told)
                self._change.put(path, None, together=old.told)
            return
        text = self.text(old)
        stored = self._change.get(old.memory, _scope(old)) if old.memory else None
        if stored and new.memory:
            kind = stored.memory.type
            if (kind == USER) != new.of_user:
                kind = USER if new.of_user else PROJECT
            self._change.erase(stored.memory.name, scope=stored.scope)
            self._change.write(replace(stored.memory, name=new.memory, type=kind))
            return
        if stored:
            self._unpinned(old)
        self._change.put(old.path, None, together=old.told)
        self.write(new, text)

    def _unpinned(self, target: Target) -> StoredMemory | None:
        """The memory; None for a file that cannot be read as one."""
        assert target.memory is not None
        stored = self._change.get(target.memory, _scope(target))
        if stored and stored.memory.pinned:
            raise Refused(
                f"Error: The user has pinned {target.told}, so it stays. Ask the user, who can run "
                f"`recollect memory unpin {target.memory}`."
            )
        return stored

    def _files(self, target: Target) -> list[Path]:
        """The plain file, or all in the folder."""
        found = list(_below(target.path)) if target.path.is_dir() else [target.path]
        if not target.path.is_dir():
            self.text(target)
        return found

    def _room_for(self, target: Target, size: int) -> None:
        others = [path for path in _below(self._places.files) if path != target.path]
        with suppress(FileNotFoundError):
            size += sum(os.lstat(path).st_size for path in others)
        if len(others) >= MOST_FILES or size > MOST_BYTES:
            raise Refused(f"Error: {FULL}. Delete what is no longer needed.")


def told(stored: StoredMemory) -> str:
    """The path of a memory, as the tool writes it."""
    return "/".join((ROOT, *([USERS] if stored.scope == OF_USER else []), stored.path.name))


def tidy(folder: Path) -> None:
    """Folders that became empty go."""
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(path).rmdir()


def _scope(target: Target) -> str:
    return OF_USER if target.of_user else OF_PROJECT


def _below(folder: Path) -> Iterator[Path]:
    for path, _, names in os.walk(folder, followlinks=False):
        for name in sorted(names):
            file = Path(path, name)
            if not name.startswith(".") and not file.is_symlink():
                yield file
