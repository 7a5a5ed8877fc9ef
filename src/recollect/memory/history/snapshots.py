"""A history without git: a file per change, and every content once, in `.history`.

s12.json        {"key", "at", "reason", "files": {path: [before, after]}}, each the name of a content or null
contents/<id>   a content
known.json      {path: name of its content}: what the history has seen last

Nothing packs these files, so there is an end: an entry goes when it is older than 90 days and 500 are newer.
"""

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.clock import DAY
from recollect.memory.history.entries import Contents, Entry, Step
from recollect.memory.storage import files
from recollect.memory.storage.format import blob

FOLDER, KNOWN = ".history", "known.json"
KEPT_ENTRIES, KEPT_TIME = 500, 90 * DAY
ENTRY = re.compile(r"s([1-9][0-9]*)\.json")

Names = dict[str, str | None]  # of contents, by path; None: no such file


class SnapshotHistory:
    def __init__(self, root: Path) -> None:
        self._folder = root / FOLDER

    def known(self) -> Names:
        """What each file was when it was seen last."""
        said = self._json(KNOWN)
        return (
            {str(k): None if v is None else str(v) for k, v in said.items()}
            if isinstance(said, dict)
            else {}
        )

    def is_complete(self) -> bool:
        """Whether `known` tells of every file."""
        return isinstance(self._json(KNOWN), dict) or not self._numbers()

    def forget_known(self) -> None:
        """Git knows it now."""
        files.remove(self._folder / KNOWN)

    def learn(self, contents: Contents) -> None:
        """Take files as they are, without an entry."""
        if contents:
            names = {path: self._keep(data) for path, data in contents.items()}
            self._write(KNOWN, self.known() | names)

    def record(self, steps: Iterable[Step]) -> list[str]:
        """The ids of the entries."""
        ids = []
        known = self.known()
        numbers = self._numbers()
        recorded = {
            said.get("key"): f"s{n}" for n in numbers[:3] if (said := self._json(f"s{n}.json"))
        }
        number = numbers[0] if numbers else 0
        for step in steps:
            names = {path: self._keep(data) for path, data in step.after.items()}
            if step.key in recorded:  # a crash came before `known.json`
                ids.append(recorded[step.key])
            elif changed := {
                path: [known.get(path), name]
                for path, name in names.items()
                if known.get(path) != name
            }:
                number += 1
                said = {"key": step.key, "at": step.at, "reason": step.reason, "files": changed}
                self._write(f"s{number}.json", said)
                ids.append(f"s{number}")
            known |= names
        self._write(KNOWN, known)
        return ids

    def has(self, key: str) -> str | None:
        """The id of an entry, if it is among the last."""
        for number in self._numbers()[:3]:
            if (self._json(f"s{number}.json") or {}).get("key") == key:
                return f"s{number}"
        return None

    def log(self, limit: int | None, folders: Iterable[str] = ()) -> list[Entry]:
        found: list[Entry] = []
        starts = tuple(f"{folder}/" for folder in folders)
        for number in self._numbers():
            if limit is not None and len(found) >= limit:
                break
            said = self._json(f"s{number}.json")
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                paths = tuple(sorted(said["files"]))
                if not starts or any(path.startswith(starts) for path in paths):
                    found.append(Entry(f"s{number}", int(said["at"]), str(said["reason"]), paths))
        return found

    def contents(self, key: str) -> tuple[Contents, Contents] | None:
        """Before and after; None for an entry that is not here."""
        if not ENTRY.fullmatch(f"{key}.json") or not (said := self._json(f"{key}.json")):
            return None
        pairs = {str(path): pair for path, pair in said["files"].items()}
        return (
            {path: self.content(before) for path, (before, _) in pairs.items()},
            {path: self.content(after) for path, (_, after) in pairs.items()},
        )

    def content(self, name: str | None) -> bytes | None:
        """Raises OSError where it is lost."""
        if name is None:
            return None
        data = files.read(self._folder / "contents" / name)
        if data is None:
            raise FileNotFoundError(f"{name} is missing in {self._folder / 'contents'}")
        return data

    def outdated(self, now: int) -> list[int]:
        """The numbers of entries that may go, oldest first."""
        more = self._numbers()[KEPT_ENTRIES:]
        return [number for number in more[::-1] if self._at(number) < now - KEPT_TIME]

    def prune(self, now: int) -> None:
        """Entries first, then the contents that none has any more: a crash in between is made good by the
        next time. Only for whoever holds the lock."""
        for number in self.outdated(now):
            files.remove(self._folder / f"s{number}.json")
        wanted = {name for name in self.known().values() if name}
        for number in self._numbers():
            said = self._json(f"s{number}.json")
            if not isinstance(said, dict):
                return  # nobody knows what it needs
            wanted.update(name for pair in said.get("files", {}).values() for name in pair if name)
        contents = self._folder / "contents"
        for folder in (self._folder, contents):
            files.sweep(folder)
        with suppress(FileNotFoundError):
            for path in [each for each in contents.iterdir() if each.name not in wanted]:
                files.remove(path)

    def erase(self, keeping: Callable[[str, bytes], bytes | None]) -> int:
        """Takes contents and reasons out, as `git_erasing` does. Entries first, then what they had."""
        count = 0
        for number in self._numbers():
            said = self._json(f"s{number}.json")
            if not isinstance(said, dict):
                files.remove(self._folder / f"s{number}.json")  # nobody can tell what is in it
                count += 1
                continue
            pairs = {
                path: [self._erased(path, name, keeping) for name in pair]
                for path, pair in said["files"].items()
                if keeping(path, b"") is not None
            }
            reason = keeping("", str(said["reason"]).encode("utf-8", "surrogatepass"))
            told = said | {
                "files": pairs,
                "reason": (reason or b"erased").decode("utf-8", "replace"),
            }
            if told != said:
                self._write(f"s{number}.json", told)
                count += 1
        known = {
            path: self._erased(path, name, keeping)
            for path, name in self.known().items()
            if keeping(path, b"") is not None
        }
        if known != self.known():
            self._write(KNOWN, known)
        self.prune(0)
        return count

    def look(self, keeping: Callable[[str, bytes], bytes | None]) -> None:
        """Shows every content to the asker, with each path that it ever had."""
        for number in self._numbers():
            said = self._json(f"s{number}.json")
            files_ = said["files"] if isinstance(said, dict) else {}
            for path, pair in files_.items():
                for name in filter(None, pair):
                    with suppress(OSError):
                        keeping(path, self.content(name) or b"")

    def _erased(
        self, path: str, name: str | None, keeping: Callable[[str, bytes], bytes | None]
    ) -> str | None:
        try:
            data = self.content(name)
        except OSError:
            return None
        return None if data is None else self._keep(keeping(path, data))

    def _at(self, number: int) -> int:
        """0 where nobody can tell."""
        try:
            return int(self._json(f"s{number}.json")["at"])
        except (TypeError, KeyError, ValueError):
            return 0

    def _keep(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        path = self._folder / "contents" / blob(data)
        if not path.exists():
            files.write(path, data)
        return path.name

    def _numbers(self) -> list[int]:
        """Newest first."""
        try:
            names = [path.name for path in self._folder.iterdir()]
        except OSError:
            return []
        return sorted(
            (int(found[1]) for name in names if (found := ENTRY.fullmatch(name))), reverse=True
        )

    def _json(self, name: str) -> Any:
        try:
            return json.loads((self._folder / name).read_bytes())
        except (OSError, ValueError):
            return None

    def _write(self, name: str, said: object) -> None:
        files.write(self._folder / name, json.dumps(said, indent=1).encode() + b"\n")
