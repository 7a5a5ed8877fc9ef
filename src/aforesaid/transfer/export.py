"""Writes everything that is remembered into a file: whole, private, or not at all."""

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from aforesaid import __version__
from aforesaid.model.records import NAMES, Counts, Exported, MemoryRecord, ProjectRecord, Record
from aforesaid.paths import replaced
from aforesaid.transfer.format import FORMAT, VERSION, End, Header, encoded

GZIP = ".gz"
LEVEL = 6


class Leaving(Protocol):
    """Curated memories, which are not in the store."""

    def of_user(self) -> Iterable[MemoryRecord]: ...
    def of(self, project: ProjectRecord) -> Iterable[MemoryRecord]: ...
    def of_others(self, number: int) -> Iterable[ProjectRecord | MemoryRecord]:
        """Those of projects that were not asked for, with the projects. `number`: how many there were."""


def joined(records: Iterable[Record], memories: Leaving) -> Iterator[Exported]:
    """The user's first, a project's behind the project, then what the store knows nothing of."""
    projects = 0
    yield from memories.of_user()
    for record in records:
        yield record
        if isinstance(record, ProjectRecord):
            projects += 1
            yield from memories.of(record)
    yield from memories.of_others(projects)


def write(
    records: Iterable[Exported],
    out: BinaryIO,
    *,
    at: int,
    project: str | None = None,
    replies: bool = False,
) -> Counts:
    """What was written."""
    written = Counts()
    header = Header(FORMAT, VERSION, at, __version__, project, replies)
    out.write(encoded(header))
    for record in records:
        out.write(encoded(record))
        written[NAMES[type(record)][1]] += 1
    out.write(encoded(End(written.total() + 2)))
    return written


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Owner only. It has its name when all of it is on the disk; before that, what had the name stays."""
    with replaced(path) as file:
        if path.name.endswith(GZIP):
            # No name and no time inside: the same memory gives the same bytes.
            with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file
        file.flush()
        os.fsync(file.fileno())
