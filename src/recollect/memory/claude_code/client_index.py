"""Our lines in the client's index of its memories.

They stand between two comments, which the client does not show its model. The first one names what we have
put there, so that we know what somebody deleted. A line that somebody else wrote stays as it is, wherever
it stands, unless it leads to a file that we take away. Without an index the client makes one of all files,
once, and never adds to it; so where there is none we make it, with their memories as the client would have
listed them.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from recollect.memory.storage import files, index
from recollect.memory.storage.folders import Folder, Listing
from recollect.memory.storage.format import ENDING, INDEX_FILE
from recollect.model.memories import StoredMemory

BEGIN = re.compile(r"<!-- recollect keeps these lines(?P<how>[^:>]*):(?P<names>[^>]*)-->\s*")
END = "<!-- recollect: so far -->"
OWN_FILE, OPEN_LINE = ", in a file of its own", ", behind an open line"
COMMENT = re.compile(r"^<!--.*?-->[ \t]*\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\s*[-*]\s+\[[^\n]*?\]\((?P<file>[^()\s]+)\)")
REST = re.compile(r"- \d+ more memor\w+ (?:is|are) in this folder, not listed here\.\s*")
MOST_LINES, MOST_BYTES = 200, 25_000  # that the client loads
TRIES = 5  # at a file that somebody else is writing, too


@dataclass(slots=True)
class _Index:
    """Lines with their ends. `inside`: those between the comments that are not ours to drop."""

    before: list[str] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    how: str = ""
    names: frozenset[str] = frozenset()
    found: bool = False

    @classmethod
    def read(cls, text: str) -> "_Index":
        self = cls()
        lines = self.before
        for line in text.splitlines(keepends=True):
            if begin := BEGIN.fullmatch(line):
                self.how, self.found = begin["how"], True
                self.names |= frozenset(map(unquote, begin["names"].split()))
                lines = self.inside
            elif self.found and line.strip() == END:
                lines = self.after
            else:
                lines.append(line)
        return self

    def drop(self, ours: Iterable[str], gone: Iterable[str], place: Path) -> None:
        """Our own lines, which are written anew; elsewhere, links to what is gone."""
        gone = frozenset(gone)
        own = frozenset(ours) | gone
        self.before = [line for line in self.before if _target(line) not in gone]
        self.after = [line for line in self.after if _target(line) not in gone]
        self.inside = [
            line
            for line in self.inside
            if (name := _target(line)) not in own
            and (name is None or (place / f"{name}{ENDING}").exists())
            and not REST.fullmatch(line)
        ]

    def rest(self) -> str:
        """As it would be without us."""
        before = "".join(self.before)
        if OPEN_LINE in self.how:
            before = before.removesuffix("\n")
        return before + "".join(self.inside) + "".join(self.after)

    def text(self, ours: str, names: Iterable[str]) -> str:
        listed = "".join(f" {quote(name, safe='')}" for name in sorted(names))
        begin = f"<!-- recollect keeps these lines{self.how}:{listed} -->\n"
        block = f"{begin}{''.join(self.inside)}{ours}{END}\n"
        return "".join(self.before) + block + "".join(self.after)


def put(
    place: Path,
    ours: list[StoredMemory],
    theirs: Folder,
    *,
    gone: set[str],
    deleted: set[str],
) -> None:
    """`ours`: what is there now. `gone`: what we took away. `deleted`: what somebody else did."""
    own = {each.memory.name for each in ours}

    def changed(before: str | None) -> str | None:
        parts = _Index.read(_made(theirs) if before is None else before)
        if not parts.found:
            parts.how = OWN_FILE if before is None else ""
            if parts.before and not parts.before[-1].endswith("\n"):
                parts.before[-1] += "\n"
                parts.how = OPEN_LINE
        parts.drop(own, gone, place)
        linked = {_target(line) for line in (*parts.before, *parts.inside, *parts.after)}
        unlisted = tuple(each for each in ours if each.memory.name not in linked)
        room = MOST_LINES - 2 - sum(map(len, (parts.before, parts.inside, parts.after)))
        size = MOST_BYTES - len(parts.text("", own | deleted).encode("utf-8", "surrogateescape"))
        lines = index.index_text(Listing(unlisted), lines=room, size=size) if room > 0 else ""
        return parts.text(lines, own | deleted)

    _rewrite(place, changed)


def take_away(place: Path, theirs: Folder, *, gone: set[str]) -> None:
    """The lines and the comments, and the file if it was made for them."""

    def changed(before: str | None) -> str | None:
        if before is None:
            return None
        parts = _Index.read(before)
        parts.drop(parts.names, gone, place)
        rest = parts.rest()
        made_by_us = OWN_FILE in parts.how and (not rest.strip() or rest == _made(theirs))
        return None if made_by_us else rest

    _rewrite(place, changed)


def put_there(place: Path) -> frozenset[str]:
    """Names of memories that we have put there, whatever became of them."""
    text = _read(place)
    return _Index.read(text).names if text else frozenset()


def shown(place: Path) -> frozenset[str]:
    """Names that are in the part that the client loads."""
    text = COMMENT.sub("", _read(place) or "")
    cut = text.encode("utf-8", "surrogateescape")[:MOST_BYTES].decode("utf-8", "ignore")
    found = (_target(line) for line in cut.splitlines()[:MOST_LINES])
    return frozenset(name for name in found if name is not None)


def _made(theirs: Folder) -> str:
    """As the client makes it: a line each, the newest first."""
    listing = theirs.list()
    unreadable = (f"- [{each.path.stem}]({quote(each.path.name)})\n" for each in listing.broken)
    return "".join([*map(index.line, listing.memories), *unreadable])


def _target(line: str) -> str | None:
    """The memory that a line of the index leads to."""
    link = LINK.match(line)
    if link is None or not link["file"].endswith(ENDING):
        return None
    return unquote(link["file"]).removeprefix("./").removesuffix(ENDING)


def _read(place: Path) -> str | None:
    with suppress(files.Strange, OSError):
        return _decoded(files.read(place / INDEX_FILE))
    return None


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _rewrite(place: Path, changed: Callable[[str | None], str | None]) -> None:
    """None: no file. It is theirs, and they may write it at the same time: then their version is taken up."""
    path = place / INDEX_FILE
    with suppress(files.Strange):  # a link, perhaps; it is left alone
        for _ in range(TRIES):
            before, found = files.look(path)
            after = changed(_decoded(before))
            data = None if after is None else after.encode("utf-8", "surrogateescape")
            if data == before:
                return
            if files.read(path) != before:
                continue
            if data is None:
                files.remove(path)
            else:
                files.write(path, data, private=found is None or not found.st_mode & 0o077)
            return
