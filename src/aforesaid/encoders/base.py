"""The interface of encoders, loading one when it is first needed, and how vectors are stored.

Importing this costs nothing: numpy is named for the type alone.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float32]


class Encoder(Protocol):
    @property
    def name(self) -> str:
        """Vectors of different names cannot be compared: a change of table or weights is a new name."""

    @property
    def dimensions(self) -> int: ...

    @property
    def instant(self) -> bool:
        """Quick enough to run inside a database transaction."""

    def encode(self, texts: Sequence[str]) -> "Matrix":
        """One unit row per text; a text without known words is a zero row. No text makes it raise."""
        ...


class Lazy:
    def __init__(self, name: str, *, instant: bool, load: Callable[[], Encoder]) -> None:
        self.name, self.instant = name, instant
        self._load = load
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        return self._loaded().dimensions

    def encode(self, texts: Sequence[str]) -> "Matrix":
        return self._loaded().encode(texts)

    def _loaded(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder


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
