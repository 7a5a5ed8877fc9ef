"""Operations on single memories by name, for the command line, the viewer and MCP.

The caller notifies the worker afterwards: the brief lists memories.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from aforesaid import freshness
from aforesaid.errors import ConfigError, MemoryRefused, NotFound
from aforesaid.freshness import CHANGED, GONE, Freshness
from aforesaid.memory.changes import Memories
from aforesaid.memory.files import read_or_none
from aforesaid.memory.folders import Listing
from aforesaid.memory.format import (
    INDEX_FILE,
    SUFFIX,
    TITLE_KEY,
    checksum,
    fold_name,
    original_name,
    parse_memory,
)
from aforesaid.memory.history import Entry
from aforesaid.model.memories import Broken, Memory, StoredMemory
from aforesaid.text import tokens

Json = dict[str, object]


class CheckedMemory(NamedTuple):
    """`freshness`: of the files that it names. `dead_links`: names of memories that it links to and that do
    not exist."""

    stored: StoredMemory
    freshness: Freshness
    dead_links: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.stored.memory.name

    @property
    def flagged(self) -> bool:
        return self.freshness.state in (CHANGED, GONE) or bool(self.dead_links)


def get_memory(memories: Memories, name: str) -> StoredMemory:
    found = memories.get(name.removesuffix(SUFFIX))
    if found is None:
        raise NotFound(f"There is no memory {name!r} here. `aforesaid memory list` shows them.")
    return found


def get_own_memory(memories: Memories, name: str) -> StoredMemory:
    """Raises MemoryRefused for one of the team or the client."""
    found = get_memory(memories, name)
    if not found.is_ours:
        raise MemoryRefused(
            f"{name!r} is the {found.scope}'s: change the file {found.path} itself."
        )
    return found


def retire_memory(memories: Memories, name: str, why: str) -> str:
    """Returns its name without the suffix."""
    stored = get_own_memory(memories, name)
    with memories.change(f"retired: {stored.memory.name}") as change:
        change.retire(stored.memory.name, why)
    return stored.memory.name


def restore_memory(memories: Memories, name: str) -> str:
    with memories.change(f"restored: {name}") as change:
        restored = change.restore(name.removesuffix(SUFFIX))
    return restored.memory.name


def pin_memory(memories: Memories, name: str, *, pinned: bool) -> None:
    stored = get_own_memory(memories, name)
    with memories.change(f"{'pinned' if pinned else 'unpinned'}: {name}") as change:
        change.write(replace(stored.memory, pinned=pinned), expected=stored.checksum)


def rewrite_memory(memories: Memories, stored: StoredMemory, text: str, expected: str) -> None:
    """Replaces the whole file. Raises Edited if its checksum is not `expected`."""
    written = parse_memory(text.encode("utf-8", "replace"), stored.path)
    if isinstance(written, Broken):
        raise ConfigError(f"That is not a valid memory: {written.why}. Nothing was changed.")
    save_memory(memories, written, expected)


def save_memory(memories: Memories, memory: Memory, expected: str) -> None:
    with memories.change(f"edited: {memory.name}") as change:
        change.write(memory, expected=expected)


def list_changes(memories: Memories, name: str) -> list[Entry]:
    """Every change of one memory and of those that it replaces, newest first, also while it is retired."""
    name = name.removesuffix(SUFFIX)
    names = {name}
    if stored := memories.get(name) or memories.retired().get(name):
        title = stored.memory.extra.get(TITLE_KEY, name)  # its name before it was renamed by hand
        names |= {original_name(stored), str(title), *stored.memory.replaces}
    found = memories.history.log(None, memories.folders)
    return [each for each in found if not names.isdisjoint(map(_stem, each.paths))]


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def summary_json(stored: StoredMemory) -> Json:
    """For lists."""
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


def memory_json(stored: StoredMemory) -> Json:
    where = {"scope": stored.scope, "updated": stored.memory.updated, "path": str(stored.path)}
    return summary_json(stored) | where | content_json(stored)


def content_json(stored: StoredMemory) -> Json:
    one = stored.memory
    return {
        "body": one.body,
        "evidence": list(one.evidence),
        "files": [path for path, _ in one.files],
        "replaced_by": one.replaced_by,
    }


def problems_json(checked: CheckedMemory) -> Json:
    """Changed and missing files, and dead links."""
    return {
        "changed": checked.freshness.changed,
        "gone": checked.freshness.gone,
        "dead_links": checked.dead_links,
    }


def read_whole(stored: StoredMemory) -> tuple[str, str]:
    """The text of the file, and its checksum."""
    data = read_or_none(stored.path)
    if data is None:
        raise NotFound(f"{stored.path} is gone. `aforesaid memory list` shows what there is.")
    return data.decode("utf-8", "replace"), checksum(data)


# [text](name.md) and [[name]]. No part matches beyond the next bracket, so that it runs in linear time.
MEMORY_LINK = re.compile(
    r"\[[^\[\]\n]*\]\(<?([^()<>\s]+?\.md)(?:#[^()\s]*)?>?\)|\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]"
)


def check_memories(
    memories: Memories, root: str, listing: Listing | None = None
) -> list[CheckedMemory]:
    """In the order of the listing. `root`: the project's directory."""
    found = listing or memories.all()
    names = {fold_name(each.memory.name) for each in found.memories}
    if found.left_out:  # files that were not read exist, too
        names |= {fold_name(name) for folder in memories.places.all for name in folder.names()}
    return [
        CheckedMemory(each, files_freshness(each.memory, root), dead_links(each.memory, names))
        for each in found.memories
    ]


def files_freshness(memory: Memory, root: str) -> Freshness:
    """Of the files that a memory names."""
    return freshness.check_blobs(root, {path: blob or None for path, blob in memory.files})


def link_target(link: re.Match[str]) -> str | None:
    """The memory's name; None for a link to something else, such as a web page."""
    if link[2]:
        return link[2].strip().removesuffix(SUFFIX) or None
    target = unquote(link[1])
    path = PurePosixPath(target)
    if "://" in target or len(path.parts) != 1 or path.name == INDEX_FILE:
        return None
    return path.name.removesuffix(SUFFIX)


def dead_links(memory: Memory, names: Iterable[str]) -> tuple[str, ...]:
    """`names`: of all memories, folded by `fold_name`."""
    there = set(names)
    found = dict.fromkeys(filter(None, map(link_target, MEMORY_LINK.finditer(memory.body))))
    return tuple(name for name in found if fold_name(name) not in there)
