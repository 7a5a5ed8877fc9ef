"""The default encoder: a vector for each word piece, distilled from all-MiniLM-L6-v2.

A text is the weighted sum of its distinct pieces, at length one. The table is int8; one factor a row is
its scale and weight, frozen in the file, so that old vectors can be compared with new ones.
`tools/distill_encoder.py` makes the files.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid.encoders.wordpiece import WordPiece

if TYPE_CHECKING:
    from aforesaid.encoders.base import Matrix

DATA = Path(__file__).parent / "data"
TABLE = DATA / "static-minilm-1.table.npy"
FACTORS = DATA / "static-minilm-1.factors.npy"
VOCABULARY = DATA / "bert-uncased.vocabulary.txt"


class StaticTable:
    name = "static-minilm-1"
    dimensions = 192
    instant = True

    @cached_property
    def _loaded(self) -> tuple[Any, Any, WordPiece]:
        """The table is mapped: its pages are read as words are met, and shared by all who read them."""
        import numpy as np

        table = np.load(TABLE, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        return table, np.load(FACTORS, allow_pickle=False), WordPiece.read(VOCABULARY)

    def encode(self, texts: Sequence[str]) -> "Matrix":
        import numpy as np

        table, factors, words = self._loaded
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            # Once each: a word that is said again does not make the text more about it.
            ids = list(dict.fromkeys(words.ids(text)))
            if ids:
                np.dot(factors[ids], table[ids].astype(np.float32), out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors
