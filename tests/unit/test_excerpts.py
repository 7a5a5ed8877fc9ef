"""Long text as a model sees it: its two ends, and a mark that says how much is missing between them."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.synthesis.turn import cut_mark, excerpt, first_lines, shortened
from aforesaid.text import clean

MARK = re.compile(r"\[… ([\d,]+) (characters|lines|steps|events) cut …\]")
LONGEST_MARK = 40


def missing(told: str) -> int:
    """What the marks say is missing, added up."""
    return sum(int(count.replace(",", "")) for count, _ in MARK.findall(told))


def is_clean(text: str) -> bool:
    return all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in text)


def test_a_text_that_fits_is_left_alone() -> None:
    assert excerpt("one\ntwo\n", 60) == "one\ntwo"


def test_of_a_long_text_the_beginning_and_the_end_are_kept() -> None:
    told = excerpt("\n".join(f"line {n}" for n in range(1000)), 200)
    assert told.startswith("line 0\nline 1\n")
    assert told.endswith("line 998\nline 999")
    assert len(MARK.findall(told)) == 1


def test_a_cut_falls_between_lines_where_there_are_some() -> None:
    told = excerpt("\n".join(f"line {n:03}" for n in range(1000)), 200)
    lines = [line for line in told.splitlines() if not MARK.fullmatch(line)]
    assert all(re.fullmatch(r"line \d{3}", line) for line in lines)


def test_a_mark_says_how_many_characters_are_missing() -> None:
    told = excerpt("x" * 10_000, 100)
    assert missing(told) == 9_900
    assert told.count("x") == 100


def test_what_is_missing_of_a_huge_text_is_counted_without_reading_it() -> None:
    told = excerpt("x" * 5_000_000, 100)
    assert missing(told) == 4_999_900


def test_escapes_and_control_characters_do_not_survive() -> None:
    assert excerpt("\x1b[31mred\x1b[0m\0\x07 \u202eevil", 60) == "red evil"


def test_a_diff_is_told_from_its_beginning() -> None:
    told = first_lines([f"+{n}" for n in range(100)], 20, "lines")
    assert told[:2] == ["+0", "+1"]
    assert told[-1] == cut_mark(100 - (len(told) - 1), "lines")


def test_lines_that_fit_are_all_told() -> None:
    assert first_lines(["+a", "+b"], 100, "lines") == ["+a", "+b"]


def test_one_endless_line_is_cut_itself_instead_of_hiding_everything() -> None:
    (line, after) = first_lines(["+" + "x" * 100_000, "+y"], 400, "lines")
    assert line.startswith("+xxx")
    assert missing(line) == 100_001 - line.count("x") - 1
    assert after == "+y"


def test_a_short_line_is_not_marked() -> None:
    assert shortened("src/shop/pricing.py", 300) == "src/shop/pricing.py"


def test_a_long_line_is_marked_with_what_is_missing() -> None:
    assert shortened("a" * 310, 300) == "a" * 300 + "[… 10 characters cut …]"


@given(st.text(), st.integers(20, 400))
def test_an_excerpt_is_clean_and_no_longer_than_asked_for(text: str, limit: int) -> None:
    told = excerpt(text, limit)
    assert is_clean(told)
    assert len(told) <= limit + LONGEST_MARK


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), min_size=1), st.integers(20, 60)
)
def test_nothing_is_missing_without_a_mark(text: str, limit: int) -> None:
    whole = clean(text * 40).strip()
    told = excerpt(text * 40, limit)
    shown = MARK.sub("", told)
    assert missing(told) >= len(whole) - len(shown)
    assert MARK.search(told) or told == whole


@given(st.lists(st.text(max_size=900), max_size=60), st.integers(80, 900))
def test_the_first_lines_fit_and_the_others_are_counted(lines: list[str], limit: int) -> None:
    told = first_lines(lines, limit, "lines")
    rest = MARK.fullmatch(told[-1]) if told else None
    kept = told[:-1] if rest and rest[2] == "lines" else told
    assert len(kept) + (missing(told[-1]) if kept is not told else 0) == len(lines)
    assert len("\n".join(told)) <= limit + LONGEST_MARK
    assert is_clean("".join(told))
