"""Something that is to be remembered in so many words, without a conversation around it."""

import os
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from recollect.errors import MemoryRefused
from recollect.memory.extraction import applying, explicit, phrasing
from recollect.memory.extraction.applying import without_by
from recollect.memory.extraction.corrections import read_correction
from recollect.memory.extraction.covering import covers
from recollect.memory.extraction.explicit import Statement
from recollect.memory.extraction.named_files import located
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.names import slug
from recollect.model.memories import (
    AGENT,
    BY,
    OF_TEAM,
    PROJECT,
    TYPES,
    Memory,
    StoredMemory,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """`type`: None goes by the wording. `name`: None makes one, and looks for what is known already. `files`:
    what it is about, seen from where it is said. `evidence`: when and where it was said."""

    text: str
    type: str | None = None
    name: str | None = None
    description: str | None = None
    why: str = ""
    how: str = ""
    team: bool = False
    pinned: bool = False
    by_agent: bool = False
    files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    def marked(self, memory: Memory) -> Memory:
        """A memory of this, with what is known of it beside its words."""
        return replace(
            memory,
            pinned=memory.pinned or self.pinned,
            files=(*memory.files, *((path, "") for path in self.files)),
            extra={**without_by(memory).extra, **({BY: AGENT} if self.by_agent else {})},
            evidence=tuple(dict.fromkeys((*memory.evidence, *self.evidence))),
        )


@dataclass(frozen=True, slots=True)
class Remembered:
    """`known`: it was there already, and says it. `updated`: it takes the place of what it said."""

    stored: StoredMemory
    known: bool = False
    updated: bool = False


def remember(memories: Memories, wanted: Wanted, directory: str) -> Remembered:
    """The memory that says it. Raises MemoryRefused."""
    text = wanted.text.strip()
    wanted = replace(wanted, files=_seen_from(memories.places.top, directory, wanted.files))
    if not text:
        raise MemoryRefused("There is nothing to remember. Say it in `text`.")
    if wanted.type is not None and wanted.type not in TYPES:
        raise MemoryRefused(f"{wanted.type!r} is no type. Use one of {', '.join(TYPES)}.")
    description = wanted.description or phrasing.described(text) or text
    statement = Statement(
        type=wanted.type or kind_of(text),
        description=description,
        body=phrasing.body(text, wanted.why, wanted.how),
        correction=read_correction(text),
        said=text,
    )
    if wanted.name is not None or wanted.team:
        return _written(memories, statement, wanted, directory)
    # Whoever says it in so many words wants it, whatever became of it when it was said before.
    done = applying.apply(memories, [statement], (), memories.clock, directory, wanted.marked)
    for name in (*done.added, *done.updated):
        if stored := memories.get(name):
            return Remembered(stored, updated=name in done.updated)
    new = Memory("", description, statement.type, statement.body)
    for stored in memories.all().memories:
        if covers(stored.memory, new):
            return Remembered(_confirmed(memories, stored, wanted), known=True)
    raise MemoryRefused(f"It was not kept: {', '.join(each.why for each in done.skipped)}.")


def kind_of(text: str) -> str:
    """The type that the wording speaks for."""
    found = explicit.statements(text) or explicit.statements(
        f"Remember that {text[:1].lower()}{text[1:]}"
    )
    return found[0].type if found else PROJECT


def _confirmed(memories: Memories, stored: StoredMemory, wanted: Wanted) -> StoredMemory:
    """Said again: it may be pinned now."""
    old = stored.memory
    new = replace(old, pinned=old.pinned or wanted.pinned)
    if new == old or not stored.is_ours:
        return stored
    with memories.change(f"confirmed: {old.name}") as change:
        return change.write(new, stored.checksum)


def _written(memories: Memories, new: Statement, wanted: Wanted, directory: str) -> Remembered:
    """Under that name, whatever it said before; the history keeps it. Without a name, nothing is replaced."""
    name = wanted.name or phrasing.named(new.description)
    root = memories.places.top or directory
    scope = OF_TEAM if wanted.team else None
    memory = Memory(name, new.description, new.type, new.body)
    with memories.change(f"remembered: {slug(name)}") as change:
        old = change.get(name, scope)
        if old is not None and wanted.name is None:
            if covers(old.memory, memory):
                return Remembered(old, known=True)
            name = next(each for n in count(2) if not change.get(each := f"{name}-{n}", scope))
            memory, old = replace(memory, name=name), None
        if old is not None:
            if wanted.by_agent and not old.memory.by_agent:
                raise MemoryRefused(
                    f"{name} is in the user's words. Remember it under another name."
                )
            kind = wanted.type or old.memory.type
            memory = replace(old.memory, description=new.description, body=new.body, type=kind)
        made = located(wanted.marked(memory), root, memories.clock())
        stored = change.write(made, old.checksum if old else None, scope)
    if memories.get(name, scope) is None:
        raise MemoryRefused(f"{stored.path} could not be written. Make its folder writable.")
    return Remembered(stored, updated=old is not None)


def _seen_from(root: str, directory: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """From the top of the project, where they are in it."""
    whole = (os.path.normpath(Path(directory, path)) for path in files)
    return tuple(os.path.relpath(path, root or directory) for path in whole)
