"""Drafts brought into the house form: what is too long moves to the narrative, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import ObservationDraft
from aforesaid.model.prose import CONCEPTS, FACT_LENGTH, FACTS, SUBTITLE_WORDS, TITLE_WORDS
from aforesaid.synthesis.parse import shape_draft
from aforesaid.text import words
from tests.support.examples import examples

LONG = "The worker asks the store for the next job whenever its queue is empty and nobody holds the lock"


def _draft(title: str | None = None, **parts: object) -> ObservationDraft:
    return ObservationDraft("change", title, **parts)  # type: ignore[arg-type]


def test_a_draft_in_the_house_form_stays_as_it_is() -> None:
    draft = _draft(
        "Added search", subtitle="By words.", facts=("It is fast",), concepts=("search",)
    )
    assert shape_draft(draft) == draft


def test_a_long_title_ends_before_a_phrase_and_moves_as_a_whole() -> None:
    title = "Added retries to the mail queue so that no letter is lost"
    assert shape_draft(_draft(title)) == _draft("Added retries to the mail queue", narrative=title)


def test_a_long_title_without_a_phrase_has_as_many_words_as_fit() -> None:
    found = shape_draft(_draft("one two three four five six seven eight nine"))
    assert found.title == "one two three four five six seven eight"


def test_a_title_has_no_full_stop_and_an_empty_one_is_none() -> None:
    assert shape_draft(_draft("Added search.")).title == "Added search"
    assert shape_draft(_draft("")).title is None


def test_a_long_subtitle_is_its_first_sentence() -> None:
    subtitle = f"It waits. {LONG}. {LONG}."
    found = shape_draft(_draft(subtitle=subtitle))
    assert (found.subtitle, found.narrative) == ("It waits.", subtitle)


def test_a_subtitle_of_one_long_sentence_is_cut_and_marked() -> None:
    subtitle = " ".join(["word"] * 30)
    found = shape_draft(_draft(subtitle=subtitle))
    assert found.subtitle == " ".join(["word"] * 24) + "…"
    assert found.narrative == subtitle


def test_a_long_fact_is_told_as_its_sentences() -> None:
    assert shape_draft(_draft(facts=(f"{LONG}. {LONG}!",))).facts == (f"{LONG}.", f"{LONG}!")


def test_a_long_fact_that_cannot_be_parted_is_cut_and_moves_as_a_whole() -> None:
    fact = f"{LONG} {LONG}"
    found = shape_draft(_draft(facts=(fact, "It is fast"), narrative="More."))
    assert found.facts[0].endswith("…")
    assert found.facts[1:] == ("It is fast",)
    assert found.narrative == f"More.\n\n{fact}"


def test_what_the_narrative_says_already_is_not_said_twice() -> None:
    fact = f"{LONG} {LONG}"
    assert shape_draft(_draft(facts=(fact,), narrative=f"{fact}.")).narrative == f"{fact}."


def test_facts_and_concepts_beyond_the_limit_move() -> None:
    found = shape_draft(
        _draft(facts=tuple(f"Fact {n}" for n in range(9)), concepts=tuple("abcdefg"))
    )
    assert found.facts == tuple(f"Fact {n}" for n in range(7))
    assert found.concepts == tuple("abcde")
    assert found.narrative == "Fact 7\n\nFact 8\n\nf, g"


WORDS = st.sampled_from(
    (
        "worker",
        "Cache.",
        "fails;",
        "to",
        "and",
        "wait,",
        "so",
        "3.5",
        "漢字。",
        "e.g.",
        "1)",
        "x" * 60,
    )
)
PROSE = st.one_of(st.text(), st.lists(WORDS, max_size=60).map(" ".join))


@examples(50)
@given(
    st.builds(
        ObservationDraft,
        type=st.just("change"),
        title=st.none() | PROSE,
        subtitle=st.none() | PROSE,
        facts=st.lists(PROSE, max_size=10).map(tuple),
        narrative=st.none() | PROSE,
        concepts=st.lists(st.text(max_size=9), max_size=8).map(tuple),
    )
)
def test_any_draft_takes_the_house_form_and_no_word_is_lost(draft: ObservationDraft) -> None:
    found = shape_draft(draft)
    assert len((found.title or "").split()) <= TITLE_WORDS
    assert len((found.subtitle or "").split()) <= SUBTITLE_WORDS
    assert len(found.facts) <= FACTS
    assert all(len(fact) <= FACT_LENGTH for fact in found.facts)
    assert len(found.concepts) <= CONCEPTS
    assert _words(draft) <= _words(found)
    assert shape_draft(found).facts == found.facts


def _words(draft: ObservationDraft) -> set[str]:
    parts = (draft.title, draft.subtitle, draft.narrative, *draft.facts, *draft.concepts)
    return {word for part in parts for word in words(part or "")}
