"""MEMORY.md: one line per memory, so that an agent knows what there is at the price of a line each.

The order is stable and nothing in it depends on the clock: as long as no memory changes the text is the same
to the byte, and what providers have cached stays good. A new memory comes last. What does not fit is said.
"""

import re
from operator import attrgetter
from pathlib import Path
from urllib.parse import quote

from recollect.memory.storage.folders import Listing
from recollect.memory.storage.format import ENDING
from recollect.model.memories import NOTED_BY_AGENT, StoredMemory
from recollect.privacy.redactor import RULES
from recollect.text import one_line

MOST_LINES, MOST_BYTES = 200, 25_000
LONGEST_DESCRIPTION = 200
# What `line` and `_rest` write.
OURS = re.compile(
    r"- \[[^\n]*\]\([^\s()]+\.md\) — [^\n]*"
    r"|- [0-9]+ more memor(?:y is|ies are) in this folder, not listed here\."
)
ESCAPED = str.maketrans({c: f"\\{c}" for c in "\\[]<>"})


def index_text(listing: Listing, *, lines: int = MOST_LINES, size: int = MOST_BYTES) -> str:
    """Empty for no memories. What is left out is the oldest that is not pinned."""
    written = {each.path: line(each) for each in listing.memories}
    wanted = sorted(listing.memories, key=attrgetter("importance"))
    kept = wanted[:lines]
    more = listing.left_out
    if len(wanted) > lines or more or _size(kept, written) > size:
        size -= len(_rest(len(wanted) + more).encode())
        kept = kept[: lines - 1]
        while kept and _size(kept, written) > size:
            kept.pop()
        more += len(wanted) - len(kept)
    shown = "".join(written[each.path] for each in sorted(kept, key=attrgetter("order")))
    return shown + (_rest(more) if more else "")


def is_ours(data: bytes) -> bool:
    """Whether it has nothing but such lines: another one may have been written by a person."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return False
    return all(OURS.fullmatch(each) for each in lines if each.strip())


def line(stored: StoredMemory) -> str:
    """`- [name](name.md) — description`: whatever they are, neither ends the line or makes another link. A
    secret that somebody wrote into a memory stays in that file alone."""
    name = stored.memory.name
    text = one_line(RULES.text(stored.memory.description), LONGEST_DESCRIPTION)
    label = one_line(name, LONGEST_DESCRIPTION).translate(ESCAPED)
    target = quote(name.encode("utf-8", "surrogateescape") + ENDING.encode())
    noted = f" ({NOTED_BY_AGENT})" if stored.memory.by_agent else ""
    return f"- [{label}]({target}) — {text.translate(ESCAPED)}{noted}\n"


def _size(kept: list[StoredMemory], written: dict[Path, str]) -> int:
    return sum(len(written[each.path].encode()) for each in kept)


def _rest(more: int) -> str:
    what = "memory is" if more == 1 else "memories are"
    return f"- {more} more {what} in this folder, not listed here.\n"
