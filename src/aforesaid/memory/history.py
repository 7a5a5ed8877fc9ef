"""The history of all memories (what changed when and why, and the content of every version), and the journal.

It is in `.history`, in the folder of all memories:

    s12.json        one change: {"at", "reason", "files": {path: [before, after]}}
    contents/<id>   one content, named by its hash; before and after are such names, or null for no file
    known.json      {path: content}: the state after the last change, to detect edits by hand

Memories do not depend on it: a failure to record a change is logged. Entries older than a year are deleted
when there are 2,000 newer ones. Only the holder of the write lock may write.

The journal of a change (`.change`) is written before any memory is touched, and removed when the change is
complete. Writing it is the commit point: a change that is interrupted earlier has not happened, one that is
interrupted later is completed by the next reader or writer. A file whose content is neither the old nor the
new one was edited by hand meanwhile; it is left alone, with all files of its group.
"""

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid import log, paths
from aforesaid.clock import DAY
from aforesaid.errors import NotFound
from aforesaid.ids import digest
from aforesaid.memory.files import (
    UnreadableFile,
    read_file,
    remove_file,
    remove_temporaries,
    write_file,
    write_temporary,
)
from aforesaid.memory.folders import (
    PLAIN_FOLDER,
    RETIRED_FOLDER,
    Folder,
    is_generated_index,
    is_memory_file,
    is_plain_file,
    render_index,
)
from aforesaid.memory.format import INDEX_FILE, blob_id
from aforesaid.model.memories import OF_TEAM

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
    # Split at line feeds alone, as git does.
    texts = ((data or b"").decode("utf-8", "replace") for data in (before, after))
    one, other = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in texts)
    lines = list(difflib.unified_diff(one, other, *names))
    if not lines:  # an empty file, or one that moved unchanged
        return f"--- {names[0]}\n+++ {names[1]}\n"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


JOURNAL_FILE, JOURNAL_FORMAT = ".change", 2
OLD_SUFFIX, NEW_SUFFIX = ".old", ".new"  # the old content, and the new one if it is taken back
EDITED_SUFFIX = ".edited-"  # one of two versions that somebody saved at the same time


class FileChange(NamedTuple):
    """`group`: files of one group change together or not at all."""

    path: Path
    before: bytes | None
    after: bytes | None
    group: str


class Journal(NamedTuple):
    """`number`: of its entry in the history. `by_hand`: earlier edits by hand, by path below the root; they
    are the entry before."""

    number: int
    at: int
    reason: str
    files: tuple[FileChange, ...]
    by_hand: Contents


def save_journal(root: Path, journal: Journal) -> None:
    """Commits the change."""
    stored = {
        "format": JOURNAL_FORMAT,
        "number": journal.number,
        "at": journal.at,
        "reason": journal.reason,
        "files": [
            {
                "path": str(each.path.relative_to(root) if _is_own(root, each.path) else each.path),
                "before": _encode(each.before),
                "after": _encode(each.after),
                "group": each.group,
            }
            for each in journal.files
        ],
        "by_hand": {path: _encode(data) for path, data in journal.by_hand.items()},
    }
    write_file(root / JOURNAL_FILE, json.dumps(stored, indent=1).encode() + b"\n")


def load_journal(root: Path) -> Journal | None:
    """The journal of an interrupted change. One that cannot be read is set aside."""
    try:
        data = (root / JOURNAL_FILE).read_bytes()
    except FileNotFoundError:
        return None
    try:
        stored = json.loads(data)
        files = tuple(
            FileChange(
                root / each["path"],
                _decode(each["before"]),
                _decode(each["after"]),
                str(each["group"]),
            )
            for each in stored["files"]
        )
        for path in (each.path for each in files):
            if ".." in path.parts or not (is_memory_file(path.name) or is_plain_file(path, root)):
                raise ValueError("not the path of a memory")
        if stored["format"] != JOURNAL_FORMAT:
            raise ValueError("unknown format")
        by_hand = {str(path): _decode(content) for path, content in stored["by_hand"].items()}
        number, at, reason = int(stored["number"]), int(stored["at"]), str(stored["reason"])
        return Journal(number, at, reason, files, by_hand)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("memory.journal_unreadable", bytes=len(data))
        (root / JOURNAL_FILE).replace(root / f"{JOURNAL_FILE}.unreadable")
        return None


