"""The curated memories that a command works on: those that hold in the directory it was called in."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from recollect import clock, wiring
from recollect.errors import RecollectError
from recollect.paths import Paths
from recollect.worker import contact

if TYPE_CHECKING:
    from recollect.memory.storage.changes import Memories


def here() -> "Memories":
    return wiring.memories(wiring.home(), str(Path.cwd()), clock.now)


def changed(name: str | None = None, what: str = "changed") -> None:
    """Has the worker write the brief anew, and tell who watches. If it cannot, its next answer is right."""
    said = {"dir": str(Path.cwd()), "name": name, "what": what}
    with suppress(RecollectError):
        contact.order(Paths.of(os.environ), "memories-changed", **said)


def retire(memories: "Memories", name: str, why: str) -> str:
    """Tell a memory no longer. Its name, as the file has it."""
    from recollect.memory import curating

    name = curating.retire(memories, name, why)
    changed(name, "retired")
    return name


def restore(memories: "Memories", name: str) -> str:
    from recollect.memory import curating

    name = curating.restore(memories, name)
    changed(name, "restored")
    return name


def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    with suppress(RecollectError, OSError):
        found = (each.memory for each in here().all().memories)
        return [
            CompletionItem(m.name, help=m.description) for m in found if m.name.startswith(typed)
        ]
    return []


name_argument = click.argument("name", shell_complete=complete)
