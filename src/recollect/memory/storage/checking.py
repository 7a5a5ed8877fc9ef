"""Which memories speak of things that have changed or gone, without a model.

By the files that a memory names, each with the content it had then, and by its links to other memories.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from recollect import freshness
from recollect.freshness import CHANGED, GONE, UNKNOWN, WORST_FIRST, Freshness
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import Listing
from recollect.memory.storage.format import ENDING, INDEX_FILE
from recollect.memory.storage.names import same_name
from recollect.model.memories import Memory, StoredMemory

# [text](name.md) and [[name]]: what people link notes with. No part goes beyond the next bracket: a memory
# that is full of them is read in one pass.
LINK = re.compile(
    r"\[[^\[\]\n]*\]\(<?([^()<>\s]+?\.md)(?:#[^()\s]*)?>?\)|\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]"
)


@dataclass(frozen=True, slots=True)
class Checked:
    """`freshness`: of the files it names, `unknown` where it names none or nothing is known of them.
    `dead_links`: memories that it links to and that are not there."""

    stored: StoredMemory
    freshness: Freshness
    dead_links: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.stored.memory.name

    @property
    def flagged(self) -> bool:
        return self.freshness.state in (CHANGED, GONE) or bool(self.dead_links)


def check(memories: Memories, root: str, listing: Listing | None = None) -> list[Checked]:
    """Every memory, in the order of the listing. `root`: the project's directory."""
    found = listing or memories.all()
    names = {same_name(each.memory.name) for each in found.memories}
    if found.left_out:  # not looked at is not gone
        names |= {same_name(name) for folder in memories.places.all for name in folder.names()}
    return [
        Checked(each, of(each.memory, root), dead_links(each.memory, names))
        for each in found.memories
    ]


def of(memory: Memory, root: str) -> Freshness:
    """What has become of the files that a memory names: the worst, as for observations."""
    states = {path: freshness.state(root, path, blob or None) for path, blob in memory.files}
    return Freshness(
        state=min(states.values(), key=WORST_FIRST.index, default=UNKNOWN),
        changed=tuple(path for path, state in states.items() if state == CHANGED),
        gone=tuple(path for path, state in states.items() if state == GONE),
    )


def linked(link: re.Match[str]) -> str | None:
    """The memory's name; None for a link to something else, such as a page or a file of the project."""
    if link[2]:
        return link[2].strip().removesuffix(ENDING) or None
    target = unquote(link[1])
    path = PurePosixPath(target)
    if "://" in target or len(path.parts) != 1 or path.name == INDEX_FILE:
        return None
    return path.name.removesuffix(ENDING)


def dead_links(memory: Memory, names: Iterable[str]) -> tuple[str, ...]:
    """`names`: of the memories there are, as `same_name` gives them."""
    there = set(names)
    found = dict.fromkeys(filter(None, map(linked, LINK.finditer(memory.body))))
    return tuple(name for name in found if same_name(name) not in there)
