"""The history of all memories: what changed when and why, and the content of every version.

It is in `.history`, in the folder of all memories:

    s12.json        one change: {"at", "reason", "files": {path: [before, after]}}
    open.json       the change that is being made, in the same form, with its number
    contents/<id>   one content, named by its hash; before and after are such names, or null for no file
    known.json      {"number", "files": {path: content}}: the state after that entry, to detect edits by hand

Writing `open.json` is the commit point: a change that is interrupted earlier has not happened, one that is
interrupted later is completed by the next reader or writer. If somebody has edited one of its files
meanwhile, none of them is changed. Entries older than a year are deleted when there are 2,000 newer ones.
Only the holder of the write lock may write.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid import log
from aforesaid.clock import DAY
from aforesaid.errors import NotFound
from aforesaid.memory.files import (
    FileChange,
    read_file,
    remove_file,
    remove_temporaries,
    swap_files,
    write_file,
)
from aforesaid.memory.folders import RETIRED_FOLDER, is_changeable, rebuild_index
from aforesaid.memory.format import blob_id

HISTORY_FOLDER, CONTENTS = ".history", "contents"
KNOWN, OPEN, UNREADABLE = "known.json", "open.json", "open.unreadable"
# A repository that is gone, or a file that belongs to somebody else.
UNWRITABLE = (PermissionError, NotADirectoryError, IsADirectoryError)
ENTRY = re.compile(r"s([1-9][0-9]{0,17})\.json")
KEPT_ENTRIES, KEPT_TIME = 2_000, 365 * DAY
LATEST = 20  # entries of a log
BY_HAND = "edited by hand"

# By path below the folder of all memories; None: no such file.
Contents = Mapping[str, bytes | None]
Names = dict[str, str | None]
# Decides what a purge leaves of a file, from its path and content; None deletes it. The path is empty for the
# reason of a change.
Keep = Callable[[str, bytes], bytes | None]


class Entry(NamedTuple):
    """One change. `paths`: below the folder of all memories, sorted."""

    id: str
    at: int
    reason: str
    paths: tuple[str, ...]


class OpenEntry(NamedTuple):
    """A change that is being made. `files`: also the team's, which are not recorded."""

    number: int
    at: int
    reason: str
    files: tuple[FileChange, ...]


Pair = tuple[str | None, str | None]  # the names of the contents before and after
Record = tuple[Entry, dict[str, Pair]]  # an entry as it is stored, with its files by path


class History:
    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, root / HISTORY_FOLDER

    @property
    def is_open(self) -> bool:
        """Whether a change is being made, or was interrupted."""
        return (self._folder / OPEN).exists()

    def log(self, limit: int | None = LATEST, folders: Iterable[str] = ()) -> list[Entry]:
        """Newest first. `folders` (such as `user`): only the changes that touched one of them."""
        within = tuple(f"{folder}/" for folder in folders)
        entries = (record[0] for n in self._numbers() if (record := self._load(n)))
        found = (
            each
            for each in entries
            if not within or any(path.startswith(within) for path in each.paths)
        )
        return list(islice(found, limit))

    def entry(self, entry_id: str) -> Entry:
        """Raises NotFound."""
        return self._find(entry_id)[0]

    def contents(self, entry_id: str) -> tuple[Contents, Contents]:
        """The files of an entry before and after it. Raises NotFound."""
        _, files = self._find(entry_id)
        try:
            return (
                {path: self.content(before) for path, (before, _) in files.items()},
                {path: self.content(after) for path, (_, after) in files.items()},
            )
        except OSError:
            raise NotFound(
                f"The change {entry_id!r} is damaged in the history: it cannot be shown."
            ) from None

    def diff(self, entry_id: str | None = None) -> str:
        """A unified diff of an entry, by default the last one."""
        if entry_id is None and not (last := self.log(1)):
            raise NotFound("Nothing has been changed yet.")
        return unified_diff(*self.contents(entry_id or last[0].id))

    def known(self) -> Names:
        """The names of all contents after the last entry."""
        newest, known = 0, Names()
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            stored = json.loads((self._folder / KNOWN).read_bytes())
            known = {str(k): None if v is None else str(v) for k, v in stored["files"].items()}
            newest = int(stored["number"])
        for number in reversed(self._numbers()):
            if number > newest and (record := self._load(number)):
                known |= {path: after for path, (_, after) in record[1].items()}
        return known

    def open(self, at: int, reason: str, files: Sequence[FileChange]) -> "OpenEntry":
        """Commits a change. `apply` makes it."""
        number = max(self._numbers(), default=0) + 1
        names = {
            str(each.path.relative_to(self._root) if self._is_own(each.path) else each.path): (
                self._store(each.before),
                self._store(each.after),
            )
            for each in files
        }
        self._write(OPEN, {"number": number, "at": at, "reason": reason, "files": names})
        return OpenEntry(number, at, reason, tuple(files))

    def load_open(self) -> "OpenEntry | None":
        """The change that was interrupted. One that cannot be read is set aside."""
        path = self._folder / OPEN
        try:
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            stored = json.loads(data)
            files = tuple(
                FileChange(self._root / name, self.content(before), self.content(after))
                for name, (before, after) in stored["files"].items()
            )
            for each in (file.path for file in files):
                if ".." in each.parts or not is_changeable(each, self._root):
                    raise ValueError("not the path of a memory")
            number, at, reason = int(stored["number"]), int(stored["at"]), str(stored["reason"])
            return OpenEntry(number, at, reason, files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            log.warning("memory.journal_unreadable", bytes=len(data))
            path.replace(self._folder / UNREADABLE)
            return None

    def apply(self, entry: "OpenEntry") -> tuple[tuple[Path, ...], str | None]:
        """Makes the change. Can be interrupted anywhere and applied again.

        Returns the files if none was changed, because one was edited meanwhile or cannot be written, and the
        id of the entry; None if nothing was recorded."""
        paths = tuple(each.path for each in entry.files)
        try:
            edited = swap_files(entry.files, entry.number, self._root)
        except OSError as error:
            remove_file(self._folder / OPEN)
            if not isinstance(error, UNWRITABLE):
                raise
            log.warning("memory.unwritable", why=log.cause(error))
            return paths, None
        if edited:
            log.action("memory.kept_by_hand", files=len(edited))
            remove_file(self._folder / OPEN)
            return (*edited, *(path for path in paths if path not in edited)), None
        for folder in sorted({path.parent for path in paths}):
            rebuild_index(self._root, folder)
        own = [each for each in entry.files if self._is_own(each.path)]
        recorded = self.record(entry.at, entry.reason, own, entry.number)
        remove_file(self._folder / OPEN)
        return (), recorded

    def record(
        self, at: int, reason: str, files: Iterable[FileChange], number: int | None = None
    ) -> str | None:
        """Adds an entry. Idempotent for a number. Returns its id; None without files."""
        names = {
            each.path.relative_to(self._root).as_posix(): (
                self._store(each.before),
                self._store(each.after),
            )
            for each in files
        }
        if not names:
            return None
        number = number or max(self._numbers(), default=0) + 1
        self._write_entry(number, at, reason, names)
        self._write_known(self.known())
        return f"s{number}"

    def is_untidy(self, now: int) -> bool:
        return bool(self._outdated(now))

    def prune(self, now: int) -> None:
        """Deletes outdated entries, then the contents that no entry needs; safe to interrupt."""
        for number in self._outdated(now):
            remove_file(self._folder / f"s{number}.json")
        needed = set(self.known().values())
        for number in self._numbers():
            record = self._load(number)
            if record is None:
                return  # which contents it needs is unknown
            needed.update(name for pair in record[1].values() for name in pair)
        contents = self._folder / CONTENTS
        for folder in (self._folder, contents):
            remove_temporaries(folder)
        with suppress(FileNotFoundError):
            for path in [each for each in contents.iterdir() if each.name not in needed]:
                remove_file(path)

    def erase(self, keep: Keep) -> int:
        """Purges contents, paths and reasons. Returns how many entries changed. An entry that cannot be read
        goes: its content is unknown."""
        count = 0
        for number in self._numbers():
            record = self._load(number)
            if record is None:
                remove_file(self._folder / f"s{number}.json")
                count += 1
                continue
            entry, old = record
            files = {
                path: (self._purged(path, before, keep), self._purged(path, after, keep))
                for path, (before, after) in old.items()
                if keep(path, b"") is not None
            }
            reason = keep("", entry.reason.encode("utf-8", "surrogatepass")) or b"erased"
            text = reason.decode("utf-8", "replace")
            if (files, text) != (old, entry.reason):
                self._write_entry(number, entry.at, text, files)
                count += 1
        known = self.known()
        kept = {
            path: self._purged(path, name, keep)
            for path, name in known.items()
            if keep(path, b"") is not None
        }
        if kept != known:
            self._write_known(kept)
        remove_file(self._folder / UNREADABLE)
        self.prune(0)
        return count

    def _is_own(self, path: Path) -> bool:
        """False in the team's folder, which is part of a repository and has no history here."""
        return path.is_relative_to(self._root)

    def _find(self, entry_id: str) -> Record:
        found = ENTRY.fullmatch(f"{entry_id}.json")
        if record := self._load(int(found[1])) if found else None:
            return record
        raise NotFound(f"There is no change {entry_id!r}. See `aforesaid memory log`.")

    def _outdated(self, now: int) -> list[int]:
        """Oldest first."""
        older = [(n, self._load(n)) for n in self._numbers()[KEPT_ENTRIES:]]
        return [n for n, each in older[::-1] if each is None or each[0].at < now - KEPT_TIME]

    def _purged(self, path: str, name: str | None, keep: Keep) -> str | None:
        try:
            data = self.content(name)
        except OSError:
            return None
        return None if data is None else self._store(keep(path, data))

    def content(self, name: str | None) -> bytes | None:
        """Raises OSError if it is lost."""
        if name is None:
            return None
        data = read_file(self._folder / CONTENTS / name)
        if data is None:
            raise FileNotFoundError(name)
        return data

    def _store(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        path = self._folder / CONTENTS / blob_id(data)
        if not path.exists():
            write_file(path, data)
        return path.name

    def _numbers(self) -> list[int]:
        """Newest first."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        return sorted((int(m[1]) for name in names if (m := ENTRY.fullmatch(name))), reverse=True)

    def _load(self, number: int) -> Record | None:
        """None if it is missing or damaged."""
        try:
            stored = json.loads((self._folder / f"s{number}.json").read_bytes())
            files = {path: (before, after) for path, (before, after) in stored["files"].items()}
            at, reason = int(stored["at"]), str(stored["reason"])
            return Entry(f"s{number}", at, reason, tuple(sorted(files))), files
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _write_entry(self, number: int, at: int, reason: str, files: Mapping[str, Any]) -> None:
        self._write(f"s{number}.json", {"at": at, "reason": reason, "files": files})

    def _write_known(self, files: Names) -> None:
        self._write(KNOWN, {"number": max(self._numbers(), default=0), "files": files})

    def _write(self, name: str, stored: object) -> None:
        write_file(self._folder / name, json.dumps(stored, indent=1).encode() + b"\n")


def unified_diff(before: Contents, after: Contents) -> str:
    """As git shows it. A memory that was retired or restored is one file that moved."""
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    added = {path for path in paths if before.get(path) is None}
    moved = {}
    for path in paths:
        other = path.removeprefix(f"{RETIRED_FOLDER}/")
        new = other if other != path else f"{RETIRED_FOLDER}/{path}"
        if new in added and after.get(path) is None:
            moved[path] = new
    return "".join(
        _file_diff(path, new, before.get(path), after.get(new))
        for path in paths
        if path not in moved.values()
        for new in (moved.get(path, path),)
    )


def _file_diff(old: str, new: str, before: bytes | None, after: bytes | None) -> str:
    names = (
        "/dev/null" if before is None else f"a/{old}",
        "/dev/null" if after is None else f"b/{new}",
    )
    # Split at line feeds alone, as git does.
    texts = ((data or b"").decode("utf-8", "replace") for data in (before, after))
    one, other = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in texts)
    lines = list(difflib.unified_diff(one, other, *names))
    if not lines:  # an empty file, or one that moved unchanged
        return f"--- {names[0]}\n+++ {names[1]}\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
