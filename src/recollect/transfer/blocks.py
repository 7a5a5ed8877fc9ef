"""Where memory comes from, in pieces that a store takes whole or not at all."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from recollect.model.records import MemoryRecord, ProjectRecord, Record


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """The curated memories of a project; of the user, if there is none."""

    project: ProjectRecord | None
    records: Iterable[MemoryRecord]


@dataclass(frozen=True, slots=True)
class Block:
    """A session with its project and all its parts, or a project alone. `into`: the project of the store
    that it goes to, where the records do not tell. `memories`: what goes beside the store."""

    project: str | None  # its name among the records
    records: Iterable[Record]
    into: int | None = None
    memories: MemoryBlock | None = None


class Source(Protocol):
    """`done` of `total`: how far it has been read, in whatever it counts. A source that is broken raises
    TransferError from `blocks`, and what it gave before is sound."""

    done: int
    total: int

    def blocks(self) -> Iterator[Block]: ...
    def close(self) -> None: ...
