"""Spool files: listing them in pages, and reading one as a redacted capture.

Neither the number of files nor the size of one is bounded, so a large file is never in memory as a whole.
A payload of up to 2 MB is kept as it is, without attachments; a larger one is cut and marked
(`payload/shorten.py`).
"""

import heapq
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from aforesaid.model.events import Capture, Unreadable, parse_capture
from aforesaid.paths import write_private
from aforesaid.payload.limits import PARSED_BYTES, NotJson, too_large
from aforesaid.payload.shorten import MOST_READ, Keep, cut, fit_payload
from aforesaid.privacy import payloads, private
from aforesaid.privacy.redactor import Redactor

NO_ROOM = "there is no room for more (`limits.home_mb`, `limits.free_mb`)"
LITTLE = Keep(head=512, tail=256, out=4096)
LONGEST_HEADER = 1024 * 1024  # bytes: the agent, the hook and a directory
PAGE = 20_000  # files: 8 MB of names and times; each page lists the whole folder
LARGE = 256 * 1024  # bytes; to redact more can take a second
MOST_LARGE = 1_000  # per page
TOOL_HOOK = b"save"
WHOLE = 512 * 1024  # bytes of an unreadable file that are kept
PART, OVERLAP = 4 * 1024 * 1024, 1024 * 1024  # bytes. A match longer than OVERLAP can be missed.


class Entry(NamedTuple):
    """A file of a folder. `at_ns`: mtime in nanoseconds."""

    at_ns: int
    name: str
    size: int
    owner: int


@dataclass(frozen=True, slots=True)
class Page:
    """`small`: the oldest, in the order of time. `large`: tool events that may be stored after them.
    `is_last`: no other small ones were waiting."""

    small: list[Entry]
    large: list[Entry]
    is_last: bool

    @property
    def extent(self) -> tuple[list[Entry], list[Entry], int, list[Entry]]:
        """Equal for two pages if nothing was removed in between."""
        return self.small[:1], self.small[-1:], len(self.small), self.large


def list_page(folder: Path) -> Page:
    """One look at the whole folder, in bounded memory. The order is by mtime, when the last byte was written;
    the name breaks ties."""
    large: list[Entry] = []

    def small() -> Iterator[Entry]:
        for entry in entries(folder):
            if entry.size <= LARGE or not _can_wait(folder / entry.name):
                yield entry
            elif len(large) < MOST_LARGE:
                large.append(entry)

    found = heapq.nsmallest(PAGE + 1, small())
    return Page(found[:PAGE], sorted(large), is_last=len(found) <= PAGE)


def entries(folder: Path) -> Iterator[Entry]:
    """The regular files of a folder, in no order. Links are no captures: they may lead anywhere."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
        for entry in found:
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield Entry(status.st_mtime_ns, entry.name, status.st_size, status.st_uid)


def oldest_first(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file with its size, in pages: there may be a million. The caller deletes what it is given."""
    page: list[Entry] = []
    while (found := heapq.nsmallest(PAGE, entries(folder))) != page:
        page = found
        for _, name, size, _ in page:
            yield folder / name, size


def _can_wait(path: Path) -> bool:
    """Whether a large capture may be stored after later ones. Prompts and ends number the turns, so they have
    to come in order; a tool event finds its turn afterwards. So does what is no capture at all."""
    try:
        with path.open("rb") as file:
            words = file.read(256).split(b" ", 3)
    except OSError:
        return True
    return len(words) < 3 or words[2] == TOOL_HOOK


def read(path: Path, entry: Entry) -> Capture | Unreadable:
    """Raises OSError; FileNotFoundError if the file is gone."""
    if entry.owner != os.geteuid():
        return Unreadable(f"it belongs to another user ({entry.owner}): it is none of ours")
    at, is_large = entry.at_ns // 1_000_000, entry.size > PARSED_BYTES + LONGEST_HEADER
    try:
        with path.open("rb") as source:
            start = source.read(LONGEST_HEADER if is_large else -1)
            capture = parse_capture(entry.name, start, at)
            if isinstance(capture, Unreadable):
                return capture
            if not is_large:
                return replace(capture, body=fit_payload(capture.body))
            source.seek(len(start) - len(capture.body))
            return replace(capture, body=cut(source, too_large(entry.size - source.tell())))
    except NotJson as error:
        return Unreadable(f"the payload is not JSON ({error}), and too much to be kept as it is")


def shortened(body: bytes) -> bytes:
    """What is kept of a payload where there is no room. One that takes no more than that stays whole."""
    if len(body) <= 2 * LITTLE.out:
        return body
    try:
        return cut(BytesIO(body), NO_ROOM, LITTLE)
    except NotJson:  # in another encoding
        return body


def redacted_capture(redactor: Redactor, capture: Capture) -> Capture:
    """The same bytes if there is nothing to redact, so that the same event has the same content from every
    source."""
    body = payloads.redacted(redactor, capture.body)
    directory = redactor.text(capture.project_dir)
    if body is capture.body and directory == capture.project_dir:
        return capture
    return replace(capture, body=body, project_dir=directory)


def set_aside(redactor: Redactor, path: Path, target: Path) -> None:
    """Move a file that cannot be read, without its secrets. Of a large one the beginning is kept, and nothing
    if it has private parts, or may have some because it is too large to be searched. Raises
    FileNotFoundError if it is gone."""
    with path.open("rb") as file:
        data, size = file.read(WHOLE), os.fstat(file.fileno()).st_size
    if size > MOST_READ or (size > WHOLE and has_private(path)):
        shown = b"[left out: %d bytes]" % size
    else:
        shown = payloads.raw(redactor, data)
        if size > WHOLE:
            shown += b" [%d bytes left out]" % (size - WHOLE)
    if shown is data:
        path.replace(target)
        return
    write_private(target, shown)
    path.unlink()


def has_private(path: Path) -> bool:
    """Whether a tag stands in the part of a file that is read. Of a payload that is shortened, the tags may
    be what is left out, so this must be known before."""
    return contains(path, private.has_tag, MOST_READ)


def contains(path: Path, matching: Callable[[str], bool], most: int | None = None) -> bool:
    """Whether something in the file, or in its first `most` bytes, matches. Searches in overlapping parts: a
    file may have gigabytes."""
    part, read = b"", 0
    with path.open("rb") as file:
        while (most is None or read < most) and (following := file.read(PART)):
            read += len(following)
            part = part[-OVERLAP:] + following
            if matching(part.decode("utf-8", "surrogateescape")):
                return True
    return False
