"""Taking a change back: every file gets the bytes it had before. That is a change, and can be undone."""

from dataclasses import dataclass
from pathlib import Path

from recollect.errors import Edited, MemoryRefused, NotFound
from recollect.memory.history.history import Entry
from recollect.memory.storage.changes import Memories

NAMED = 5


@dataclass(frozen=True, slots=True)
class Undone:
    """`undone`: the change that was taken back. `entry`: the id of the one that did it; None if there was
    nothing left to do. `paths`: the files that were put back, below the folder of all memories."""

    undone: Entry
    entry: str | None
    paths: tuple[str, ...]
    kept_by_hand: tuple[Path, ...] = ()


def undo(memories: Memories, entry_id: str | None = None, *, force: bool = False) -> Undone:
    """The change with that id, or the last one that touched these memories. Raises MemoryRefused where it
    changed other projects, too, and Edited where a file is no longer what it made of it; `force` puts all
    back nevertheless: the history keeps what was there."""
    root = memories.places.root
    with memories.change("", forgiving=True) as change:
        history = memories.history
        entry = history.entry(entry_id) if entry_id else _last(memories)
        change.reason = f"undo {entry.id[:12]}: {entry.reason}"
        elsewhere = _elsewhere(memories, entry)
        if elsewhere and not force:
            raise MemoryRefused(
                f"The change {entry.id[:12]} is of another project, too: {', '.join(elsewhere[:NAMED])}. "
                "Nothing was undone; `--force` takes back all of it."
            )
        before, after = history.contents(entry.id)
        current = {path: change.content(root / path) for path in before}
        edited = [path for path in before if current[path] not in (after[path], before[path])]
        if edited and not force:
            names = ", ".join(edited[:NAMED])
            raise Edited(
                f"Changed since: {names}. Nothing was undone; `--force` puts the files back anyway."
            )
        for path, data in before.items():
            change.put(root / path, data, together=entry.id)
        paths = tuple(path for path in before if current[path] != before[path])
    kept = change.kept_by_hand
    return Undone(entry, change.entry, () if kept else paths, kept)


def _last(memories: Memories) -> Entry:
    for entry in memories.history.log(1, memories.folders):
        return entry
    raise NotFound("Nothing has been changed yet.")


def _elsewhere(memories: Memories, entry: Entry) -> list[str]:
    within = tuple(f"{folder}/" for folder in memories.folders)
    return [path for path in entry.paths if not path.startswith(within)]
