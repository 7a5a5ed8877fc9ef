"""The history of all memories: what changed when and why, and the content of every version.

It is in `.history`, in the folder of all memories:

    s12.json        one change: {"number", "at", "reason", "files": {path: [before, after]}}; null for no file
    open.json       the change that is being made, in the same form

Writing `open.json` is the commit point: a change that is interrupted earlier has not happened, one that is
interrupted later is completed by the next reader or writer. A file that somebody has edited meanwhile is left
alone; if that is seen before the first one is changed, all are. Entries older than a year are deleted when
there are 2,000 newer ones, but not the last one of a file. Only the holder of the write lock may write.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from aforesaid import log
from aforesaid.clock import DAY
from aforesaid.errors import NotFound
from aforesaid.memory.files import (
    FileChange,
    read_or_none,
    remove_file,
    remove_temporaries,
    swap_files,
    write_file,
)
from aforesaid.memory.folders import RETIRED_FOLDER, is_changeable, rebuild_index
from aforesaid.memory.format import checksum

HISTORY_FOLDER = ".history"
OPEN = "open.json"
FORMER_KNOWN = "known.json"  # names of memories, written by older versions
ENTRY = re.compile(r"s([1-9][0-9]{0,17})\.json")
KEPT_ENTRIES, KEPT_TIME = 2_000, 365 * DAY
LATEST = 20  # entries of a log
BY_HAND = "edited by hand"
# What reading a damaged file of the history can raise.
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)

# The content before and after, by path below the folder of all memories; None: no such file.
Files = Mapping[str, tuple[bytes | None, bytes | None]]
# Decides what a purge leaves of a file, from its path and content; None deletes it. The path is empty for the
# reason of a change.
Keep = Callable[[str, bytes], bytes | None]
# By folder and version of an entry (number, time, inode), the checksums after it by path; None: no such file.
_checksums: dict[Path, dict[tuple[int, int, int], dict[str, str | None]]] = {}


class Entry(NamedTuple):
    """One change. `files`: by path below the folder of all memories, the content before and after; a change
    that is being made also has the team's files, by their absolute paths."""

    number: int
    at: int
    reason: str
    files: dict[str, tuple[bytes | None, bytes | None]]

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
        found = (
            each
            for each in self._entries()
            if not within or any(path.startswith(within) for path in each.files)
        )
        return list(islice(found, limit))

    def entry(self, entry_id: str) -> Entry:
        """Raises NotFound."""
        if ENTRY.fullmatch(name := f"{entry_id}.json") and (entry := self._load(name)):
            return entry
        raise NotFound(f"There is no change {entry_id!r}. See `aforesaid memory log`.")

    def diff(self, entry_id: str | None = None) -> str:
        """A unified diff of an entry, by default the last one."""
        if entry_id is None and not (last := self.log(1)):
            raise NotFound("Nothing has been changed yet.")
        return unified_diff((self.entry(entry_id) if entry_id else last[0]).files)

    def known(self) -> dict[str, tuple[str, str | None]]:
        """To detect edits by hand: for every file, the last entry that has it, and its checksum after that.
        A process reads an entry only once, and again when a purge has rewritten it."""
        cached, current = _checksums.get(self._folder, {}), {}
        found: dict[str, tuple[str, str | None]] = {}
        for number in self._numbers():
            with suppress(FileNotFoundError):
                now = (self._folder / f"s{number}.json").stat()
                version = (number, now.st_mtime_ns, now.st_ino)
                files = cached[version] if version in cached else self._checksums_after(number)
                current[version] = files
                for path, after in files.items():
                    found.setdefault(path, (f"s{number}", after))
        _checksums[self._folder] = current
        return found

    def _checksums_after(self, number: int) -> dict[str, str | None]:
        entry = self._load(f"s{number}.json")
        return {
            path: None if after is None else checksum(after)
            for path, (_, after) in (entry.files.items() if entry else ())
        }

    def open(self, at: int, reason: str, files: Iterable[FileChange]) -> Entry:
        """Commits a change. `apply` makes it."""
        entry = self._entry(at, reason, files)
        self._write(OPEN, entry)
        return entry

    def load_open(self) -> Entry | None:
        """The change that was interrupted. One that cannot be read is removed."""
        if not self.is_open:
            return None
        if (entry := self._load(OPEN)) and all(
            ".." not in Path(each).parts and is_changeable(self._root / each, self._root)
            for each in entry.files
        ):
            return entry
        log.warning("memory.journal_unreadable")
        remove_file(self._folder / OPEN)
        return None

    def apply(self, entry: Entry) -> tuple[tuple[Path, ...], str | None]:
        """Makes the change. Can be interrupted anywhere and applied again.

        Returns the files that were left alone, because one was edited meanwhile or cannot be written, and the
        id of the entry; None if nothing was recorded."""
        files = [FileChange(self._root / path, *pair) for path, pair in entry.files.items()]
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
        self, at: int, reason: str, files: Iterable[FileChange], number: int | None = None
    ) -> str | None:
        """Adds an entry. Idempotent for a number. Returns its id; None without files."""
        entry = self._entry(at, reason, files, number)
        if not entry.files:
            return None
        self._write(f"{entry.id}.json", entry)
        return entry.id

    def prune(self, now: int) -> None:
        """Deletes outdated entries; safe to interrupt."""
        for number in self.outdated(now):
            remove_file(self._folder / f"s{number}.json")
        self._remove_leftovers()

    def erase(self, keep: Keep) -> int:
        """Purges contents, paths and reasons. Returns how many entries changed. An entry that cannot be read
        goes: its content is unknown."""
        count = 0
        for number in reversed(self._numbers()):
            entry = self._load(f"s{number}.json")
            if entry is None:
                remove_file(self._folder / f"s{number}.json")
                count += 1
                continue
            kept = {
                path: (before and keep(path, before), after and keep(path, after))
                for path, (before, after) in entry.files.items()
                if keep(path, b"") is not None
            }
            reason = keep("", entry.reason.encode("utf-8", "surrogatepass")) or b"erased"
            purged = entry._replace(files=kept, reason=reason.decode("utf-8", "replace"))
            if purged != entry:
                self._write(f"{entry.id}.json", purged)
                count += 1
        self._remove_leftovers()
        return count

    def _remove_leftovers(self) -> None:
        remove_file(self._folder / FORMER_KNOWN)
        remove_temporaries(self._folder)

    def _entry(
        self, at: int, reason: str, files: Iterable[FileChange], number: int | None = None
    ) -> Entry:
        root = self._root
        contents = {
            (path.relative_to(root) if path.is_relative_to(root) else path).as_posix(): (old, new)
            for path, old, new in files
        }
        return Entry(number or max(self._numbers(), default=0) + 1, at, reason, contents)

    def _entries(self) -> Iterator[Entry]:
        """Newest first, without damaged ones."""
        return filter(None, (self._load(f"s{number}.json") for number in self._numbers()))

    def outdated(self, now: int) -> list[int]:
        """An entry that is the last one of a file is not."""
        numbers, newer, found = self._numbers(), set[str](), []
        if len(numbers) <= KEPT_ENTRIES:
            return []
        for place, number in enumerate(numbers):
            entry = self._load(f"s{number}.json")
            if entry and (
                place < KEPT_ENTRIES
                or entry.at >= now - KEPT_TIME
                or any(after is not None for p, (_, after) in entry.files.items() if p not in newer)
            ):
                newer |= entry.files.keys()
            elif place >= KEPT_ENTRIES:
                found.append(number)
        return found

    def _numbers(self) -> list[int]:
        """Newest first."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        return sorted((int(m[1]) for name in names if (m := ENTRY.fullmatch(name))), reverse=True)

    def _load(self, name: str) -> Entry | None:
        """None if it is missing or damaged."""
        with suppress(*DAMAGE):
            stored = json.loads((self._folder / name).read_bytes())
            files = {
                str(path): (_encode(before), _encode(after))
                for path, (before, after) in stored["files"].items()
            }
            return Entry(int(stored["number"]), int(stored["at"]), str(stored["reason"]), files)
        return None

    def _write(self, name: str, entry: Entry) -> None:
        files = {path: [*map(_decode, pair)] for path, pair in entry.files.items()}
        data = json.dumps(entry._asdict() | {"files": files}, indent=1).encode()
        write_file(self._folder / name, data)


def _decode(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def unified_diff(files: Files) -> str:
    """As git shows it. A memory that was retired or restored is one file that moved."""
    changed = {path: files[path] for path in sorted(files) if files[path][0] != files[path][1]}
    moved = {}
    for path, (_, after) in changed.items():
        other = path.removeprefix(f"{RETIRED_FOLDER}/")
        new = other if other != path else f"{RETIRED_FOLDER}/{path}"
        if after is None and new in changed and changed[new][0] is None:
            moved[path] = new
    pairs = [(path, moved.get(path, path)) for path in changed if path not in moved.values()]
    return "".join(_file_diff(old, new, changed[old][0], changed[new][1]) for old, new in pairs)


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
