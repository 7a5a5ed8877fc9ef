"""The curated memories that a command works on: those that hold in the directory it was called in."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from recollect import clock, wiring
from recollect.errors import MemoryRefused, NotFound, RecollectError
from recollect.model.memories import OF_PROJECT, OF_USER, StoredMemory

if TYPE_CHECKING:
    from recollect.memory.storage.changes import Memories


def here() -> "Memories":
    return wiring.memories(wiring.home(), str(Path.cwd()), clock.now)


def named(memories: "Memories", name: str) -> StoredMemory:
    found = memories.get(name.removesuffix(".md"))
    if found is None:
        raise NotFound(f"There is no memory {name!r} here. `recollect memory list` shows them.")
    return found


def own(memories: "Memories", name: str) -> StoredMemory:
    """One that is ours to change."""
    found = named(memories, name)
    if not is_own(found):
        raise MemoryRefused(
            f"{name!r} is the {found.scope}'s: change the file {found.path} itself."
        )
    return found


def is_own(stored: StoredMemory) -> bool:
    return stored.scope in (OF_USER, OF_PROJECT)


def _complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with suppress(RecollectError, OSError):
        found = (each.memory for each in here().all().memories)
        return [
            CompletionItem(m.name, help=m.description) for m in found if m.name.startswith(typed)
        ]
    return []


name_argument = click.argument("name", shell_complete=_complete)
