"""All memories of a directory, and the only way to change them.

    with memories.change("remembered: prefers tabs") as change:
        change.write(memory)

A change is staged under the write lock and made at the end of the block, all of it or nothing; an error in
the block leaves everything as it was. Any process may make one. Edits by hand are never overwritten: whoever
rewrites a memory passes the checksum of the version it has read.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aforesaid import clock as clocks
from aforesaid import log
from aforesaid.clock import Clock
from aforesaid.errors import Edited, MemoryRefused, NotFound
from aforesaid.memory import files, folders
from aforesaid.memory.format import (
    RETIRED_AT,
    RETIRED_FROM,
    RETIRED_REASON,
    checksum,
    fold_name,
    name_problem,
    original_name,
    parse_memory,
    render_checked,
    set_times,
    slugify,
)
from aforesaid.memory.history import BY_HAND, HISTORY_FOLDER, Entry, History, Keep
from aforesaid.model.memories import (
    OF_PROJECT,
    OF_USER,
    TYPES,
    USER,
    Broken,
    Memory,
    StoredMemory,
)
from aforesaid.privacy import payloads
from aforesaid.privacy.redactor import Redactor
from aforesaid.text import clean, cut, one_line

MAX_REASON, MAX_RETIRED_REASON = 10_000, 500
FINISH_SECONDS = 2.0  # that a reader waits to complete an interrupted change
MAX_LISTED = 5  # paths in a message


class Change:
    """See `Memories.change`. After the block, `kept_by_hand` has the files that somebody edited at the same
    moment and that were not changed, and `entry` its id in the history; None if nothing changed."""

    def __init__(self, memories: "Memories", reason: str) -> None:
        self.reason, self.redactor = reason, memories.redactor
        self.kept_by_hand: tuple[Path, ...] = ()
        self.entry: str | None = None
        self._places, self._clock = memories.places, memories.clock
        self._before: dict[Path, bytes | None] = {}
        self._after: dict[Path, bytes | None] = {}

    def changed_files(self) -> list[files.FileChange]:
        staged = (
            files.FileChange(path, self._before[path], after) for path, after in self._after.items()
        )
        return [each for each in staged if each.after != each.before]

    def content(self, path: Path) -> bytes | None:
        """The content of a file within this change. Raises Edited if it is not a regular file."""
        # Read once: the version that was looked at is the one that may be replaced.
        if path not in self._before:
            try:
                self._before[path] = files.read_file(path)
            except files.UnreadableFile as error:
                raise Edited(f"{path} was left alone: {error}.") from None
        return self._after.get(path, self._before[path])

    def get(self, name: str, scope: str | None = None) -> StoredMemory | None:
        """As it is within this change: the user's or the project's, or the one in that scope."""
        return self._find(name, self._folders(scope))[1]

    def write(
        self, memory: Memory, expected: str | None = None, scope: str | None = None
    ) -> StoredMemory:
        """Writes a new memory, or a new version of the one with the checksum `expected`. Raises Edited if the
        file is another one, also for `expected` None and a name that is taken.

        A memory of type `user` belongs to the user, any other to the project; one that changes its type
        moves. `scope`: "team" writes it into the repository. A memory that differs in `updated` alone is not
        written; a missing `created` is filled in, and `updated` unless it is set."""
        name = memory.name
        own = scope in (None, OF_USER, OF_PROJECT)
        folder, old = self._find(name, self._places.own if own else self._folders(scope))
        target = self._target(memory, old, folder, scope)
        path = target.file(name)
        if folder is None and expected is not None:
            raise Edited(
                f"The memory {name!r} is gone: it was renamed or deleted. See `aforesaid memory list`."
            )
        if folder is None and slugify(name) != name:
            raise _name_error(name)
        if folder and old is None:
            raise _broken_error(path)
        if old and expected != old.checksum and (expected or old.path not in self._after):
            raise _changed_error(name)
        before = old.memory if old else None
        memory = set_times(redact_new_texts(self.redactor, memory, before), before, self._clock())
        if old and old.path == path and replace(memory, updated=old.memory.updated) == old.memory:
            return old
        data = render_checked(memory, path)
        if old and old.path != path:
            self._after[old.path] = None
        self.content(path)
        self._after[path] = data
        return StoredMemory(memory, target.scope, path, checksum(data), self._clock())

    def retire(
        self,
        name: str,
        why: str,
        replaced_by: str | None = None,
        expected: str | None = None,
    ) -> Path:
        """Moves a memory to the retired ones, from which it can be restored. Returns its new path."""
        home, stored = self._find(name, self._places.own)
        if home is None:
            raise NotFound(f"There is no memory called {name!r}. See `aforesaid memory list`.")
        if stored is None:
            raise _broken_error(home.file(name))
        if expected not in (None, stored.checksum):
            raise _changed_error(name)
        folder = self._places.retired_of(home)
        path, number = folder.file(name), 1
        while self.content(path) is not None:
            number += 1
            path = folder.file(f"{name}-{number}")
        at = datetime.fromtimestamp(self._clock() / 1000, UTC).isoformat(timespec="milliseconds")
        marks = {
            RETIRED_FROM: _relative(self._places.root, stored.path),
            RETIRED_AT: at.replace("+00:00", "Z"),
            RETIRED_REASON: one_line(why, MAX_RETIRED_REASON) or "not said",
        }
        retired = replace(
            stored.memory,
            name=path.stem,
            replaced_by=stored.memory.replaced_by or replaced_by,
            extra={**stored.memory.extra, **marks},
        )
        self._after[path], self._after[stored.path] = render_checked(retired, path), None
        return path

    def restore(self, name: str) -> StoredMemory:
        """Puts a retired memory back: of several that had that name, or whose file has it now, the one that
        was retired last."""
        matching: list[StoredMemory] = []
        for folder in self._places.retired:
            for each in folder.names():
                with suppress(MemoryRefused):  # not a regular file, or not a valid name
                    stored = self._find(each, (folder,))[1]
                    if stored and name in (stored.memory.name, original_name(stored)):
                        matching.append(stored)
        if not matching:
            raise NotFound(
                f"No memory called {name!r} was retired. See `aforesaid memory list --retired`."
            )
        # Files that were retired in the same moment are numbered.
        retired = max(
            matching, key=lambda e: (str(e.memory.extra.get(RETIRED_AT)), len(e.path.stem), e.path)
        )
        home = next(each for each in self._places.own if each.scope == retired.scope)
        path = home.file(original_name(retired))
        if self._find(path.stem, self._places.own)[0]:
            raise MemoryRefused(
                f"There is a memory called {path.stem!r}. Rename or retire it, then restore this one."
            )
        marks = (RETIRED_FROM, RETIRED_AT, RETIRED_REASON)
        extra = {k: v for k, v in retired.memory.extra.items() if k not in marks}
        memory = replace(retired.memory, name=path.stem, replaced_by=None, extra=extra)
        data = render_checked(memory, path)
        self._after[path], self._after[retired.path] = data, None
        return StoredMemory(memory, home.scope, path, checksum(data), self._clock())

    def put(self, path: Path, data: bytes | None) -> None:
        """Writes these bytes to a memory or a plain file; None deletes it."""
        root = self._places.root
        known = [each.path for each in self._places.all if each.writable]
        inside = path.is_relative_to(root) or path.parent in known
        if ".." in path.parts or not folders.is_changeable(path, root) or not inside:
            raise MemoryRefused(f"{path} is not the file of a memory.")
        self.content(path)
        self._after[path] = data

    def _find(
        self, name: str, places: tuple[folders.Folder, ...]
    ) -> tuple[folders.Folder | None, StoredMemory | None]:
        """The folder that has the file, and the memory; None for the memory if the file is broken."""
        if why := name_problem(name):
            raise _name_error(name, f": {why}")
        for folder in places:
            path = folder.file(name)
            if (data := self.content(path)) is not None:
                memory = parse_memory(data, path)
                if isinstance(memory, Broken):
                    return folder, None
                at = self._clock()
                return folder, StoredMemory(memory, folder.scope, path, checksum(data), at)
        return None, None

    def _folders(self, scope: str | None) -> tuple[folders.Folder, ...]:
        if scope is None:
            return self._places.own
        if folder := self._places.of(scope):
            return (folder,)
        why = "set memory.team_folder to a folder inside the repository"
        if self._places.problems:
            why = self._places.problems[0].why
        raise MemoryRefused(f"There is no folder for the team: {why}.")

    def _target(
        self,
        memory: Memory,
        old: StoredMemory | None,
        folder: folders.Folder | None,
        scope: str | None,
    ) -> folders.Folder:
        if memory.type not in TYPES:
            raise MemoryRefused(f"{memory.type!r} is not a type. Use one of {', '.join(TYPES)}.")
        if scope is not None:
            (chosen,) = self._folders(scope)
            if not chosen.writable:
                raise MemoryRefused(f"{chosen.path} is read-only. Leave `scope` out.")
            return chosen
        # A file that somebody moved stays where it is, unless its type becomes or ceases to be `user`.
        if folder and (old is None or (old.memory.type == USER) == (memory.type == USER)):
            return folder
        return self._places.user if memory.type == USER else self._places.project


class Memories:
    """The memories that apply in one directory, see `folders.find_places`."""

    def __init__(
        self, places: folders.Places, clock: Clock = clocks.now, redactor: Redactor | None = None
    ) -> None:
        self.places = places
        self.clock = clock
        self.redactor = redactor or Redactor()

    def all(self) -> folders.Listing:
        """The user's, the project's, the team's and the client's, newest first; inside a change, as they were
        before it. A copy of ours in the team's or the client's folder is left out, and secrets in a file are
        redacted."""
        found = self._list(self.places.all)
        memories: list[StoredMemory] = []
        broken = [*self.places.problems, *found.broken]
        names: dict[str, StoredMemory] = {}
        order = [folder.scope for folder in self.places.all]
        for stored in sorted(found.memories, key=lambda each: order.index(each.scope)):
            first = names.setdefault(fold_name(stored.memory.name), stored)
            texts = [(each.memory.description, each.memory.body) for each in (first, stored)]
            if first is stored or (not stored.is_ours and texts[0] != texts[1]):
                memories.append(stored)
            elif stored.is_ours:
                why = f"{first.path} has the same name: rename one of them"
                broken.append(Broken(stored.path, why))
        return folders.Listing(newest_first(memories), tuple(broken), found.left_out)

    def get(self, name: str, scope: str | None = None) -> StoredMemory | None:
        """Ours first, then the team's and the client's; or the one in that scope."""
        with self._reading():
            for folder in self.places.all:
                if scope in (None, folder.scope):
                    found = folder.get(name)
                    if isinstance(found, StoredMemory):
                        return redact_stored(self.redactor, found)
        return None

    def retired(self) -> folders.Listing:
        """Each with the reason in `extra`, see `format.add_retired_lines`."""
        return self._list(self.places.retired)

    def _list(self, places: Iterable[folders.Folder]) -> folders.Listing:
        """Newest first, redacted."""
        with self._reading():
            listings = [folder.list() for folder in places]
        found = [redact_stored(self.redactor, one) for each in listings for one in each.memories]
        return folders.Listing(
            newest_first(found),
            tuple(broken for each in listings for broken in each.broken),
            sum(each.left_out for each in listings),
        )

    @property
    def history(self) -> History:
        return History(self.places.root)

    @property
    def folders(self) -> tuple[str, ...]:
        """The user's and the project's, below the root, as the history names them."""
        own = [each.path for each in (*self.places.own, *self.places.retired)]
        return tuple(_relative(self.places.root, each) for each in (*own, self.places.files))

    @contextmanager
    def change(self, reason: str, *, forgiving: bool = False) -> Iterator[Change]:
        """Waits for the write lock. Raises MemoryRefused if it cannot be had, and at the end Edited if files
        were left alone; with `forgiving` the caller looks at `kept_by_hand` instead."""
        root = self.places.root
        with files.write_lock(root):
            self._finish()
            for folder in (root, *(each.path for each in self.places.own)):
                files.remove_temporaries(folder)
            # Another process may have created the project's folder meanwhile, under another name.
            repository = self.places.repository
            if repository and not self.places.project.path.exists():
                found = folders.find_project_folder(root, repository) or self.places.project.path
                self.places = replace(self.places, project=folders.Folder(found, OF_PROJECT))
            change = Change(self, reason)
            yield change
            self._commit(change)
        if change.kept_by_hand and not forgiving:
            kept = change.kept_by_hand
            names = [str(each) for each in kept if os.path.lexists(each)] or list(map(str, kept))
            raise Edited(
                "Not changed, because it is being edited or cannot be written: "
                f"{', '.join(names[:MAX_LISTED])}. Check it, then try again."
            )

    @contextmanager
    def trial(self) -> Iterator[Change]:
        """A change that is never made: for a dry run, or to read while nobody writes."""
        with self._reading():
            yield Change(self, "")

    def tidy(self) -> None:
        """Prunes the history, if there is something to prune."""
        if self.history.outdated(self.clock()):
            with files.write_lock(self.places.root):
                self.history.prune(self.clock())
                log.action("memory.tidied")

    def erase(self, keep: Keep) -> list[str]:
        """Purges the memories of all projects and their history. Returns the files that changed, below the
        root."""
        root = self.places.root
        if not root.is_dir():
            return []
        changed = []
        with files.write_lock(root):
            self._finish()
            for path in list(iter_all_files(root)):
                data, name = path.read_bytes(), _relative(root, path)
                kept = keep(name, data)
                if kept == data:
                    continue
                if kept is None:
                    files.remove_file(path)
                else:
                    files.write_file(path, kept)
                changed.append(name)
            for folder in sorted({(root / name).parent for name in changed}):
                folders.rebuild_index(root, folder)
                # The name of an empty folder tells what was in it.
                while folder != root and folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
                    folder = folder.parent  # noqa: PLW2901
            count = self.history.erase(keep)
        if changed or count:
            log.action("memory.erased", files=len(changed), recorded=count)
        return changed

    def look(self, keep: Keep) -> None:
        """Calls `keep` for every file and version, as `erase` does later; only damaged entries go already."""

        def unchanged(path: str, data: bytes) -> bytes:
            keep(path, data)
            return data

        self.erase(unchanged)

    def _commit(self, change: Change) -> None:
        if not (changed := change.changed_files()):
            return
        root, project = self.places.root, self.places.project.path
        own = (project, self.places.retired[1].path, self.places.files)
        if self.places.repository and any(
            each.path.is_relative_to(folder) for each in changed for folder in own
        ):
            folders.write_project_note(project, self.places.repository)
        at, history = self.clock(), self.history
        by_hand = self._edits_by_hand([each.path for each in changed])
        history.record(at, BY_HAND, by_hand)
        for folder in sorted({each.path.parent for each in by_hand}):
            folders.rebuild_index(root, folder)
        reason = cut(clean(change.reason).strip(), MAX_REASON) or "changed"
        change.kept_by_hand, change.entry = history.apply(history.open(at, reason, changed))
        log.action("memory.changed", files=len(changed), entry=change.entry)

    def _edits_by_hand(self, staged: Iterable[Path]) -> list[files.FileChange]:
        """What people changed since the last entry, in these folders and in the files about to change."""
        root, history = self.places.root, self.history
        known = history.known()
        within = tuple(f"{folder}/" for folder in self.folders)
        own = [
            folder.file(name)
            for folder in (*self.places.own, *self.places.retired)
            for name in folder.names()
        ]
        looked_at = {*own, *folders.list_plain_files(self.places.files)}
        looked_at |= {path for path in staged if path.is_relative_to(root)}
        looked_at |= {root / path for path in known if path.startswith(within)}
        found = []
        for path in sorted(looked_at):
            # A name that no memory can have is not recorded.
            if not folders.is_plain_file(path, root) and name_problem(path.stem):
                continue
            with suppress(OSError):
                data, below = files.read_file(path), _relative(root, path)
                entry, last = known.get(below, ("", None))
                if last != (None if data is None else checksum(data)):
                    before = history.entry(entry).files[below][1] if last else None
                    found.append(files.FileChange(path, before, data))
        return found

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Completes an interrupted change, then reads under the lock. A change that is just being made is
        complete in a moment, too."""
        root = self.places.root
        if not files.holds_write_lock(root) and self.history.is_open:
            with suppress(MemoryRefused, OSError), files.write_lock(root, FINISH_SECONDS):
                self._finish()
        with files.read_lock(root):
            yield

    def _finish(self) -> None:
        if left := self.history.load_open():
            log.action("memory.change_finished", files=len(left.files))
            self.history.apply(left)
            for folder in {(self.places.root / path).parent for path in left.files}:
                files.remove_temporaries(folder)


