"""A new version of a memory: with its times, as bytes, and refused where it could not be read back."""

from dataclasses import replace
from pathlib import Path

from recollect.errors import MemoryRefused
from recollect.memory.storage.format import LARGEST, normal, parse, render
from recollect.model.memories import Broken, Memory


def stamped(memory: Memory, old: Memory | None, now: int) -> Memory:
    """A missing `created` is filled in, and `updated` if something else changed."""
    tidy = normal(memory)
    if old is None:
        return replace(tidy, created=tidy.created or now)
    tidy = replace(tidy, created=tidy.created or old.created)
    if tidy.updated in (0, old.updated):
        return replace(tidy, updated=old.updated if same(tidy, old) else now)
    return tidy


def same(one: Memory, other: Memory) -> bool:
    """But for the time."""
    return replace(one, updated=0) == replace(other, updated=0)


def rendered(memory: Memory, path: Path) -> bytes:
    """Raises MemoryRefused."""
    data = render(memory).encode()
    if len(data) > LARGEST:
        raise MemoryRefused(f"The memory is larger than {LARGEST // 1024} KB. Make it shorter.")
    read = parse(data, path)
    if isinstance(read, Broken):
        raise MemoryRefused(f"The memory {memory.name!r} was not written: {read.why}.")
    return data
