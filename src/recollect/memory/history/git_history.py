"""A history in a git repository of its own, by the git program.

Contents go in by `git fast-import`, as they were meant and not as they are in the folder a moment later;
there is no index and no working tree that a crash could leave locked. Nothing of the user's git takes part:
see git_program.py. Every call may fail, and then raises GitFailed.
"""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from recollect.memory.history.entries import Contents, Entry, Step
from recollect.memory.history.git_program import SECONDS, GitFailed, git

FOLDER = ".git"
BRANCH = "refs/heads/memory"
COMMIT = re.compile(r"[0-9a-f]{40}")
LONG = 50.0  # seconds: less than a writer waits for its turn
# New contents are files of their own until they are packed. One of their 256 folders tells how many.
LOOSE, SAMPLE, PACKS = 2000, 256, 30
WHO = "recollect <recollect@localhost>"
KEY, AT, QUIET = "Recollect-Key: ", "Recollect-At: ", "Recollect-Quiet: yes"
QUIET_ONES = 20  # entries that are not told: there are few


@dataclass(frozen=True, slots=True)
class _Record:
    commit: str
    seconds: int
    message: str
    paths: tuple[str, ...]


class GitHistory:
    def __init__(self, root: Path, lock: int | None = None) -> None:
        """`lock`: a descriptor that git keeps open, so that the lock outlives us while it writes."""
        self._root = root
        self._lock = lock

    @staticmethod
    def is_there() -> bool:
        return shutil.which("git") is not None

    @property
    def folder(self) -> Path:
        return self._root / FOLDER

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()

    def known(self, folders: Iterable[str]) -> dict[str, str]:
        """The name of each file's content in the last entry."""
        if self.tip() is None:
            return {}
        listed = self._git("ls-tree", "-r", "-z", BRANCH, "--", *(f"{each}/" for each in folders))
        found = {}
        for line in filter(None, listed.split(b"\0")):
            about, _, path = line.partition(b"\t")
            found[os.fsdecode(path)] = about.split()[2].decode()
        return found

    def tip(self) -> str | None:
        """The last commit. Where git has put it into a file of its own, nobody needs to ask git."""
        if not self.exists:
            return None
        with suppress(OSError):
            found = (self.folder / BRANCH).read_text("ascii", "replace").strip()
            if COMMIT.fullmatch(found):
                return found
        return self._git("for-each-ref", "--format=%(objectname)", BRANCH).decode().strip() or None

    def has(self, key: str) -> str | None:
        """The id of an entry, if it is among the last."""
        if self.tip() is None:
            return None
        for record in self._records("-n", "3", BRANCH):
            if f"{KEY}{key}" in record.message.splitlines():
                return record.commit
        return None

    def record(self, steps: Sequence[Step]) -> list[str]:
        """The ids of the entries, in one go: all of them, or none."""
        if not self.exists:
            self._make()
        self._unlock()
        commands = self._stream(steps, self.tip())
        answer = self._git("fast-import", "--quiet", "--done", data=commands)
        return answer.decode().split()

    def is_untidy(self) -> bool:
        objects = self.folder / "objects"
        loose = sum(1 for _ in objects.glob("17/*")) * SAMPLE
        return loose > LOOSE or sum(1 for _ in objects.glob("pack/*.pack")) > PACKS

    def tidy(self) -> None:
        """Git does this by itself now and then, but not while somebody waits for a memory."""
        self._git("gc", "--quiet", "--prune=now", seconds=LONG)

    def log(self, limit: int | None, folders: Iterable[str] = ()) -> list[Entry]:
        if self.tip() is None:
            return []
        chosen = ("--full-diff", BRANCH, "--", *(f"{each}/" for each in folders))
        number = None if limit is None else limit + QUIET_ONES
        while True:
            most = () if number is None else ("-n", str(number))
            records = self._records(*most, *chosen)
            told = [entry for record in records if (entry := _entry(record))]
            if number is None or len(records) < number or len(told) >= (limit or 0):
                return told[:limit]
            number *= 2

    def contents(self, key: str) -> tuple[Contents, Contents] | None:
        """Before and after; None for an entry that is not here."""
        if not all(c in "0123456789abcdef" for c in key) or len(key) < 4 or self.tip() is None:
            return None
        try:
            listed = self._git(
                "diff-tree", "-r", "-z", "--root", "--no-renames", "--no-commit-id", key
            )
        except GitFailed:
            return None
        parts = listed.split(b"\0")
        names: dict[str, tuple[str, str]] = {}
        for about, path in zip(parts[0::2], parts[1::2], strict=False):
            _, _, before, after, _ = about.decode().split()
            names[os.fsdecode(path)] = (before, after)
        contents = self._contents({name for pair in names.values() for name in pair})
        return (
            {path: contents[before] for path, (before, _) in names.items()},
            {path: contents[after] for path, (_, after) in names.items()},
        )

    def _contents(self, names: Iterable[str]) -> dict[str, bytes | None]:
        wanted = sorted(name for name in names if name.strip("0"))
        found: dict[str, bytes | None] = {"0" * 40: None}
        data = self._git(
            "cat-file", "--batch", data="".join(f"{each}\n" for each in wanted).encode()
        )
        at = 0
        for name in wanted:
            end = data.index(b"\n", at)
            said = data[at:end].split()
            if len(said) != 3:
                raise GitFailed("a content is missing")
            size = int(said[2])
            found[name] = data[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def _records(self, *arguments: str) -> list["_Record"]:
        """Between the parts is a byte that no name and no message has. The paths come last, the first of
        them in a new line, up to an empty part."""
        form = "--format=%x00%H%x00%ct%x00%B"
        said = self._git("log", form, "-z", "--name-only", "--no-renames", *arguments)
        parts = iter(said.split(b"\0"))
        found = []
        while commit := next((part for part in parts if part), None):
            seconds, message = next(parts), next(parts)
            listed = takewhile(bool, parts)
            paths = tuple(sorted(os.fsdecode(path.removeprefix(b"\n")) for path in listed))
            text = message.decode("utf-8", "replace")
            found.append(_Record(commit.decode(), int(seconds), text, paths))
        return found

    def _stream(self, steps: Sequence[Step], tip: str | None) -> bytes:
        parts: list[bytes] = []
        for number, step in enumerate(steps, 1):
            quiet = "" if step.told else f"{QUIET}\n"
            message = f"{step.reason}\n\n{KEY}{step.key}\n{AT}{step.at}\n{quiet}".encode(
                "utf-8", "replace"
            )
            parts.append(f"commit {BRANCH}\nmark :{number}\n".encode())
            parts.append(f"committer {WHO} {max(0, step.at) // 1000} +0000\n".encode())
            parts.append(b"data %d\n%s\n" % (len(message), message))
            if number == 1 and tip is not None:
                parts.append(f"from {tip}\n".encode())
            for path, data in step.after.items():
                if data is None:
                    parts.append(b"D %s\n" % _quoted(path))
                else:
                    parts.append(b"M 100644 inline %s\n" % _quoted(path))
                    parts.append(b"data %d\n%s\n" % (len(data), data))
            parts.append(b"\n")
            if step.told:
                parts.append(f"get-mark :{number}\n".encode())
        return b"".join([*parts, b"done\n"])

    def _make(self) -> None:
        """Whole or not at all: it gets its name when it is complete. Bare: there is nothing to check out."""
        new = self._root / f"{FOLDER}.new"
        shutil.rmtree(new, ignore_errors=True)
        git(new, "init", "--quiet", "--bare", "--template=", str(new), lock=self._lock)
        git(new, "symbolic-ref", "HEAD", BRANCH, lock=self._lock)
        new.replace(self.folder)

    def _unlock(self) -> None:
        """We hold the lock of all memories: a lock in here was left by a git that was killed."""
        for name in ("HEAD.lock", f"{BRANCH}.lock", "packed-refs.lock"):
            with suppress(OSError):
                (self.folder / name).unlink(missing_ok=True)

    def _git(self, *arguments: str, data: bytes = b"", seconds: float = SECONDS) -> bytes:
        return git(self.folder, *arguments, data=data, lock=self._lock, seconds=seconds)


def _entry(record: _Record) -> Entry | None:
    """None for what is not told. A commit that somebody made by hand is told as it is."""
    reason, _, last = record.message.rstrip().rpartition("\n\n")
    lines = last.splitlines()
    if not lines or not lines[0].startswith(KEY):
        return Entry(record.commit, record.seconds * 1000, record.message.strip(), record.paths)
    if QUIET in lines:
        return None
    times = [line.removeprefix(AT) for line in lines if line.startswith(AT)]
    at = int(times[0]) if times and times[0].isdecimal() else record.seconds * 1000
    return Entry(record.commit, at, reason, record.paths)


def _quoted(path: str) -> bytes:
    """As git reads it: any bytes but the end of a line, and the first may not be a quote."""
    raw = os.fsencode(path)
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        raw = raw.replace(plain, escaped)
    return b'"%s"' % raw