def _encode(data: bytes | None) -> str | None:
    """Any bytes as a JSON string."""
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _decode(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "surrogateescape")


def apply_journal(root: Path, journal: Journal) -> tuple[tuple[Path, ...], str | None]:
    """Makes the change and records it. Can be interrupted anywhere and applied again.

    Returns the files that were edited meanwhile and not changed, and the id of the history's entry; None if
    nothing changed."""
    groups: dict[str, list[FileSwap]] = {}
    for file in journal.files:
        swap = FileSwap(file, journal.number, private=_is_own(root, file.path))
        groups.setdefault(file.group, []).append(swap)
    swaps = [each for group in groups.values() for each in group]
    kept = _swap_groups(root, list(groups.values()))
    _sync_directories(root, swaps)
    for each in swaps:
        with _log_unwritable(root, each.path):
            if not each.finish(reverted=each.path in kept) and each.path not in kept:
                kept.append(each.path)
    if kept:
        log.action("memory.kept_by_hand", files=len(kept))
    done = [each for each in journal.files if each.path not in kept]
    touched = {each.path.parent for each in done}
    for folder in sorted(touched | {(root / path).parent for path in journal.by_hand}):
        with _log_unwritable(root, folder):
            rebuild_index(root, folder)
    history, entry = History(root), None
    if journal.by_hand:
        history.record(journal.number - 1, journal.at, BY_HAND, journal.by_hand)
    own = [each for each in done if _is_own(root, each.path)]
    if after := {each.path.relative_to(root).as_posix(): each.after for each in own}:
        entry = history.record(journal.number, journal.at, journal.reason, after)
    _sync_directories(root, swaps)
    remove_file(root / JOURNAL_FILE)
    return tuple(kept), entry


def rebuild_index(root: Path, folder: Path) -> None:
    """Retired memories and plain files have no index. An index that a person wrote for the team stays."""
    if not folder.is_dir() or any(
        folder.is_relative_to(root / each) for each in (RETIRED_FOLDER, PLAIN_FOLDER)
    ):
        return
    data = render_index(Folder(folder, OF_TEAM).list(most=None)).encode()
    path = folder / INDEX_FILE
    try:
        found = read_file(path)
    except UnreadableFile:
        return  # a link or a folder of the user's
    if found == (data or None) or not (is_generated_index(found or b"") or _is_own(root, folder)):
        return
    if data:
        write_file(path, data, private=_is_own(root, folder))
    else:
        remove_file(path)


def _swap_groups(root: Path, groups: list[list["FileSwap"]]) -> list[Path]:
    """Writes all new contents to the disk, then swaps the files. Returns the files of the groups that were
    edited by hand, which are as they were."""
    ready, made = [], []
    for group in groups:
        with _log_unwritable(root, *(each.path for each in group)):
            for each in group:
                each.prepare()
            ready.append(group)
    for group in ready:
        with _log_unwritable(root, *(each.path for each in group)):
            # New files first: a file that moves is never missing.
            new_first = sorted(group, key=lambda each: each.after is None)
            if not any(each.is_edited() for each in group) and all(e.swap() for e in new_first):
                made.append(group)
    kept = [each for group in groups if group not in made for each in group]
    for each in kept:
        with _log_unwritable(root, each.path):
            each.revert()
    return [each.path for each in kept]


def _sync_directories(root: Path, swaps: Iterable["FileSwap"]) -> None:
    for folder in sorted({each.path.parent for each in swaps}):
        with _log_unwritable(root, folder), suppress(FileNotFoundError, NotADirectoryError):
            paths.sync(folder)


@contextmanager
def _log_unwritable(root: Path, *written: Path) -> Iterator[None]:
    """A full disk raises, and the change is completed when there is room again. A repository that is gone, or
    a file that belongs to somebody else, is skipped: it must not block all other changes."""
    permanent = (PermissionError, NotADirectoryError, IsADirectoryError)
    try:
        yield
    except OSError as error:
        if not isinstance(error, permanent) and all(_is_own(root, each) for each in written):
            raise
        log.warning("memory.unwritable", why=log.cause(error))