def newest_first(memories: Iterable[StoredMemory]) -> tuple[StoredMemory, ...]:
    return tuple(sorted(memories, key=lambda e: (-e.modified, e.memory.name, e.scope)))


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _name_error(name: str, why: str = "") -> MemoryRefused:
    return MemoryRefused(
        f"{name!r} is not a valid name for a memory{why}. Use one such as {slugify(name)!r}."
    )


def _broken_error(path: Path) -> Edited:
    return Edited(f"{path} cannot be read. Fix it: see `aforesaid memory list`.")


def _changed_error(name: str) -> Edited:
    return Edited(
        f"The memory {name!r} has changed meanwhile, or exists already. Read it with `aforesaid memory "
        f"show {name}`, then try again."
    )


# The same files are read at every prompt.
CACHED_REDACTIONS = 2048
_redacted: dict[tuple[Redactor, Path, str], Memory] = {}


def redact_stored(redactor: Redactor, found: StoredMemory) -> StoredMemory:
    key = (redactor, found.path, found.checksum)
    if key not in _redacted:
        if len(_redacted) >= CACHED_REDACTIONS:
            _redacted.clear()
        _redacted[key] = replace(found.memory, **_redacted_fields(redactor, found.memory))
    return replace(found, memory=_redacted[key])


def redact_new_texts(redactor: Redactor, memory: Memory, old: Memory | None) -> Memory:
    """Redacts what goes into a file. A text that did not change stays as it is there: whoever rewrites a
    memory has read it redacted."""
    new = _redacted_fields(redactor, memory)
    for name, shown in _redacted_fields(redactor, old).items() if old else ():
        if getattr(memory, name) in (getattr(old, name), shown):
            new[name] = getattr(old, name)
    return replace(memory, **new)


