"""Something that is to be remembered in so many words, without a conversation around it."""

from dataclasses import dataclass, replace

from recollect.errors import MemoryRefused
from recollect.memory.extraction import applying, explicit, phrasing
from recollect.memory.extraction.corrections import read_correction
from recollect.memory.extraction.explicit import Statement
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.names import slug
from recollect.model.memories import OF_TEAM, PROJECT, TYPES, Memory, StoredMemory


@dataclass(frozen=True, slots=True)
class Wanted:
    """`type`: None goes by the wording. `name`: None makes one, and looks for what is known already."""

    text: str
    type: str | None = None
    name: str | None = None
    description: str | None = None
    why: str = ""
    how: str = ""
    team: bool = False


def remember(memories: Memories, wanted: Wanted, directory: str) -> StoredMemory:
    """The memory that says it. Raises MemoryRefused."""
    text = wanted.text.strip()
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
        return _written(memories, statement, wanted)
    done = applying.apply(memories, [statement], (), memories.clock, directory)
    for name in (*done.added, *done.updated):
        if stored := memories.get(name):
            return stored
    new = Memory("", description, statement.type, statement.body)
    for stored in memories.all().memories:
        if applying.covers(stored.memory, new):
            return stored
    raise MemoryRefused(f"It was not kept: {', '.join(each.why for each in done.skipped)}.")


def kind_of(text: str) -> str:
    """The type that the wording speaks for."""
    found = explicit.statements(text) or explicit.statements(
        f"Remember that {text[:1].lower()}{text[1:]}"
    )
    return found[0].type if found else PROJECT


def _written(memories: Memories, new: Statement, wanted: Wanted) -> StoredMemory:
    """Under that name, whatever it said before; the history keeps that."""
    name = wanted.name or phrasing.named(new.description)
    scope = OF_TEAM if wanted.team else None
    with memories.change(f"remembered: {slug(name)}") as change:
        old = change.get(name, scope)
        if old is None:
            return change.write(Memory(name, new.description, new.type, new.body), scope=scope)
        kind = wanted.type or old.memory.type
        again = replace(old.memory, description=new.description, body=new.body, type=kind)
        return change.write(again, old.checksum, scope)
