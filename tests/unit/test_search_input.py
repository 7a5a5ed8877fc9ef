"""Any text can be remembered, and any text asked for: there are findings or none, never an error."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aforesaid.encoders.base import Encoder
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.observations import TYPES, ObservationDraft, SummaryDraft
from aforesaid.model.search import LEVELS, Answer, Filters, Query
from aforesaid.recall import lookup
from aforesaid.recall.render import render_item
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.finding import assert_index_is_sound
from tests.support.memory import Memory
from tests.support.tables import loop_over

HOSTILE = (
    'a "quoted" b',
    "AND OR NOT NEAR(a b, 3)",
    "title: x ^ y * z -w +v {title body}: (",
    "documents MATCH 'x' OR 1=1",
    "'; DROP TABLE events; --",
    '"unclosed',
    "NEAR(",
    "a* OR *",
    "-",
    "\0",
    "a\0b",
    "\x02pump\x03",
    "😀 👩‍👩‍👧 e\u0301",
    "日本語 と 中文 그리고 ไทย",
    "עברית العربية हिन्दी",
    "\ud800",
    "\u202eabc\u200b",
    "_",
    "",
    " \n\t ",
    "p_1 k_observation scope",
    "since yesterday last week 2026-13-45 in the year 99999999999999",
    "word " * 20_000,
    "x" * 100_000,
    '"' * 1_000,
    "(" * 5_000,
    "日" * 100_000,
    "a.b/c-" * 20_000,
    "ﷺ" * 5_000,
)
OPERATORS = st.lists(
    st.sampled_from(
        ["AND", "OR", "NOT", "NEAR", "(", ")", '"', "*", "^", ":", "{", "}", "-", "+", ",", "pump"]
    ),
    max_size=30,
).map(" ".join)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=200)
QUERIES = st.one_of(ANYTHING, OPERATORS, st.text("pump valve\0\"'*()_日本😀é\n", max_size=60))
NONE = Filters()
TIMES = st.one_of(st.none(), st.integers(-(2**62), 2**62))
FILTERS = st.builds(
    Filters,
    types=st.lists(st.one_of(st.sampled_from(TYPES), ANYTHING), max_size=2).map(tuple),
    concepts=st.lists(ANYTHING, max_size=2).map(tuple),
    files=st.lists(ANYTHING, max_size=2).map(tuple),
    agent=st.one_of(st.none(), ANYTHING),
    session_id=st.one_of(st.none(), st.integers(-1, 9)),
    since=TIMES,
    until=TIMES,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all examples: what they remember stays, as in a store that was used for years."""
    folder: Path = tmp_path_factory.mktemp("store")
    opened = Store(folder / "aforesaid.db", writer=True, encoder=StaticTable())
    memory = Memory.of(opened, "shop")
    for title in ("the pump", "a valve", "日本語", "naïve 😀"):
        memory.turn(
            title,
            ObservationDraft("change", title, facts=(title,), files_read=("src/pump.py",)),
            summary=SummaryDraft(title),
        )
    yield opened
    opened.close()


@pytest.fixture(params=[StaticTable(), None], ids=["with vectors", "words only"], scope="module")
def searcher(request: pytest.FixtureRequest, store: Store) -> Searcher:
    encoder: Encoder | None = request.param
    return Searcher(store, encoder, lambda: START)


def ask(searcher: Searcher, text: str, filters: Filters = NONE, level: str = "titles") -> Answer:
    answer = searcher.search(Query(text, filters, level, 5))
    assert answer.without is None  # a fault of the vectors would be hidden by the words
    assert len(answer.hits) <= 5
    for hit in answer.hits:
        assert "\0" not in hit.title + hit.excerpt
    return answer


@loop_over("level", LEVELS)
@loop_over("text", HOSTILE)
def test_no_query_is_an_error(searcher: Searcher, text: str, level: str) -> None:
    """T50: operators, quotes and columns."""
    ask(searcher, text, level=level)


@given(QUERIES, st.sampled_from(LEVELS))
def test_any_text_can_be_asked_for(searcher: Searcher, text: str, level: str) -> None:
    """T50: generated text."""
    ask(searcher, text, level=level)


@given(FILTERS, st.sampled_from(LEVELS))
@example(Filters(since=2**63 - 1, until=-(2**63)), "titles")
@example(Filters(types=("nonsense", "")), "titles")
@example(Filters(concepts=("",), files=("😀", '"')), "titles")
def test_any_filter_can_be_set(searcher: Searcher, filters: Filters, level: str) -> None:
    ask(searcher, "the pump", filters, level)


@given(QUERIES, QUERIES)
def test_any_text_can_be_indexed(store: Store, stored: str, asked: str) -> None:
    memory = Memory.of(store, "other")
    draft = ObservationDraft(
        "change", stored, asked, (stored, asked), stored, (asked,), (stored,), (asked,)
    )
    memory.turn(
        stored, draft, summary=SummaryDraft(asked), session=f"s{store.index.newest_document()}"
    )
    searcher = Searcher(store, StaticTable(), lambda: START)
    for text in (stored, asked):
        ask(searcher, text)
    assert_index_is_sound(store)
    newest = memory.newest()
    lookup.related(searcher, store, newest.id)
    for level in ("title", "facts", "full"):
        shown = render_item(store, "observation", newest.id, level)
        assert shown is not None
        assert "\0" not in shown


@given(ANYTHING)
@example("%")
@example("_")
@example("\ud800/\0")
def test_any_path_can_be_looked_up(store: Store, path: str) -> None:
    for project in store.projects.all():
        lookup.about_file(store, project.id, path)
        store.observations.known_files(project.id, path, 5)


def test_the_pump_is_found_all_the_same(searcher: Searcher) -> None:
    assert ask(searcher, "(pump AND OR").hits[0].title == "the pump"
