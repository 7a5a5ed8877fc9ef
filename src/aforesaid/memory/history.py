"""The history of all memories: what changed when and why, and the content of every version.

It is in `.history`, in the folder of all memories:

    s12.json        one change: {"at", "reason", "files": {path: [before, after]}}
    contents/<id>   one content, named by its hash; before and after are such names, or null for no file
    known.json      {path: content}: the state after the last change, to detect edits by hand

Memories do not depend on it: a failure to record a change is logged. Entries older than a year are deleted
when there are 2,000 newer ones. Only the holder of the write lock may write.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid import log
from aforesaid.clock import DAY
from aforesaid.errors import NotFound
from aforesaid.memory.files import read_file, remove_file, remove_temporaries, write_file
from aforesaid.memory.folders import RETIRED_FOLDER
from aforesaid.memory.format import blob_id

HISTORY_FOLDER, CONTENTS, KNOWN = ".history", "contents", "known.json"
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


Pair = tuple[str | None, str | None]  # the names of the contents before and after
Record = tuple[Entry, dict[str, Pair]]  # an entry as it is stored, with its files by path


class History:
    def __init__(self, root: Path) -> None:
        self._folder = root / HISTORY_FOLDER

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
                {path: self._content(before) for path, (before, _) in files.items()},
                {path: self._content(after) for path, (_, after) in files.items()},
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
        """The names of all contents after the last entry; where that file is lost, from the entries."""
        try:
            stored = json.loads((self._folder / KNOWN).read_bytes())
            return {str(k): None if v is None else str(v) for k, v in stored.items()}
        except (OSError, ValueError, AttributeError):
            records = [record for n in reversed(self._numbers()) if (record := self._load(n))]
            return {path: after for _, files in records for path, (_, after) in files.items()}

    def next_number(self) -> int:
        return max(self._numbers(), default=0) + 1

    def record(self, number: int, at: int, reason: str, after: Contents) -> str | None:
        """Returns the id of the entry; None if nothing changed or it could not be written. Idempotent: an
        entry with this number was written before a crash, and stays."""
        try:
            known = self.known()
            names = {path: self._store(data) for path, data in after.items()}
            changed = {
                path: (known.get(path), name)
                for path, name in names.items()
                if known.get(path) != name
            }
            if self._load(number) is None:
                if not changed:
                    return None
                self._write_entry(number, at, reason, changed)
            self._write(KNOWN, known | names)
        except OSError as error:
            log.warning("memory.history_failed", why=log.cause(error))
            return None
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
            self._write(KNOWN, kept)
        self.prune(0)
        return count

    def look(self, keep: Keep) -> None:
        """Calls `keep` for every content, as `erase` would, and changes nothing."""
        for number in self._numbers():
            record = self._load(number)
            for path, pair in record[1].items() if record else ():
                for name in filter(None, pair):
                    with suppress(OSError):
                        keep(path, self._content(name) or b"")

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
            data = self._content(name)
        except OSError:
            return None
        return None if data is None else self._store(keep(path, data))

    def _content(self, name: str | None) -> bytes | None:
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
    lines = list(difflib.unified_diff(_lines(before), _lines(after), *names))
    if not lines:  # an empty file, or one that moved unchanged
        return f"--- {names[0]}\n+++ {names[1]}\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(data: bytes | None) -> list[str]:
    """Split at line feeds alone, as git does."""
    return re.findall(r"[^\n]*\n|[^\n]+", (data or b"").decode("utf-8", "replace"))
