"""Session files in JSON lines, read line by line from any place on."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from aforesaid.agents.base import Json, text_of
from aforesaid.ids import digest
from aforesaid.paths import open_regular
from aforesaid.payload.shorten import fit_payload

LARGEST = 128 * 1024 * 1024
HEAD = 4096  # bytes of the first line that tell one file from another


class Line(NamedTuple):
    """`entry` is None for a line that cannot be read, and empty for one that was skipped."""

    start: int
    end: int
    entry: Json | None


def lines(path: str, start: int, skip: re.Pattern[bytes] | None = None) -> Iterator[Line]:
    """Every whole line from `start` on; none if the file is gone. A last line without a newline is whole
    if it is a JSON object. `skip`: what is not worth parsing."""
    with suppress(FileNotFoundError), open_regular(Path(path), follow=True) as file:
        file.seek(start)
        while raw := file.readline(LARGEST):
            entry = _entry(raw, skip)
            if raw.endswith(b"\n") or entry is not None:
                yield Line(start, start := start + len(raw), entry)
            elif len(raw) == LARGEST:  # the rest of it is passed over
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(LARGEST)
                if not raw:
                    return
                yield Line(start, start := file.tell(), None)
            else:
                return


def fingerprint(path: str) -> str:
    """Of the first line, which no client ever changes; empty while there is none."""
    try:
        with open_regular(Path(path), follow=True) as file:
            first = file.readline(HEAD)
    except OSError:
        return ""
    whole = first.endswith(b"\n") or len(first) == HEAD or _entry(first) is not None
    return digest(first.removesuffix(b"\n")) if whole else ""


def is_line_start(path: str, offset: int) -> bool:
    """False if the file has become shorter, or is another one. The newline before it may still be missing."""
    try:
        with open_regular(Path(path), follow=True) as file:
            file.seek(max(0, offset - 1))
            around = file.read(2)
            return not offset or around[:1] == b"\n" or around in (b"}", b"}\n")
    except OSError:
        return False


def size_of(path: str) -> int:
    with suppress(OSError):
        return Path(path).stat().st_size
    return 0


def time_of(entry: Json) -> int | None:
    with suppress(ValueError, OverflowError):
        return round(datetime.fromisoformat(text_of(entry, "timestamp")).timestamp() * 1000)
    return None


def _entry(raw: bytes, skip: re.Pattern[bytes] | None = None) -> Json | None:
    # A newline alone followed a last line that was read without it.
    if raw == b"\n" or (skip and skip.match(raw) and raw.endswith(b"\n")):
        return {}
    try:
        found = json.loads(fit_payload(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
