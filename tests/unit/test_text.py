"""Text from outside: safe to show, safe to store, short enough, and never our own envelope."""

import sqlite3
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.text import clean, cut, fenced, one_line, sqlite_safe, tokens, words
from tests.support.tables import loop_over

ANYTHING = st.text(st.characters(exclude_categories=()))
TAGS = (
    "aforesaid-memory",
    "system-reminder",
    "user",
    "human",
    "assistant",
    "tool_result",
    "antml:x",
    "local-command-stdout",
    "task-notification",
)


@loop_over(
    ("given_text", "cleaned"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("tab\tkept", "tab\tkept"),
        ("\u202egnp.exe", "gnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("nul\0bell\x07", "nulbell"),
        ("lone\ud800", "lone"),
        ("größe 日本 😀", "größe 日本 😀"),
    ],
)
def test_text_is_cleaned(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


@given(ANYTHING)
def test_clean_text_holds_no_control_character_and_stays_clean(text: str) -> None:
    found = clean(text)
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in found)
    assert clean(found) == found


@given(ANYTHING, st.integers(1, 200))
def test_a_cut_text_is_never_too_long_and_shows_its_cut(text: str, limit: int) -> None:
    found = cut(text, limit)
    assert len(found) <= limit
    assert (found == text) == (len(text) <= limit) or text.endswith("…")


def test_a_text_is_cut_at_a_word() -> None:
    assert cut("the quick brown fox jumps", 18) == "the quick brown…"
    assert cut("unbreakable" * 3, 10) == "unbreakab…"


@given(ANYTHING, st.integers(1, 200))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    found = one_line(text, limit)
    assert len(found) <= limit
    assert "\n" not in found
    assert found == found.strip()


def test_one_line_looks_at_the_beginning_of_a_huge_text_only() -> None:
    assert len(one_line("word " * 5_000_000, 80)) <= 80


@loop_over("tag", TAGS)
@loop_over(
    "form",
    [
        *("<{}>", "</{}>", "</ {}>", "< /{}>", "<\n{}>", '<{} a="b">'),
        *("<{}", "<{}\n>", "<\u200b{}>", "</{}x>"),
    ],
)
def test_no_tag_of_the_envelope_or_the_client_survives(tag: str, form: str) -> None:
    for name in (tag, tag.upper()):
        found = fenced("before " + form.format(name) + " after")
        assert f"<{name}" not in found.replace("\n", "").replace(" ", "").replace("/", "")
        assert "before" in found
        assert "after" in found


def test_other_angle_brackets_are_left_alone() -> None:
    assert fenced("List<int> a < b && c > d <div>") == "List<int> a < b && c > d <div>"


@given(ANYTHING, st.sampled_from(TAGS), ANYTHING)
def test_nothing_around_a_tag_helps_it_through(before: str, tag: str, after: str) -> None:
    assert f"</{tag}" not in fenced(f"{before}</{tag}>{after}")


@given(ANYTHING)
def test_any_text_can_be_stored_and_comes_back(text: str) -> None:
    safe = sqlite_safe(text)
    database = sqlite3.connect(":memory:")
    found = database.execute("SELECT ?1, length(?1)", (safe,)).fetchone()
    database.close()
    assert found == (safe, len(safe))


@given(ANYTHING, ANYTHING)
def test_tokens_are_never_fewer_than_a_quarter_of_the_characters(one: str, other: str) -> None:
    assert tokens(one) * 4 >= len(one)
    assert tokens(one + other) <= tokens(one) + tokens(other)


def test_a_script_without_spaces_costs_a_token_a_character() -> None:
    assert tokens("日本語") == 3
    assert tokens("four") == 1
    assert tokens("") == 0


def test_words_are_what_a_search_can_look_for() -> None:
    assert words('foo.bar("baz_1") – größe 日本') == ["foo", "bar", "baz_1", "größe", "日本"]