def _redacted_fields(redactor: Redactor, memory: Memory) -> dict[str, Any]:
    return {
        "description": redactor.text(memory.description),
        "body": redactor.text(memory.body),
        "evidence": tuple(map(redactor.text, memory.evidence)),
        "extra": payloads.value(redactor, dict(memory.extra)),
    }


@dataclass(frozen=True, slots=True)
class UndoResult:
    """`undone`: the change that was undone. `entry`: the id of the change that did it; None if there was
    nothing to do. `paths`: the files that were put back, below the folder of all memories."""

    undone: Entry
    entry: str | None
    paths: tuple[str, ...]
    kept_by_hand: tuple[Path, ...] = ()


def undo_change(
    memories: Memories, entry_id: str | None = None, *, force: bool = False
) -> UndoResult:
    """Undoes the change with that id, or the last one of these memories. Raises MemoryRefused if it changed
    other projects, too, and Edited if a file has changed since; `force` puts all files back nevertheless, and
    the history keeps what they were."""
    root = memories.places.root
    with memories.change("", forgiving=True) as change:
        history = memories.history
        if entry_id is None and not (last := history.log(1, memories.folders)):
            raise NotFound("Nothing has been changed yet.")
        entry = history.entry(entry_id) if entry_id else last[0]
        change.reason = f"undo {entry.id}: {entry.reason}"
        within = tuple(f"{folder}/" for folder in memories.folders)
        elsewhere = [path for path in entry.paths if not path.startswith(within)]
        if elsewhere and not force:
            raise MemoryRefused(
                f"The change {entry.id} also changed another project: "
                f"{', '.join(elsewhere[:MAX_LISTED])}. Nothing was undone; `--force` undoes all of it."
            )
        current = {path: change.content(root / path) for path in entry.files}
        edited = [path for path, versions in entry.files.items() if current[path] not in versions]
        if edited and not force:
            names = ", ".join(edited[:MAX_LISTED])
            raise Edited(
                f"Changed since: {names}. Nothing was undone; `--force` puts the files back anyway."
            )
        for path, (before, _) in entry.files.items():
            change.put(root / path, before)
        paths = tuple(path for path, (before, _) in entry.files.items() if current[path] != before)
    kept = change.kept_by_hand
    return UndoResult(entry, change.entry, () if kept else paths, kept)


def iter_all_files(root: Path) -> Iterator[Path]:
    """All regular files but the history and the locks."""
    for folder, below, names in os.walk(root):
        if Path(folder) == root:
            below[:] = [each for each in below if each != HISTORY_FOLDER]
        for name in names:
            path = Path(folder, name)
            is_lock = name in (files.LOCK_FILE, files.TURN_FILE)
            if not is_lock and path.is_file() and not path.is_symlink():
                yield path
