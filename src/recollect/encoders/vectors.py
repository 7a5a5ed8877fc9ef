"""Vectors as they are stored: a long text is several of them, each a row of signed bytes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.encoders.protocol import Matrix

CHUNK = 1_500  # characters: most observations are one piece; a mean over much more says nothing
MOST_CHUNKS = 8


def chunks(text: str) -> list[str]:
    """Pieces of about the same length, cut at spaces. At least one, whatever the text."""
    text = text[: CHUNK * MOST_CHUNKS]
    count = max(1, -(-len(text) // CHUNK))
    size = -(-len(text) // count) if text else 0
    pieces: list[str] = []
    first = 0
    while first < len(text):
        last = len(text) if len(pieces) == count - 1 else min(len(text), first + size)
        if last < len(text):
            space = text.rfind(" ", first + size // 2, last)
            last = space if space > 0 else last
        pieces.append(text[first:last])
        first = last
    return pieces or [""]


def packed(rows: "Matrix") -> bytes:
    """Unit rows of floats as signed bytes: a hundredth of the angle is lost, three quarters of the size."""
    import numpy as np

    return np.rint(np.clip(rows, -1, 1) * 127).astype(np.int8).tobytes()
