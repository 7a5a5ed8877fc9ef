"""Vectors in memory: kept current, in context."""

import numpy as np
import pytest

from aforesaid.encoders.base import CHUNK, MOST_CHUNKS, chunks
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.observations import ObservationDraft
from aforesaid.model.search import Filters
from aforesaid.recall.matrix import Matrix
from aforesaid.store.store import Store
from tests.support.blank import laid
from tests.support.memory import Memory
from tests.support.tables import loop_over

ALL = Filters()
TEXTS = (
    "the invoice total was rounded to cents",
    "a penguin swims in cold water",
    "the database migration failed on a lock",
    "users are logged out after an hour",
)


@pytest.fixture(scope="module")
def encoder() -> StaticTable:
    return StaticTable()


@pytest.fixture
def filled(tmp_path_factory: pytest.TempPathFactory, encoder: StaticTable) -> Memory:
    folder = tmp_path_factory.mktemp("store")
    store = Store(laid(folder / "aforesaid.db"), writer=True, encoder=encoder)
    memory = Memory.of(store, "shop")
    for text in TEXTS:
        memory.turn("work", ObservationDraft("change", None, narrative=text))
    return memory


def best(matrix: Matrix, memory: Memory, text: str, filters: Filters = ALL) -> str | None:
    meaning = matrix.near(text, filters, None)
    if meaning is None:
        return None
    documents = {each.id: each for each in memory.store.index.documents(meaning.best(50))}
    for key in meaning.best(50):
        if documents[key].kind == "observation":
            found = memory.store.observations.get(documents[key].source)
            return found.draft.narrative if found else None
    return None


def test_the_nearest_in_meaning_shares_no_word(filled: Memory, encoder: StaticTable) -> None:
    matrix = Matrix(encoder)
    matrix.refresh(filled.store)
    assert best(matrix, filled, "bill amount") == TEXTS[0]
    assert best(matrix, filled, "bird at sea") == TEXTS[1]


def test_what_is_added_is_seen_without_loading_all_again(
    filled: Memory, encoder: StaticTable
) -> None:
    matrix = Matrix(encoder)
    matrix.refresh(filled.store)
    before = len(matrix)
    filled.turn("work", ObservationDraft("change", None, narrative="a violin concerto by Brahms"))
    matrix.refresh(filled.store)
    assert len(matrix) > before
    assert best(matrix, filled, "orchestra music") == "a violin concerto by Brahms"
    alone = Matrix(encoder)
    alone.refresh(filled.store)
    one, other = (m.near("orchestra", ALL, None) for m in (matrix, alone))
    assert one is not None
    assert other is not None
    ids = one.best(50)
    assert ids == other.best(50)
    assert one.of(ids) == pytest.approx(other.of(ids), abs=1e-4)


def test_filters_decide_on_who_takes_part(filled: Memory, encoder: StaticTable) -> None:
    matrix = Matrix(encoder)
    matrix.refresh(filled.store)
    assert matrix.near("bill", Filters(project_id=99), None) is None
    assert matrix.near("bill", Filters(since=filled.at + 10**9), None) is None
    assert matrix.near("bill", ALL, [-5]) is None
    some = matrix.near("bill", ALL, None)
    assert some is not None
    only = some.best(1)
    meaning = matrix.near("bill", ALL, only)
    assert meaning is not None
    assert meaning.best(50) == only
    assert meaning.of([-1, *only]).keys() == set(only)


@pytest.mark.parametrize("text", ["", "!?", "\0"])
def test_a_text_without_a_word_is_near_to_nothing(
    filled: Memory, encoder: StaticTable, text: str
) -> None:
    matrix = Matrix(encoder)
    matrix.refresh(filled.store)
    assert matrix.near(text, ALL, None) is None


def test_an_empty_store_has_nothing_near(store: Store, encoder: StaticTable) -> None:
    matrix = Matrix(encoder)
    matrix.refresh(store)
    assert len(matrix) == 0
    assert matrix.near("anything", ALL, None) is None


@loop_over("size", [0, 1, CHUNK, CHUNK + 1, CHUNK * 3 + 7, CHUNK * MOST_CHUNKS * 2])
def test_a_long_text_is_cut_into_pieces_of_one_size(size: int) -> None:
    text = ("word " * (size // 5 + 1))[:size]
    pieces = chunks(text)
    assert "".join(pieces) == text[: CHUNK * MOST_CHUNKS]
    assert 1 <= len(pieces) <= MOST_CHUNKS
    assert all(len(piece) <= CHUNK * 2 for piece in pieces)
    assert np.ptp([len(piece) for piece in pieces]) <= CHUNK
