"""The history of all memories: what changed when and why, and the content of every version.

It is in `.history`, in the folder of all memories:

    s12.json        one change: {"number", "at", "reason", "files": {path: [before, after]}}
    open.json       the change that is being made, in the same form
    contents/<id>   one content, named by its hash; before and after are such names, or null for no file
    known.json      {"number", "files": {path: content}}: the state after that entry, to detect edits by hand

Writing `open.json` is the commit point: a change that is interrupted earlier has not happened, one that is
interrupted later is completed by the next reader or writer. A file that somebody has edited meanwhile is left
alone; if that is seen before the first one is changed, all are. Entries older than a year are deleted when
there are 2,000 newer ones. Only the holder of the write lock may write.
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
    UnreadableFile,
    read_file,
    read_or_none,
    remove_file,
    remove_temporaries,
    swap_files,
    write_file,
)
from aforesaid.memory.folders import RETIRED_FOLDER, is_changeable, rebuild_index
from aforesaid.memory.format import blob_id

HISTORY_FOLDER, CONTENTS = ".history", "contents"
KNOWN, OPEN, UNREADABLE = "known.json", "open.json", "open.unreadable"
ENTRY = re.compile(r"s([1-9][0-9]{0,17})\.json")
KEPT_ENTRIES, KEPT_TIME = 2_000, 365 * DAY
LATEST = 20  # entries of a log
BY_HAND = "edited by hand"
# What reading a damaged file of the history can raise.
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)

# By path below the folder of all memories; None: no such file.
Contents = Mapping[str, bytes | None]
Names = dict[str, str | None]
# Decides what a purge leaves of a file, from its path and content; None deletes it. The path is empty for the
# reason of a change.
Keep = Callable[[str, bytes], bytes | None]


class Entry(NamedTuple):
    """One change. `files`: by path below the folder of all memories, the names of the contents before and
    after; a change that is being made also has the team's files, by their absolute paths."""

    number: int
    at: int
    reason: str
    files: dict[str, tuple[str | None, str | None]]

    @property
    def id(self) -> str:
        return f"s{self.number}"

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))


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
        entries = (entry for number in self._numbers() if (entry := self._load(number)))
        found = (
            each
            for each in entries
            if not within or any(path.startswith(within) for path in each.files)
        )
        return list(islice(found, limit))

    def entry(self, entry_id: str) -> Entry:
        """Raises NotFound."""
        found = ENTRY.fullmatch(f"{entry_id}.json")
        if entry := self._load(int(found[1])) if found else None:
            return entry
        raise NotFound(f"There is no change {entry_id!r}. See `aforesaid memory log`.")

    def contents(self, entry_id: str) -> tuple[Contents, Contents]:
        """The files of an entry before and after it. Raises NotFound."""
        files = self.entry(entry_id).files
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
        with suppress(*DAMAGE):
            stored = json.loads((self._folder / KNOWN).read_bytes())
            known, newest = dict(stored["files"]), int(stored["number"])
        for number in reversed(self._numbers()):
            if number > newest and (entry := self._load(number)):
                known |= {path: after for path, (_, after) in entry.files.items()}
        return known

    def open(self, at: int, reason: str, files: Sequence[FileChange]) -> Entry:
        """Commits a change. `apply` makes it."""
        entry = self._entry(at, reason, files)
        self._write(OPEN, entry._asdict())
        return entry

    def load_open(self) -> Entry | None:
        """The change that was interrupted. One that cannot be read is set aside."""
        path = self._folder / OPEN
        if not path.exists():
            return None
        try:
            entry = _parse_entry(json.loads(path.read_bytes()))
            for each in self._changes(entry):
                if ".." in each.path.parts or not is_changeable(each.path, self._root):
                    raise ValueError("not the path of a memory")
            return entry
        except DAMAGE:
            log.warning("memory.journal_unreadable")
            path.replace(self._folder / UNREADABLE)
            return None

    def apply(self, entry: Entry) -> tuple[tuple[Path, ...], str | None]:
        """Makes the change. Can be interrupted anywhere and applied again.

        Returns the files that were left alone, because one was edited meanwhile or cannot be written, and the
        id of the entry; None if nothing was recorded."""
        files = self._changes(entry)
        try:
            kept = swap_files(files, entry.number, self._root)
        except OSError as error:
            kept = [each.path for each in files if read_or_none(each.path) != each.after]
            if not isinstance(error, PermissionError | NotADirectoryError | IsADirectoryError):
                if len(kept) == len(files):  # nothing was changed
                    remove_file(self._folder / OPEN)
                raise
            log.warning("memory.unwritable", why=log.cause(error))
        if kept:
            log.action("memory.kept_by_hand", files=len(kept))
        done = [each for each in files if each.path not in kept]
        for folder in sorted({each.path.parent for each in done}):
            rebuild_index(self._root, folder)
        own = [each for each in done if each.path.is_relative_to(self._root)]
        recorded = self.record(entry.at, entry.reason, own, entry.number)
        remove_file(self._folder / OPEN)
        return tuple(kept), recorded

    def record(
        self, at: int, reason: str, files: Sequence[FileChange], number: int | None = None
    ) -> str | None:
        """Adds an entry. Idempotent for a number. Returns its id; None without files."""
        if not files:
            return None
        entry = self._entry(at, reason, files, number)
        self._write_entry(entry)
        self._write_known(self.known())
        return entry.id

    def is_untidy(self, now: int) -> bool:
        return bool(self._outdated(now))

    def prune(self, now: int) -> None:
        """Deletes outdated entries, then the contents that no entry needs; safe to interrupt."""
        for number in self._outdated(now):
            remove_file(self._folder / f"s{number}.json")
        needed = set(self.known().values())
        for number in self._numbers():
            entry = self._load(number)
            if entry is None:
                return  # which contents it needs is unknown
            needed.update(name for pair in entry.files.values() for name in pair)
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

        def purge(path: str, name: str | None) -> str | None:
            try:
                data = self.content(name)
            except OSError:
                return None
            return None if data is None else self._store(keep(path, data))

        for number in self._numbers():
            entry = self._load(number)
            if entry is None:
                remove_file(self._folder / f"s{number}.json")
                count += 1
                continue
            kept = {
                path: (purge(path, before), purge(path, after))
                for path, (before, after) in entry.files.items()
                if keep(path, b"") is not None
            }
            reason = keep("", entry.reason.encode("utf-8", "surrogatepass")) or b"erased"
            purged = entry._replace(files=kept, reason=reason.decode("utf-8", "replace"))
            if purged != entry:
                self._write_entry(purged)
                count += 1
        known = self.known()
        names = {p: purge(p, name) for p, name in known.items() if keep(p, b"") is not None}
        if names != known:
            self._write_known(names)
        remove_file(self._folder / UNREADABLE)
        self.prune(0)
        return count

    def content(self, name: str | None) -> bytes | None:
        """Raises OSError if it is lost."""
        if name is None:
            return None
        data = read_file(self._folder / CONTENTS / name)
        if data is None:
            raise UnreadableFile("it is gone")
        return data

    def _entry(
        self, at: int, reason: str, files: Iterable[FileChange], number: int | None = None
    ) -> Entry:
        """Stores the contents."""
        root = self._root
        number = number or max(self._numbers(), default=0) + 1
        names = {
            (path.relative_to(root) if path.is_relative_to(root) else path).as_posix(): (
                self._store(before),
                self._store(after),
            )
            for path, before, after in files
        }
        return Entry(number, at, reason, names)

    def _changes(self, entry: Entry) -> list[FileChange]:
        return [
            FileChange(self._root / path, self.content(before), self.content(after))
            for path, (before, after) in entry.files.items()
        ]

    def _outdated(self, now: int) -> list[int]:
        """Oldest first."""
        older = [(n, self._load(n)) for n in self._numbers()[KEPT_ENTRIES:]]
        return [n for n, each in older[::-1] if each is None or each.at < now - KEPT_TIME]

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

    def _load(self, number: int) -> Entry | None:
        """None if it is missing or damaged."""
        with suppress(*DAMAGE):
            stored = json.loads((self._folder / f"s{number}.json").read_bytes())
            return _parse_entry({**stored, "number": number})
        return None

    def _write_entry(self, entry: Entry) -> None:
        self._write(f"s{entry.number}.json", entry._asdict())

    def _write_known(self, files: Names) -> None:
        self._write(KNOWN, {"number": max(self._numbers(), default=0), "files": files})

    def _write(self, name: str, stored: object) -> None:
        write_file(self._folder / name, json.dumps(stored, indent=1).encode() + b"\n")


def _parse_entry(stored: Mapping[str, Any]) -> Entry:
    files = {path: (before, after) for path, (before, after) in stored["files"].items()}
    return Entry(int(stored["number"]), int(stored["at"]), str(stored["reason"]), files)


def unified_diff(before: Contents, after: Contents) -> str:
    """As git shows it. A memory that was retired or restored is one file that moved."""
    paths = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    moved = {}
    for path in paths:
        other = path.removeprefix(f"{RETIRED_FOLDER}/")
        new = other if other != path else f"{RETIRED_FOLDER}/{path}"
        if new in paths and before.get(new) is None and after.get(path) is None:
            moved[path] = new
    return "".join(
        _file_diff(path, moved.get(path, path), before, after)
        for path in paths
        if path not in moved.values()
    )


def _file_diff(old: str, new: str, before: Contents, after: Contents) -> str:
    contents = before.get(old), after.get(new)
    names = [
        "/dev/null" if data is None else name
        for name, data in zip((f"a/{old}", f"b/{new}"), contents, strict=True)
    ]
    # Split at line feeds alone, as git does.
    texts = ((data or b"").decode("utf-8", "replace") for data in contents)
    one, other = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in texts)
    lines = list(difflib.unified_diff(one, other, names[0], names[1]))
    if not lines:  # an empty file, or one that moved unchanged
        return f"--- {names[0]}\n+++ {names[1]}\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
