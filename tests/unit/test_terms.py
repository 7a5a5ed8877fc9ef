"""How names of code and text of all kinds become terms of the index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import terms
from aforesaid.recall import excerpts
from aforesaid.terms import ASKING, LONGEST, LONGEST_NAME, index_text, name_term, query_terms
from tests.support.tables import loop_over


@pytest.mark.parametrize(
    "name", ["parseHttpHeader", "parse_http_header", "parse-http-header", "ParseHTTPHeader"]
)
def test_a_name_is_found_however_it_is_written(name: str) -> None:
    assert index_text(name).split() == ["parse", "http", "header", "parse_http_header"]
    assert name_term(name) == "parse_http_header"


@loop_over(
    ("text", "terms"),
    [
        ("src/shop/tax_table.py", {"src", "shop", "tax", "table", "tax_table_py", "py"}),
        ("src/shop/tax_table.py", {"src_shop_tax_table_py"}),
        ("v3.40.1", {"3", "40", "1", "v_3_40_1"}),
        ("sqlite 3.40.1", {"sqlite", "3_40_1"}),
        ("sha256 utf8", {"sha256", "utf8"}),
        ("std::vec::Vec", {"std", "vec", "std_vec_vec"}),
        ("user@host", {"user", "host", "user_host"}),
        ("naïve café", {"naïve", "café"}),
        ("\uff21\uff30\uff29", {"api"}),
    ],
)
def test_parts_and_wholes(text: str, terms: set[str]) -> None:
    assert terms <= set(index_text(text).split())


def test_scripts_without_spaces_become_pairs() -> None:
    assert index_text("数据库迁移").split() == ["数据", "据库", "库迁", "迁移"]
    assert set(query_terms("迁移")) <= set(index_text("数据库迁移").split())
    assert index_text("字") == "字"


def test_a_symbol_becomes_the_name_of_its_code_point() -> None:
    assert index_text("ship it 🚀✅").split() == ["ship", "it", "u_1f680", "u_2705"]
    assert query_terms("🚀") == ["u_1f680"]
    # One person at a computer, with a skin tone; a warning, with the word that it be coloured.
    assert index_text("👩\U0001f3fd\u200d💻 ⚠\ufe0f").split() == ["u_1f469", "u_1f4bb", "u_26a0"]


def test_what_is_drawn_or_joins_words_is_no_term() -> None:
    drawn = "┌──────┐ │ 42 │ ███▓░ ⠋ → — … “x” €"
    assert index_text(drawn).split() == ["42", "x"]


def test_long_chunks_are_not_kept() -> None:
    long = [f"{n}x" * LONGEST_NAME for n in range(50)] + ["数据" * LONGEST_NAME]
    caches = (terms._known, excerpts._known_stems)
    before = [each.cache_info().currsize for each in caches]
    for each in long:
        assert index_text(each)
        assert excerpts.excerpt(each, query_terms(each))
    assert [each.cache_info().currsize for each in caches] == before


def test_a_question_loses_what_everybody_asks_with() -> None:
    assert query_terms("How did we fix the race in the job queue?") == [
        "fix",
        "race",
        "job",
        "queue",
    ]
    assert query_terms("what is it") == []
    assert ASKING


def test_of_a_huge_text_the_beginning_is_taken() -> None:
    assert len(index_text("a " * LONGEST)) <= LONGEST


@given(st.text(max_size=500) | st.text("aA_/.:-0", max_size=2_000))
def test_any_text_can_be_prepared(text: str) -> None:
    said = index_text(text)
    assert '"' not in said
    assert set(query_terms(text)) <= set(said.split())
