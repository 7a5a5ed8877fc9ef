"""Text → vectors: a table that ships with the package, and a small model for those who install it."""

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aforesaid.encoders.base import Encoder

# Before anybody imports numpy: a second thread loses more by waiting than it wins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@cache
def find_encoder(name: str) -> "Encoder | None":
    """`static`, `minilm` or `none`. One for a process."""
    from aforesaid.encoders.minilm import MiniLm
    from aforesaid.encoders.static_table import StaticTable

    if name == "none":
        return None
    return MiniLm() if name == "minilm" else StaticTable()
