"""What people do to single memories, by their names: look, pin, rewrite, retire, bring back.

Whoever calls tells the worker afterwards: the brief names memories.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from recollect.errors import ConfigError, Edited, MemoryRefused, NotFound
from recollect.memory.history.history import Entry, History
from recollect.memory.storage import files, retiring
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


def changes_of(memories: Memories, name: str) -> list[Entry]:
    """Every change of one memory, the latest first; also when it was retired, or was called otherwise."""
    history = memories.history
    names = {name.removesuffix(ENDING)}
    if gone := memories.retired().get(*names):
        names.add(retiring.original_name(gone))
    found: list[Entry] = []
    left = history.log(None, memories.folders)
    while touching := [each for each in left if not names.isdisjoint(_stems(each.paths))]:
        found += touching
        left = left[left.index(touching[-1]) + 1 :]
        names = _called_before(history, touching[-1], names)
    return found


def _called_before(history: History, first: Entry, names: set[str]) -> set[str]:
    """What went when it came, with the same words: somebody has given the file another name."""
    if len(first.paths) < 2:
        return set()
    try:
        before, after = history.contents(first.id)
    except NotFound:  # damaged: then it is not known
        return set()
    came = {
        _words(data) for path, data in after.items() if data and PurePosixPath(path).stem in names
    }
    gone = [path for path, data in before.items() if data and _words(data) in came]
    return _stems(path for path in gone if after.get(path) is None) - names


def _words(data: bytes) -> str:
    match parse(data, Path("memory.md")):
        case Broken():
            return data.decode("utf-8", "replace")
        case memory:
            return memory.body


def _stems(paths: Iterable[str]) -> set[str]:
    return {PurePosixPath(path).stem for path in paths}


@contextmanager
def _change(memories: Memories, reason: str) -> Iterator[Change]:
    """Raises Edited where somebody edited a file in that very moment: then it was left alone."""
    with memories.change(reason) as change:
        yield change
    if change.kept_by_hand:
        raise Edited


def briefly(stored: StoredMemory) -> Plain:
    """For programs that list many."""
    one = stored.memory
    return {
        "name": one.name,
        "description": one.description,
        "type": one.type,
        "pinned": one.pinned,
        "by_agent": one.by_agent,
        "created": one.created,
        "tokens": tokens(one.body),
    }


def plain(stored: StoredMemory) -> Plain:
    """For programs."""
    one = stored.memory
    return (
        briefly(stored)
        | {
            "of": stored.scope,
            "updated": one.updated,
            "path": str(stored.path),
        }
        | said(stored)
    )


def said(stored: StoredMemory) -> Plain:
    """What a memory says, and what it rests on."""
    one = stored.memory
    return {
        "body": one.body,
        "evidence": list(one.evidence),
        "files": [path for path, _ in one.files],
        "replaced_by": one.replaced_by,
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
