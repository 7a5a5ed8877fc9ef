"""Old observations of a sentence or two, lifted to the form with title, subtitle, facts and narrative."""

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import (
    TYPES,
    ObservationDraft,
    cite_event,
    cite_observation,
    cited_observations,
    known_type,
)
from aforesaid.model.prose import parse_flat_text, sentences
from tests.support.examples import examples
from tests.support.tables import loop_over


def test_a_sentence_becomes_title_subtitle_fact_and_narrative() -> None:
    text = (
        "Fixed the login redirect loop by keeping the return URL, because Safari lost the cookie."
    )
    assert parse_flat_text("bugfix", text) == ObservationDraft(
        "bugfix", "Fixed the login redirect loop", text, (text,), text
    )


def test_every_sentence_is_a_fact() -> None:
    text = "The store uses WAL. Readers never wait! See docs/adr/0002.md for why."
    found = parse_flat_text("decision", text)
    assert found.title == "The store uses WAL"
    assert found.subtitle == "Readers never wait!"
    assert found.facts == (
        "The store uses WAL.",
        "Readers never wait!",
        "See docs/adr/0002.md for why.",
    )
    assert found.narrative == text


@loop_over(
    ("text", "title"),
    [
        ("Added search", "Added search"),
        ("Added a search page, with filters by type.", "Added a search page"),
        (
            "Fix: the worker lost its lease when a request was slow",
            "Fix: the worker lost its lease",
        ),
        ("Use WAL mode instead of a rollback journal for the store", "Use WAL mode"),
        (
            "one two three four five six seven eight nine ten",
            "one two three four five six seven eight",
        ),
        (
            "The worker now retries three times before giving up",
            "The worker now retries three times",
        ),
        ("修复了登录重定向循环，因为 cookie 丢失。", "修复了登录重定向循环"),
    ],
)
def test_a_title_is_the_first_clause_cut_at_a_word(text: str, title: str) -> None:
    assert parse_flat_text("change", text).title == title


def test_a_long_sentence_is_parted_where_its_clauses_join() -> None:
    text = (
        "The worker retries a failed job three times before it gives up; the waiting time doubles with "
        "each try up to an hour, and a quota error does not cost a try because the queue is parked."
    )
    found = parse_flat_text("feature", text)
    assert found.facts == (
        "The worker retries a failed job three times before it gives up;"
        " the waiting time doubles with each try up to an hour",
        "a quota error does not cost a try because the queue is parked.",
    )
    assert found.narrative == text
    assert len((found.subtitle or "").split()) == 24


@loop_over(
    ("said", "kind"),
    [
        ("bugfix", "bugfix"),
        ("Bug Fix", "bugfix"),
        ("fix", "bugfix"),
        ("Refactoring", "refactor"),
        ("type: feature", "feature"),
        ("feature, bugfix", "change"),
        ("whatever", "change"),
        ("", "change"),
    ],
)
def test_a_type_is_known_however_it_is_spelt(said: str, kind: str) -> None:
    assert known_type(said) == kind


def test_nothing_is_lifted_from_nothing() -> None:
    assert parse_flat_text("x", " \n") == ObservationDraft("change", None)


WORDS = st.sampled_from(
    (
        "the",
        "worker,",
        "cache.",
        "fails;",
        "and",
        "because",
        "3.5",
        "漢字。",
        "—",
        "(x)",
        "e.g.",
        "Why?",
    )
)
TEXTS = st.one_of(st.text(), st.lists(WORDS, max_size=120).map(" ".join))


@examples(60)
@given(st.text(max_size=10), TEXTS)
def test_any_text_takes_the_right_shape_and_no_word_is_lost(kind: str, text: str) -> None:
    found = parse_flat_text(kind, text)
    assert found.type in TYPES
    assert len((found.title or "").split()) <= 8
    assert len((found.subtitle or "").split()) <= 24
    assert all(0 < len(fact) <= 150 for fact in found.facts)
    joined = "".join(sentences(found.narrative or ""))
    letters = [c for c in found.narrative or "" if c.isalpha()]
    assert [c for c in joined if c.isalpha()] == letters


def test_what_was_written_is_what_is_found() -> None:
    said = f"evidence: [{cite_observation(12)}, {cite_event(7)}, {cite_observation(120)}]"
    assert cited_observations(said) == {12, 120}
    assert not cited_observations("an observation of 12 birds, observations 3")
