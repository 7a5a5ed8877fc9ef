"""From a source into the store, a block at a time, so that everything else gets its turn in between."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from recollect.errors import TransferError
from recollect.model.records import Counts
from recollect.store.protocol import Store
from recollect.transfer.blocks import Source

NONE = Counts()


@dataclass(frozen=True, slots=True)
class Progress:
    """What was taken up to now, what was here already, and which projects know more than before."""

    new: Counts = NONE
    known: Counts = NONE
    projects: frozenset[int] = frozenset()


def run(store: Store, source: Source, *, undo: bool) -> Iterator[Progress]:
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
            progress = Progress(progress.new + new, progress.known + known, touched)
            yield progress
    except TransferError as error:
        raise TransferError(f"{error} {_so_far(progress, undo=undo)}") from None
    finally:
        source.close()
        if not undo:
            store.end_import()


def _so_far(progress: Progress, *, undo: bool) -> str:
    if not any(progress.new):
        return "Nothing would be taken." if undo else "Nothing was taken."
    new = progress.new
    sessions, notes = _count(new.sessions, "new session"), _count(new.observations, "observation")
    what = f"{sessions} with {notes}; nothing of what follows."
    if undo:
        return f"What stands before that would be taken: {what} Nothing was changed."
    again = "Run it again with a whole file: nothing is taken twice."
    return f"What stands before that was taken: {what} {again}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
