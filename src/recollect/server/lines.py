"""What a client writes, line by line, with half surrogate pairs mended.

A program may send `"\\ud800"`, which is JSON but not Unicode. The SDK drops such a line without an answer,
and the client would wait for one.
"""

import json
from io import TextIOWrapper
from typing import BinaryIO


class Lines(TextIOWrapper):
    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="utf-8", errors="replace")

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        line = super().readline(-1 if size is None else size)
        return mended(line) if "\\ud" in line or "\\uD" in line else line


def mended(line: str) -> str:
    """The same message with U+FFFD for what is no character. What is no JSON stays as it is."""
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return text.encode("utf-8", "replace").decode("utf-8").replace("\n", " ") + "\n"
