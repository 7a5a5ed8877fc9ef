"""The lines that a retired memory carries: from where, when and why it was retired, and what replaces it.

They are put into the front matter as text and taken out again as text, so that a restored file is the file
that was retired, to the byte.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from recollect.memory.storage import front_matter
from recollect.memory.storage.names import unsafe
from recollect.model.memories import StoredMemory
from recollect.text import one_line

FROM, AT, BECAUSE, BY = "retired_from", "retired_at", "retired_because", "replaced_by"
BLOCK = re.compile(
    rb"^retired_from: [^\n]*\nretired_at: [^\n]*\nretired_because: [^\n]*\n(?:replaced_by: [^\n]*\n)?",
    re.MULTILINE,
)
# Up to the end of the front matter, as `front_matter.FENCE` sees it.
END = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:.*?\n)??(?=---[ \t]*\r?(?:\n|\Z))", re.DOTALL
)
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Retired:
    """`came_from`: its file, below the folder of all memories."""

    came_from: str
    at: str
    why: str
    replaced_by: str | None = None


def marked(data: bytes, note: Retired) -> bytes | None:
    """None where the front matter does not end as it should."""
    end = END.match(data)
    if end is None:
        return None
    values = {FROM: note.came_from, AT: note.at, BECAUSE: one_line(note.why, LONGEST) or "not said"}
    if note.replaced_by:
        values[BY] = note.replaced_by
    lines = "".join(front_matter.write({key: value}) for key, value in values.items())
    return data[: end.end()] + lines.encode() + data[end.end() :]


def unmarked(data: bytes) -> bytes:
    """As it was before."""
    end = END.match(data)
    found = list(BLOCK.finditer(data, 0, end.end())) if end else []
    return data[: found[-1].start()] + data[found[-1].end() :] if found else data


def original_name(retired: StoredMemory) -> str:
    """What it was called: its file may have got another name because of an older one."""
    said = retired.memory.extra.get(FROM)
    name = Path(said).name.removesuffix(".md") if isinstance(said, str) else ""
    return retired.memory.name if unsafe(name) else name


def order(retired: StoredMemory) -> tuple[str, int, str]:
    """The last one is the newest: by its time, and within a second by the number that its file got."""
    said = str(retired.memory.extra.get(AT, ""))[:19].replace("T", " ")
    number = retired.memory.name.removeprefix(original_name(retired)).removeprefix("-")
    return said, int(number) if number.isdecimal() else 1, retired.memory.name
