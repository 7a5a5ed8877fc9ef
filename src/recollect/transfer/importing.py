"""From a source into the store, a block at a time, so that everything else gets its turn in between."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from recollect.errors import TransferError
from recollect.model.records import Counts, MemoryRecord, ProjectRecord, TakenMemories
from recollect.store.protocol import Store
from recollect.transfer.blocks import MemoryBlock, Source

NONE = Counts()
NO_MEMORIES = TakenMemories()


class Arriving(Protocol):
    """Where curated memories go, which are not in the store."""

    def take(
        self, project: ProjectRecord | None, records: Iterable[MemoryRecord], *, undo: bool
    ) -> TakenMemories: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """What was taken up to now, what was here already, and which projects know more than before.
    `memories`: what is to be said of them beyond their numbers."""

    new: Counts = NONE
    known: Counts = NONE
    projects: frozenset[int] = frozenset()
    memories: TakenMemories = NO_MEMORIES


def run(
    store: Store, source: Source, memories: Arriving | None = None, *, undo: bool
) -> Iterator[Progress]:
    """A step for each block. It can be left at any time, and begun again: nothing is taken twice."""
    progress = Progress()
    counted: set[str | None] = set()
    store.begin_import()
    try:
        for block in source.blocks():
            taken = store.take(block.records, into=block.into, undo=undo)
            new, known = taken.new, taken.known
            if block.project in counted:  # a project is one, however many sessions it has
                new, known = replace(new, projects=0), replace(known, projects=0)
            counted.add(block.project)
            touched = progress.projects
            if taken.project_id is not None and not undo:
                touched |= {taken.project_id}
            told = progress.memories
            progress = Progress(progress.new + new, progress.known + known, touched, told)
            if block.memories and memories:
                progress = _beside(store, progress, block.memories, memories, undo=undo)
            yield progress
    except TransferError as error:
        raise TransferError(f"{error} {_so_far(progress, undo=undo)}") from None
    finally:
        source.close()
        if not undo:
            store.end_import()


def _beside(
    store: Store, progress: Progress, block: MemoryBlock, memories: Arriving, *, undo: bool
) -> Progress:
    """With the memories of a block, which are all taken or none."""
    taken = memories.take(block.project, block.records, undo=undo)
    touched = progress.projects
    if block.project and taken.new and not undo:
        found = store.find_project(block.project.repository)
        touched |= set() if found is None else {found}
    return Progress(
        progress.new + Counts(memories=taken.new),
        progress.known + Counts(memories=taken.known),
        touched,
        progress.memories + taken,
    )


def _so_far(progress: Progress, *, undo: bool) -> str:
    if not any(progress.new):
        return "Nothing would be taken." if undo else "Nothing was taken."
    new = progress.new
    sessions, notes = _count(new.sessions, "new session"), _count(new.observations, "observation")
    memories = f", and {_count(new.memories, 'memory')}" if new.memories else ""
    what = f"{sessions} with {notes}{memories}; nothing of what follows."
    if undo:
        return f"What stands before that would be taken: {what} Nothing was changed."
    again = "Run it again with a whole file: nothing is taken twice."
    return f"What stands before that was taken: {what} {again}"


def _count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
