"""One change, while it is being put together: nothing is written before it ends."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from recollect.clock import Clock
from recollect.errors import Edited, MemoryRefused, NotFound
from recollect.memory.storage import discretion, retiring
from recollect.memory.storage.drafting import rendered, same, stamped
from recollect.memory.storage.folders import Folder, Places, is_memory_file, is_plain_file
from recollect.memory.storage.format import checksum, parse, render
from recollect.memory.storage.journal import Finished
from recollect.memory.storage.names import same_name, slug
from recollect.memory.storage.staged import Staged
from recollect.model.memories import (
    OF_PROJECT,
    OF_TEAM,
    OF_USER,
    TYPES,
    USER,
    Memory,
    StoredMemory,
)
from recollect.privacy.redactor import Redactor


class Change(Staged):
    """See `Memories.change`. After the block: `kept_by_hand` and `entry` tell how it ended."""

    def __init__(
        self, places: Places, clock: Clock, reason: str = "", redactor: Redactor | None = None
    ) -> None:
        super().__init__(clock)
        self.redactor = redactor or Redactor()
        self.reason = reason
        self._places = places
        self._there: dict[Path, dict[str, str]] = {}
        self.finished = Finished((), None)

    @property
    def kept_by_hand(self) -> tuple[Path, ...]:
        """Files that somebody edited in the very moment, and that were left alone."""
        return self.finished.kept_by_hand

    @property
    def entry(self) -> str | None:
        """Its id in the history; None if nothing changed."""
        return self.finished.entry

    def get(self, name: str, scope: str | None = None) -> StoredMemory | None:
        """As it is within this change: among ours, or in that scope."""
        found = self._find(name, self._folders(scope))
        return found[1] if found else None

    def write(
        self, memory: Memory, expected: str | None = None, scope: str | None = None
    ) -> StoredMemory:
        """A new memory, or a new version of the one that had the checksum `expected`. Raises Edited where the
        file is another one: also for `expected` None and a name that is taken.

        A memory of type `user` stands with the user, any other with the project; one that changes its type
        moves. `scope`: "team" puts it into the repository. What is equal but for `updated` is no change; a
        missing `created` is filled in, and `updated` unless it is set anew."""
        own = scope in (None, OF_USER, OF_PROJECT)
        found = self._find(memory.name, self._places.own if own else self._folders(scope))
        old = found[1] if found else None
        target = self._target(memory, old, found[0] if found else None, scope)
        self._guard(target, memory.name, old, expected, new=found is None)
        path = target.file(memory.name)
        memory = discretion.written(self.redactor, memory, old.memory if old else None)
        memory = stamped(memory, old.memory if old else None, self._clock())
        if old and old.path == path and same(memory, old.memory):
            return old
        data = rendered(memory, path)
        if old and old.path != path:
            self._stage(old.path, None, memory.name)
        self._stage(path, data, memory.name)
        return StoredMemory(memory, target.scope, path, checksum(data), self._clock())

    def retire(
        self,
        name: str,
        why: str,
        replaced_by: str | None = None,
        expected: str | None = None,
    ) -> Path:
        """It is no longer told, and can be restored. Where it is now. `expected`: see `write`, if given."""
        stored = self._own(name, expected)
        data = self.content(stored.path)
        assert data is not None
        folder = self._places.retired_of(Folder(stored.path.parent, stored.scope))
        path = self._free(folder, name)
        note = retiring.Retired(
            came_from=stored.path.relative_to(self._places.root).as_posix(),
            at=datetime.fromtimestamp(self._clock() // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            why=why,
            replaced_by=None if stored.memory.replaced_by else replaced_by,
        )
        # A head that is odd, though it can be read, is written anew.
        marked = retiring.marked(data, note) or retiring.marked(
            render(stored.memory).encode(), note
        )
        self._stage(path, marked, name)
        self._stage(stored.path, None, name)
        return path

    def restore(self, name: str) -> StoredMemory:
        """A retired memory, as it was, where it was. Of several that had the name, the one that was retired
        last; else the one whose file is called so."""
        retired = self._retired(name)
        data = self.content(retired.path)
        assert data is not None
        home = next(each for each in self._places.own if each.scope == retired.scope)
        path = home.file(retiring.original_name(retired))
        if self._find(path.stem, self._places.own):
            raise MemoryRefused(
                f"There is a memory called {path.stem!r}. Rename or retire it, then restore this one."
            )
        restored = retiring.unmarked(data)
        self._stage(path, restored, name)
        self._stage(retired.path, None, name)
        memory = parse(restored, path)
        assert isinstance(memory, Memory)
        return StoredMemory(memory, home.scope, path, checksum(restored), self._clock())

    def erase(self, name: str, expected: str | None = None, scope: str | None = None) -> None:
        """The file goes; the history still has it. A retired memory can be erased, too."""
        places = self._folders(scope) if scope else (*self._places.own, *self._places.retired)
        found = self._find(name, places)
        if found is None:
            raise _not_found(name)
        folder, stored = found
        if expected is not None and (stored is None or stored.checksum != expected):
            raise _edited(name)
        self._stage(folder.file(name), None, name)

    def put(self, path: Path, data: bytes | None, together: str | None = None) -> None:
        """These bytes in a file of one of the folders, None for none. For undoing, which knows no names."""
        below = path.is_relative_to(self._places.root)
        known = [each.path for each in self._places.all if each.writable]
        if (
            ".." in path.parts
            or not (is_memory_file(path.name) or is_plain_file(path, self._places.root))
            or not (below or path.parent in known)
        ):
            raise MemoryRefused(f"{path} is not the file of a memory.")
        self._stage(path, data, together or str(path))

    def _retired(self, name: str) -> StoredMemory:
        found = []
        for folder in self._places.retired:
            staged = {path.stem for path in self._after if path.parent == folder.path}
            for each in {*folder.names(), *staged}:
                with suppress(MemoryRefused):  # no plain file, or no name
                    if (stored := (self._find(each, (folder,)) or (folder, None))[1]) is not None:
                        found.append(stored)
        fitting = [each for each in found if retiring.original_name(each) == name]
        if not (fitting := fitting or [each for each in found if each.memory.name == name]):
            raise NotFound(
                f"No memory called {name!r} was retired. See `recollect memory list --retired`."
            )
        return max(fitting, key=retiring.order)

    def _folders(self, scope: str | None) -> tuple[Folder, ...]:
        if scope is None:
            return self._places.own
        if folder := self._places.of(scope):
            return (folder,)
        raise MemoryRefused(self._no_place(scope))

    def _no_place(self, scope: str) -> str:
        if scope == OF_TEAM:
            reasons = [each.why for each in self._places.problems]
            fix = "set memory.team_folder to a folder inside the repository"
            return f"There is no folder for the team: {reasons[0] if reasons else fix}."
        return f"There is no place called {scope!r} for memories here."

    def _own(self, name: str, expected: str | None) -> StoredMemory:
        found = self._find(name, self._places.own)
        if found is None:
            for folder in self._places.all:
                if folder.file(name).exists():
                    raise MemoryRefused(
                        f"{name!r} is not ours: it stands in {folder.path}. Take it out there."
                    )
            raise _not_found(name)
        if found[1] is None:
            raise Edited(
                f"{found[0].file(name)} cannot be read. Mend it: see `recollect memory list`."
            )
        if expected is not None and found[1].checksum != expected:
            raise _edited(name)
        return found[1]

    def _target(
        self, memory: Memory, old: StoredMemory | None, folder: Folder | None, scope: str | None
    ) -> Folder:
        if memory.type not in TYPES:
            raise MemoryRefused(f"{memory.type!r} is no type. Use one of {', '.join(TYPES)}.")
        if scope is not None:
            (chosen,) = self._folders(scope)
            if not chosen.writable:
                raise MemoryRefused(f"{chosen.path} is only read. Leave `scope` out.")
            return chosen
        # A file that somebody put elsewhere stays there, unless its type becomes or ceases to be `user`.
        if folder and (old is None or (old.memory.type == USER) == (memory.type == USER)):
            return folder
        home = self._places.of(OF_USER if memory.type == USER else OF_PROJECT)
        assert home is not None
        return home

    def _guard(
        self,
        target: Folder,
        name: str,
        old: StoredMemory | None,
        expected: str | None,
        *,
        new: bool,
    ) -> None:
        if new and expected is not None:
            raise Edited(
                f"The memory {name!r} is gone: it was renamed or deleted. See `recollect memory list`."
            )
        if new:
            if slug(name) != name:
                raise MemoryRefused(
                    f"{name!r} is no name for a memory. Use one such as {slug(name)!r}."
                )
            clash = self._names(target).get(same_name(name), name)
            if clash != name:
                raise MemoryRefused(
                    f"There is {target.file(clash)}. Rename it, or use another name."
                )
        elif old is None:
            raise Edited(
                f"{target.file(name)} cannot be read. Mend it: see `recollect memory list`."
            )
        elif expected != old.checksum and not (expected is None and self.has_staged(old.path)):
            raise _edited(name)

    def _names(self, folder: Folder) -> dict[str, str]:
        """Of the files that were there, by what they are called everywhere."""
        if folder.path not in self._there:
            self._there[folder.path] = {same_name(each): each for each in folder.names()}
        return self._there[folder.path]

    def _free(self, folder: Folder, name: str) -> Path:
        """A retired memory does not take the place of an older one."""
        number = 1
        path = folder.file(name)
        while self.content(path) is not None:
            number += 1
            path = folder.file(f"{name}-{number}")
        return path


def _not_found(name: str) -> NotFound:
    return NotFound(f"There is no memory called {name!r}. See `recollect memory list`.")


def _edited(name: str) -> Edited:
    return Edited(
        f"The memory {name!r} was changed meanwhile, or is there already. Read it with `recollect memory "
        f"show {name}`, then try again."
    )
