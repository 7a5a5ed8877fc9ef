"""One file of the spool, read as a capture whatever its size: a large one is never in memory as a whole.

A payload of up to 16 MB is kept as it came, without attachments. Of a larger one the event is kept, cut and
marked (`payload/cutting.py`), and the file goes as any other does: the transcript has it, and a second
copy would cost what the cut has saved.
"""

import os
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from recollect.model.captures import HEADER_END, Capture, Unreadable, parse_capture
from recollect.payload.cutting import Keep, NotJson, cut
from recollect.payload.fitting import fitted
from recollect.payload.limits import LOSSLESS

NO_ROOM = "there is no room for more (`limits.home_mb`, `limits.free_mb`)"
LITTLE = Keep(head=512, tail=256, out=4096)
LONGEST_HEADER = 1024 * 1024  # bytes: the agent, the hook and a directory


@dataclass(frozen=True, slots=True)
class SpoolFile:
    path: Path
    at_ns: int
    size: int
    owner: int

    @property
    def at(self) -> int:
        return self.at_ns // 1_000_000


def read(file: SpoolFile) -> Capture | Unreadable:
    """Raises OSError, FileNotFoundError where somebody was quicker."""
    if file.owner != os.geteuid():
        return Unreadable(f"it belongs to another user ({file.owner}): it is none of ours")
    try:
        with file.path.open("rb") as source:
            if file.size > LOSSLESS + LONGEST_HEADER:
                return _read_large(file, source)
            capture = parse_capture(file.path.name, source.read(), file.at)
        if isinstance(capture, Unreadable):
            return capture
        return replace(capture, body=fitted(capture.body))
    except NotJson as error:
        return Unreadable(f"the payload is not JSON ({error}), and too much to be kept as it is")


def shortened(body: bytes) -> bytes:
    """What is kept of a payload where there is no room. One that takes no more than that stays whole."""
    if len(body) <= 2 * LITTLE.out:
        return body
    try:
        return cut(BytesIO(body), NO_ROOM, LITTLE)
    except NotJson:  # in another encoding
        return body


def _read_large(file: SpoolFile, source: BinaryIO) -> Capture | Unreadable:
    start = source.read(LONGEST_HEADER)
    header, mark, _ = start.partition(HEADER_END)
    capture = parse_capture(file.path.name, header + mark, file.at)
    if isinstance(capture, Unreadable):
        return capture
    source.seek(len(header) + len(mark))
    why = f"it has {file.size - source.tell():,} bytes; up to {LOSSLESS:,} are kept whole"
    return replace(capture, body=cut(source, why))
