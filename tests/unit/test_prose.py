"""Where sentences and clauses end, as a reader sees it."""

import re

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.prose import CLAUSE_END, SENTENCE_END, sentences, split
from tests.support.tables import loop_over

WORDS = ("Uses", "e.g.", "cache.", '"done."', "fails;", "and", "wait,", "3)", "登录。", "-", "Why?")


@loop_over(
    ("text", "parts"),
    [
        ("Uses e.g. Redis. It is fast.", ["Uses e.g. Redis.", "It is fast."]),
        (
            "Version 1.2 of src/a.py came. 3 tests fail.",
            ["Version 1.2 of src/a.py came.", "3 tests fail."],
        ),
        ('It said "done." Then it ended.', ['It said "done."', "Then it ended."]),
        (
            "It ended. `main` returns. /api is gone.",
            ["It ended.", "`main` returns.", "/api is gone."],
        ),
        ("It ended (cf. below). see there", ["It ended (cf. below). see there"]),
        ("- first thing\n- second thing", ["first thing", "second thing"]),
        ("1. first thing\n[x] second thing", ["first thing", "second thing"]),
        ("It said\n404. Then it ended.", ["It said", "404.", "Then it ended."]),
        ("It takes 2 things: 1) a key. 2) a lock.", ["It takes 2 things: 1) a key.", "2) a lock."]),
        ("登录已修复。测试已添加。", ["登录已修复。", "测试已添加。"]),
        ("", []),
    ],
)
def test_sentences_end_where_readers_see_it(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


def test_a_clause_ends_where_another_joins_it() -> None:
    text = "the key is read, checked and kept; it expires, but a new one is made, while the old one stays"
    assert split(text, CLAUSE_END) == [
        "the key is read, checked and kept;",
        "it expires,",
        "but a new one is made, while the old one stays",
    ]


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)),
    st.sampled_from((SENTENCE_END, CLAUSE_END)),
)
def test_splitting_loses_nothing_but_spaces(text: str, ends: re.Pattern[str]) -> None:
    assert "".join("".join(split(text, ends)).split()) == "".join(text.split())
