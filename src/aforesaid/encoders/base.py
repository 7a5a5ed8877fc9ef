"""The interface of encoders, and how vectors are stored.

Importing this costs nothing: numpy is named for the type alone.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]


class Encoder(Protocol):
    """Nothing is loaded until the first text is encoded.

    Vectors of different names cannot be compared: a change of table or weights is a new name. `instant`:
    quick enough to run inside a database transaction.
    """

    name: str
    dimensions: int
    instant: bool

    def encode(self, texts: Sequence[str]) -> "Matrix":
        """One unit row per text; a text without known words is a zero row. No text makes it raise."""
        ...


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
