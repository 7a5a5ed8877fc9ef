"""The part of a finding that is shown: lines told apart, cut at words, matches marked."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.search import MATCH_END, MATCH_START
from aforesaid.recall.excerpts import BETWEEN, LENGTH, excerpt, marked
from aforesaid.text import ELLIPSIS

FACTS = "It runs again\nthe gasket was worn\n\n   the seal   held"
WORDS = [f"word{n}" for n in range(200)]


def plain(text: str) -> str:
    return text.replace(MATCH_START, "").replace(MATCH_END, "")


def test_what_stood_on_lines_of_its_own_is_told_apart() -> None:
    assert excerpt(FACTS, ()) == "It runs again · the gasket was worn · the seal held"
    assert excerpt(FACTS, ("gasket",)) == (
        f"It runs again · the {MATCH_START}gasket{MATCH_END} was worn · the seal held"
    )
    assert excerpt("\n\n", ()) == ""


def test_an_excerpt_is_cut_at_words_wherever_the_matches_are() -> None:
    for terms in ((), ("word3",), ("word3", "word199"), ("word90", "word91"), ("word199",)):
        for joint in (" ", "\n"):
            shown = plain(excerpt(joint.join(WORDS), terms))
            kept = shown.strip(ELLIPSIS).split(" " if joint == " " else BETWEEN)
            assert set(kept) <= set(WORDS), (terms, shown)
            assert all(term in kept for term in terms[:1])


def test_an_excerpt_begins_at_a_line_rather_than_within_one() -> None:
    text = f"{'a long story ' * 40}\nthe gasket was worn\n{'and so on ' * 40}"
    assert excerpt(text, ("gasket",)).startswith(f"{ELLIPSIS}the {MATCH_START}gasket{MATCH_END}")


def test_a_cut_within_backticks_leaves_code_as_code_and_prose_as_prose() -> None:
    command = " ".join(f"--flag-{n}" for n in range(40))
    shown = excerpt(f"Run `pump {command}` then `valve` twice", ("pump",))
    assert plain(shown).endswith(f"`{ELLIPSIS}")
    assert shown.count("`") == 2
    shown = plain(excerpt(f"Run `pump {command} gasket` then `valve` twice", ("valve",)))
    assert shown.startswith(f"{ELLIPSIS}`--flag-")
    assert shown.endswith("gasket` then `valve` twice")
    shown = plain(excerpt(f"Run `{command} gasket {command}` twice", ("gasket",)))
    assert (shown[:2], shown[-2:]) == (f"{ELLIPSIS}`", f"`{ELLIPSIS}")


def test_a_backtick_of_another_line_or_without_its_pair_opens_nothing() -> None:
    story = "a long story " * 40
    assert "`" not in excerpt(f"It`s broken\n{story}\nthe gasket", ("gasket",))
    assert "`" not in excerpt(f"It`s {story} the gasket was worn", ("gasket",))


def test_a_short_text_is_marked_as_a_whole() -> None:
    assert marked("Pump: the gaskets", ("gasket", "pump")) == (
        f"{MATCH_START}Pump{MATCH_END}: the {MATCH_START}gaskets{MATCH_END}"
    )
    assert marked("nothing here", ("pump",)) == "nothing here"


@given(st.text(), st.lists(st.sampled_from(WORDS), max_size=3))
def test_an_excerpt_of_anything_is_short_and_of_one_line(text: str, terms: list[str]) -> None:
    whole = text + " ".join(WORDS) + text * 30
    shown = plain(excerpt(whole, terms))
    assert len(shown) <= LENGTH + 4  # two marks of a cut, two backticks
    assert "\n" not in shown
    assert plain(excerpt(whole, terms)).count(ELLIPSIS) <= 2 + whole.count(ELLIPSIS)


NAMES = st.text("aeHT12-_./: ", max_size=40)
TERMS = st.lists(st.text("aeht12_", min_size=1, max_size=6), max_size=3)


@given(NAMES, TERMS)
def test_only_words_with_such_a_begin_are_taken_apart_and_no_match_is_missed(
    text: str, terms: list[str]
) -> None:
    looked_at_closely = marked(
        text + " é", terms
    )  # whatever is not ASCII may be written in many ways
    assert looked_at_closely == marked(text, terms) + " é"
