"""The curated memories that a command works on: those that hold in the directory it was called in."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from recollect import clock, wiring
from recollect.errors import MemoryRefused, NotFound, RecollectError
from recollect.model.memories import StoredMemory
from recollect.paths import Paths
from recollect.worker import contact

if TYPE_CHECKING:
    from recollect.memory.storage.changes import Memories


def here() -> "Memories":
    return wiring.memories(wiring.home(), str(Path.cwd()), clock.now)


def index(memories: "Memories") -> list[StoredMemory]:
    """What the brief names."""
    from recollect.memory.choosing import selecting

    return selecting.index(memories)


def changed() -> None:
    """Has the worker write the brief anew. Where it cannot, its next answer is right."""
    with suppress(RecollectError):
        contact.order(Paths.of(os.environ), "memories-changed", dir=str(Path.cwd()))


def named(memories: "Memories", name: str) -> StoredMemory:
    found = memories.get(name.removesuffix(".md"))
    if found is None:
        raise NotFound(f"There is no memory {name!r} here. `recollect memory list` shows them.")
    return found


def own(memories: "Memories", name: str) -> StoredMemory:
    """One that is ours to change."""
    found = named(memories, name)
    if not found.is_ours:
        raise MemoryRefused(
            f"{name!r} is the {found.scope}'s: change the file {found.path} itself."
        )
    return found


def retire(memories: "Memories", name: str, why: str) -> str:
    """Tell a memory no longer. Its name, as the file has it."""
    stored = own(memories, name)
    with memories.change(f"retired: {stored.memory.name}") as change:
        change.retire(stored.memory.name, why)
    changed()
    return stored.memory.name


def restore(memories: "Memories", name: str) -> str:
    with memories.change(f"restored: {name}") as change:
        restored = change.restore(name.removesuffix(".md"))
    changed()
    return restored.memory.name


def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with suppress(RecollectError, OSError):
        found = (each.memory for each in here().all().memories)
        return [
            CompletionItem(m.name, help=m.description) for m in found if m.name.startswith(typed)
        ]
    return []


name_argument = click.argument("name", shell_complete=complete)
