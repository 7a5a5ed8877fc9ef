"""The default encoder: a vector for each word piece, distilled from all-MiniLM-L6-v2.

A text is the weighted sum of its distinct pieces, at length one. The table is int8; one factor a row is
its scale and weight, frozen in the file, so that old vectors can be compared with new ones.
`tools/distill_encoder.py` makes the files.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aforesaid.encoders.wordpiece import WordPiece

if TYPE_CHECKING:
    from aforesaid.encoders.base import Matrix

DATA = Path(__file__).parent / "data"
TABLE = DATA / "static-minilm-1.table.npy"
FACTORS = DATA / "static-minilm-1.factors.npy"
VOCABULARY = DATA / "bert-uncased.vocabulary.txt"


class StaticTable:
    name = "static-minilm-1"
    instant = True

    def __init__(self) -> None:
        import numpy as np

        # Mapped: the pages are read as words are met, and shared by every process that reads them.
        self._table = np.load(TABLE, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        self._factors = np.load(FACTORS, allow_pickle=False)
        self._words = WordPiece.read(VOCABULARY)
        self.dimensions = int(self._table.shape[1])

    def encode(self, texts: Sequence[str]) -> "Matrix":
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            # Once each: a word that is said again does not make the text more about it.
            ids = list(dict.fromkeys(self._words.ids(text)))
            if ids:
                np.dot(self._factors[ids], self._table[ids].astype(np.float32), out=vectors[row])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors
