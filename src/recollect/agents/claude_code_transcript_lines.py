"""The lines of a transcript file, one at a time: it may have hundreds of megabytes, and one line tens.

A last line without its end is still being written, so reading stops before it. A line that is no JSON
object, or larger than any the client writes, is passed over. Of a line that is too much to be parsed, what
matters is read (`payload/cutting.py`).
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from recollect.ids import digest
from recollect.payload.fitting import fitted

Json = dict[str, Any]

LARGEST = 128 * 1024 * 1024
HEAD = 4096  # bytes of the first line that tell one file from another
# The client's own bookkeeping, a third of a file and more: it is not worth parsing.
BOOKKEEPING = re.compile(
    rb'\{"type":"(?!(?:user|assistant|system|attachment|queue-operation|progress)")'
)


@dataclass(frozen=True, slots=True)
class Line:
    """`entry` is None for a line that cannot be read, and empty for the client's bookkeeping."""

    start: int
    end: int
    entry: Json | None


def lines(path: str, start: int) -> Iterator[Line]:
    """Every whole line from `start` on; none if the file is gone."""
    with contextlib.suppress(FileNotFoundError), Path(path).open("rb") as file:
        file.seek(start)
        while raw := file.readline(LARGEST):
            if raw.endswith(b"\n"):
                yield Line(start, start := start + len(raw), _entry(raw))
            elif len(raw) == LARGEST and (end := _line_end(file)):
                yield Line(start, start := end, None)
            else:
                return


def line_at(path: str, start: int) -> Json:
    """The one line there; empty if it cannot be read."""
    first = next(lines(path, start), None)
    return (first.entry if first else None) or {}


def fingerprint(path: str) -> str:
    """Of the first line, which no client ever changes; empty while there is none."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline(HEAD)
    except OSError:
        return ""
    return digest(first) if first.endswith(b"\n") or len(first) == HEAD else ""


def is_line_start(path: str, offset: int) -> bool:
    """False if the file has become shorter, or is another one."""
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, offset - 1))
            return not offset or file.read(1) == b"\n"
    except OSError:
        return False


def size_of(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def time_of(entry: Json) -> int | None:
    """Milliseconds since the epoch."""
    try:
        return round(datetime.fromisoformat(text_of(entry, "timestamp")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def text_of(entry: Json, field: str) -> str:
    value = entry.get(field)
    return value if isinstance(value, str) else ""


def object_of(entry: Json, field: str) -> Json:
    value = entry.get(field)
    return value if isinstance(value, dict) else {}


def blocks_of(entry: Json) -> list[Json]:
    """The parts of a message; plain text is one part."""
    content = object_of(entry, "message").get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _entry(raw: bytes) -> Json | None:
    if BOOKKEEPING.match(raw):
        return {}
    try:
        found = json.loads(fitted(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _line_end(file: BinaryIO) -> int:
    """Passes over the rest of a line; 0 if it has no end yet."""
    while raw := file.readline(LARGEST):
        if raw.endswith(b"\n"):
            return file.tell()
    return 0
