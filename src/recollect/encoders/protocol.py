"""What turns text into vectors. Importing this costs nothing: numpy is named for the type alone."""

from collections.abc import Sequence
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
