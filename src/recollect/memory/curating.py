"""What people do to single memories, by their names: look, pin, rewrite, retire, bring back.

Whoever calls tells the worker afterwards: the brief names memories.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from recollect.errors import ConfigError, Edited, MemoryRefused, NotFound
from recollect.memory.storage import files
from recollect.memory.storage.changes import Change, Memories
from recollect.memory.storage.checking import Checked
from recollect.memory.storage.format import ENDING, checksum, parse
from recollect.model.memories import Broken, Memory, StoredMemory
from recollect.text import tokens

Plain = dict[str, object]


def named(memories: Memories, name: str) -> StoredMemory:
    found = memories.get(name.removesuffix(ENDING))
    if found is None:
        raise NotFound(f"There is no memory {name!r} here. `recollect memory list` shows them.")
    return found


def own(memories: Memories, name: str) -> StoredMemory:
    """One that is ours to change."""
    found = named(memories, name)
    if not found.is_ours:
        raise MemoryRefused(
            f"{name!r} is the {found.scope}'s: change the file {found.path} itself."
        )
    return found


def retire(memories: Memories, name: str, why: str) -> str:
    """Tell a memory no longer. Its name, as the file has it."""
    stored = own(memories, name)
    with _change(memories, f"retired: {stored.memory.name}") as change:
        change.retire(stored.memory.name, why)
    return stored.memory.name


def restore(memories: Memories, name: str) -> str:
    with _change(memories, f"restored: {name}") as change:
        restored = change.restore(name.removesuffix(ENDING))
    return restored.memory.name


def pin(memories: Memories, name: str, *, pinned: bool) -> None:
    stored = own(memories, name)
    with _change(memories, f"{'pinned' if pinned else 'unpinned'}: {name}") as change:
        change.write(replace(stored.memory, pinned=pinned), expected=stored.checksum)


def rewrite(memories: Memories, stored: StoredMemory, text: str, expected: str) -> None:
    """The whole file anew. `expected`: the checksum of what was seen; Edited where it is another one."""
    match parse(text.encode("utf-8", "replace"), stored.path):
        case Broken(why=why):
            raise ConfigError(f"That is no memory: {why}. Nothing was changed.")
        case written:
            put(memories, written, expected)


def put(memories: Memories, memory: Memory, expected: str) -> None:
    with _change(memories, f"edited: {memory.name}") as change:
        change.write(memory, expected=expected)


@contextmanager
def _change(memories: Memories, reason: str) -> Iterator[Change]:
    """Raises Edited where somebody edited a file in that very moment: then it was left alone."""
    with memories.change(reason) as change:
        yield change
    if change.kept_by_hand:
        raise Edited


def plain(stored: StoredMemory) -> Plain:
    """For programs."""
    one = stored.memory
    return {
        "name": one.name,
        "description": one.description,
        "type": one.type,
        "of": stored.scope,
        "pinned": one.pinned,
        "by_agent": one.by_agent,
        "body": one.body,
        "created": one.created,
        "updated": one.updated,
        "evidence": one.evidence,
        "files": [path for path, _ in one.files],
        "replaced_by": one.replaced_by,
        "path": str(stored.path),
        "tokens": tokens(one.body),
    }


def flags(checked: Checked) -> Plain:
    """What speaks against a memory, for programs."""
    return {
        "changed": checked.freshness.changed,
        "gone": checked.freshness.gone,
        "dead_links": checked.dead_links,
    }


def whole(stored: StoredMemory) -> tuple[str, str]:
    """The file's text as it is now, and its checksum."""
    try:
        data = files.read(stored.path)
    except (OSError, files.Strange):
        data = None
    if data is None:
        raise NotFound(f"{stored.path} is gone. `recollect memory list` shows what there is.")
    return data.decode("utf-8", "replace"), checksum(data)
