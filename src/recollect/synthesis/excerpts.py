"""Captured text as a model may see it: fenced, and cut to what it needs. Every cut is marked, with how much
is missing.

Captured text may try to look like something else. It cannot look like the client's own tags, and `nested`
puts its lines where ours never begin.
"""

from collections.abc import Sequence

from recollect.text import fenced

HEAD = 0.6  # of the room: what it is about stands at the beginning, errors and results at the end
LOOKED_AT = 8  # times the room, at either end: outputs can be huge
MARGIN = "  "
LONGEST_LINE = 400  # of a diff: what is minified says nothing


def excerpt(text: str, limit: int) -> str:
    """The beginning and the end, cut at line ends where there are some near."""
    ends = LOOKED_AT * limit
    if len(text) <= 2 * ends:
        whole = fenced(text).strip()
        if len(whole) <= limit:
            return whole
        begin, end, unseen = whole, whole, 0
    else:
        begin, end = fenced(text[:ends]).strip(), fenced(text[-ends:]).strip()
        whole, unseen = begin + end, len(text) - 2 * ends
    room = int(limit * HEAD)
    head = _to_line_end(begin[:room])
    tail = _from_line_start(end[-(limit - room) :])
    gone = len(whole) + unseen - len(head) - len(tail)
    return f"{head}\n{cut_mark(gone, 'characters')}\n{tail}"


def first_lines(lines: Sequence[str], limit: int, what: str) -> list[str]:
    """As many as fit into `limit` characters, and a mark for the rest."""
    told: list[str] = []
    used = 0
    for number, line in enumerate(lines):
        short = shortened(line, min(LONGEST_LINE, limit // 2))
        used += len(short) + 1
        if used > limit:
            return [*told, cut_mark(len(lines) - number, what)]
        told.append(short)
    return told


def shortened(line: str, limit: int) -> str:
    """The beginning of one line."""
    seen = fenced(line[: LOOKED_AT * limit])
    gone = max(len(seen), len(line)) - limit
    if gone <= 0 or (len(seen) <= limit and len(line) <= LOOKED_AT * limit):
        return seen
    return f"{seen[:limit]}{cut_mark(gone, 'characters')}"


def nested(text: str) -> str:
    """All lines but the first moved in: what begins at the margin is ours."""
    return text.replace("\n", f"\n{MARGIN}")


def cut_mark(count: int, what: str) -> str:
    return f"[… {count:,} {what} cut …]"


def _to_line_end(text: str) -> str:
    end = text.rfind("\n")
    return text[:end] if end > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    start = text.find("\n")
    return text[start + 1 :] if 0 <= start < len(text) // 2 else text
