"""Memories without their secrets. A file that somebody wrote by hand keeps its bytes; what is told of it
has marks.

Whoever changes a memory has seen the marks. A text that comes back with them unchanged stays as the file
has it.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.memory.storage.folders import Listing
from recollect.model.memories import Memory, StoredMemory
from recollect.privacy import payloads
from recollect.privacy.redactor import Redactor

# The same files are read at every prompt.
REMEMBERED = 2048
_known: dict[tuple[Redactor, Path, str], Memory] = {}


def listing(redactor: Redactor, found: Listing) -> Listing:
    return replace(found, memories=tuple(stored(redactor, each) for each in found.memories))


def stored(redactor: Redactor, found: StoredMemory) -> StoredMemory:
    key = (redactor, found.path, found.checksum)
    memory = _known.get(key)
    if memory is None:
        if len(_known) >= REMEMBERED:
            _known.clear()
        memory = _known[key] = unsaid(redactor, found.memory)
    return found if memory == found.memory else replace(found, memory=memory)


def unsaid(redactor: Redactor, memory: Memory) -> Memory:
    return replace(memory, **_texts(redactor, memory))


def written(redactor: Redactor, memory: Memory, old: Memory | None) -> Memory:
    """What goes into the file: new texts with marks, old ones as they are there."""
    new = unsaid(redactor, memory)
    if old is None:
        return new
    kept = {
        name: getattr(old, name)
        for name, shown in _texts(redactor, old).items()
        if getattr(memory, name) in (getattr(old, name), shown)
    }
    return replace(new, **kept)


def _texts(redactor: Redactor, memory: Memory) -> dict[str, Any]:
    """The fields that may hold a secret, with marks in its place."""
    return {
        "description": redactor.text(memory.description),
        "body": redactor.text(memory.body),
        "evidence": redactor.texts(memory.evidence),
        "extra": payloads.value(redactor, dict(memory.extra)),
    }