def _is_own(root: Path, path: Path) -> bool:
    """False in the team's folder, which is part of a repository."""
    return path.is_relative_to(root)


class FileSwap:
    """Replaces one file without losing an edit by hand, under the write lock.

    The old file is set aside (`.old`) and the new one linked to the free name; an edit that comes in between
    takes the name first, and one to the old file is found aside. `number`: of the change. `private`:
    readable by its owner alone."""

    def __init__(self, change: FileChange, number: int, *, private: bool) -> None:
        path = change.path
        self.path, self.before, self.after = path, change.before, change.after
        self._private = private
        hidden = f".{path.name[:40]}.{digest(f'{number} {path.name}')}"
        self._old = path.with_name(hidden + OLD_SUFFIX)
        self._reverted = path.with_name(hidden + NEW_SUFFIX)
        self._temporary: Path | None = None  # the new content, written

    def prepare(self) -> None:
        """Puts back what a crash left aside, and writes the new content beside the file."""
        _return_aside(self._reverted, self.path, self.after)
        _return_aside(self._old, self.path, self.before)
        if self.after is not None and _read(self.path) == [self.before]:
            self._temporary = write_temporary(self.path, self.after, private=self._private)

    def is_edited(self) -> bool:
        return _read(self.path) not in ([self.before], [self.after])

    def swap(self) -> bool:
        """False if the file is being edited; it is as it was left."""
        return _swap(self.path, self.before, self._temporary, self.after, self._old)

    def revert(self) -> None:
        """Puts the old content back, unless the new one was edited."""
        if self.before == self.after or _read(self.path) != [self.after]:
            return
        old = None
        if self.before is not None:
            old = write_temporary(self.path, self.before, private=self._private)
        _swap(self.path, self.after, old, self.before, self._reverted)

    def finish(self, *, reverted: bool) -> bool:
        """Removes what was set aside. False if somebody who had the old file open has edited it: then it is
        back."""
        if self._temporary:
            self._temporary.unlink(missing_ok=True)
        _return_aside(self._reverted, self.path, self.after, edited_only=True)
        edited = os.path.lexists(self._old) and _read(self._old) != [self.before]
        if edited and self.after is not None and _read(self.path) == [self.after]:
            self._old.replace(self.path)
        _return_aside(self._old, self.path, self.before, edited_only=not reverted)
        return not edited


def _swap(
    path: Path, before: bytes | None, new: Path | None, after: bytes | None, aside: Path
) -> bool:
    """Gives the file `new` the name, if the content is `before`; None stands for no file."""
    try:
        content = _read(path)
        if content != [before] or (new is None and after is not None):
            return content == [after]
        if before is not None:
            path.rename(aside)
            if _read(aside) != [before]:
                _return_aside(aside, path, before)
                return False
        return new is None or _link_if_free(new, path)
    except FileNotFoundError:  # just deleted
        return False
    finally:
        if new is not None:
            new.unlink(missing_ok=True)


def _return_aside(
    aside: Path, path: Path, known: bytes | None, *, edited_only: bool = False
) -> None:
    """Gives a file that was set aside its name again, if that is free. If not, it is removed; with an edit it
    stays beside the other one, under a visible name: both were saved at the same time."""
    if not os.path.lexists(aside):
        return
    content = _read(aside)
    edited = content != [known]
    if (edited or not edited_only) and _link_if_free(aside, path):
        return
    if edited and content != _read(path):
        aside.rename(path.with_name(f"{path.name[:50]}{EDITED_SUFFIX}{os.urandom(3).hex()}"))
    else:
        aside.unlink()


def _read(path: Path) -> list[bytes | None]:
    """The content in a list; an empty list for what is not a regular file."""
    try:
        return [read_file(path)]
    except OSError:
        return []


def _link_if_free(file: Path, path: Path) -> bool:
    """Renames a file, but never over another one: False if the name is taken."""
    try:
        os.link(file, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except (OSError, NotImplementedError):  # no hard links here, or not a regular file
        if os.path.lexists(path):
            return False
        file.rename(path)
    else:
        file.unlink(missing_ok=True)
    return True
