"""Imports a source into the store, a block at a time, so that everything else gets its turn in between.

A block is imported whole or not at all. What others exported, or another program kept, was not redacted
by us, so a `redactor` goes over it.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from aforesaid.english import count
from aforesaid.errors import TransferError
from aforesaid.model.records import (
    Counts,
    MemoryImportResult,
    MemoryRecord,
    ProjectRecord,
    Record,
    map_texts,
)
from aforesaid.privacy import payloads
from aforesaid.privacy.redactor import Redactor
from aforesaid.store.store import Store

R = TypeVar("R", bound=Record | MemoryRecord)


@dataclass(frozen=True, slots=True)
class Block:
    """A session with its project and all its parts, or a project alone; read once. `into`: the project of the
    store that it goes to, where the records do not say. `memories`: curated ones of the project, or of the
    user; they are complete when the records have been read."""

    records: Iterable[Record]
    project: ProjectRecord | None = None
    into: int | None = None
    memories: Iterable[MemoryRecord] = ()


class Source(Protocol):
    """`done` of `total`: progress. A broken one raises TransferError from `blocks`."""

    done: int
    total: int

    def blocks(self) -> Iterator[Block]: ...
    def close(self) -> None: ...


class MemoryImport(Protocol):
    """Where curated memories go, which are not in the store."""

    def take(
        self, project: ProjectRecord | None, records: Iterable[MemoryRecord], *, undo: bool
    ) -> MemoryImportResult: ...


@dataclass(slots=True)
class Progress:
    """What was imported, what was here already, and which projects have changed."""

    new: Counts = field(default_factory=Counts)
    known: Counts = field(default_factory=Counts)
    projects: set[int] = field(default_factory=set)
    memories: MemoryImportResult = field(default_factory=MemoryImportResult)


def run(
    store: Store,
    source: Source,
    memories: MemoryImport | None = None,
    *,
    redactor: Redactor | None = None,
    undo: bool,
) -> Generator[Progress, None, None]:
    """A step for each block. It can be left at any time, and begun again: nothing is imported twice."""
    progress = Progress()
    counted: set[str | None] = set()
    store.transfer.begin()
    try:
        for block in source.blocks():
            records, curated = iter(block.records), iter(block.memories)
            if redactor is not None:
                records = map(partial(_redact, redactor), block.records)
                curated = map(partial(_redact, redactor), block.memories)
            imported = store.transfer.import_records(records, into=block.into, undo=undo)
            touched = {imported.project_id}
            name = block.project.project if block.project else None
            if name in counted:  # a project is one, however many sessions it has
                imported.new.pop("projects", None)
                imported.known.pop("projects", None)
            counted.add(name)
            progress.new += imported.new
            progress.known += imported.known
            if memories is not None:
                result = memories.take(block.project, curated, undo=undo)
                progress.new["memories"] += result.new
                progress.known["memories"] += result.known
                progress.memories += result
                if block.project and result.new:
                    touched.add(store.projects.find(block.project.repository, local=False))
            if not undo:
                progress.projects |= {key for key in touched if key is not None}
            yield progress
    except TransferError as error:
        raise TransferError(f"{error} {_describe(progress.new, undo=undo)}") from None
    finally:
        source.close()
        if not undo:
            store.transfer.end()


def _describe(new: Counts, *, undo: bool) -> str:
    if not new.total():
        return "Nothing would be imported." if undo else "Nothing was imported."
    notes = count(new["observations"], "observation")
    memories = f", and {count(new['memories'], 'memory')}" if new["memories"] else ""
    what = (
        f"{count(new['sessions'], 'new session')} with {notes}{memories}; nothing of what follows."
    )
    if undo:
        return f"What stands before that would be imported: {what} Nothing was changed."
    again = "Run it again with a whole file: nothing is imported twice."
    return f"What stands before that was imported: {what} {again}"


def _redact(redactor: Redactor, record: R) -> R:
    redacted: R = map_texts(record, redactor.text, lambda body: payloads.redacted(redactor, body))
    return redacted
