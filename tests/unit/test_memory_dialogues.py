"""The dialogues that ship with the product: their shape, and what the rules make of them."""

from collections import Counter

import pytest

from aforesaid.memory.extraction.by_model import may_teach
from aforesaid.model.memories import TYPES
from benchmarks.memory import extraction
from benchmarks.memory.asked import Asked
from benchmarks.memory.dialogues import HALVES, half, shipped
from benchmarks.memory.extraction import Outcome


@pytest.fixture(scope="module", params=HALVES)
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    found, asked = extraction.run(None, half(request.param))
    assert asked == Asked()
    return found


def test_the_set_is_large_and_mixed() -> None:
    assert len(shipped()) >= 70
    assert len({each.id for each in shipped()}) == len(shipped())
    for name in HALVES:
        talks = half(name)
        with_something = sum(bool(each.expected) for each in talks)
        assert 0.25 < with_something / len(talks) < 0.6
        explicit = Counter(e.explicit for each in talks for e in each.expected)
        assert explicit[True] >= 20
        assert explicit[False] >= 5


def test_every_dialogue_is_well_formed() -> None:
    for talk in shipped():
        assert talk.half in HALVES
        assert 1 <= len(talk.messages) <= 6, talk.id
        roles = [message.role for message in talk.messages]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2), (
            talk.id
        )
        names = {memory.name for memory in talk.existing}
        for expected in talk.expected:
            assert set(expected.types) <= set(TYPES), talk.id
            assert expected.words, talk.id
            assert expected.updates is None or expected.updates in names, talk.id


def test_no_two_dialogues_are_the_same() -> None:
    said = [tuple(message.text for message in talk.messages) for talk in shipped()]
    assert len(set(said)) == len(said)


def test_the_rules_write_hardly_a_false_memory(outcomes: list[Outcome]) -> None:
    wrong = sum(len(each.wrong) for each in outcomes)
    assert wrong <= 0.12 * sum(each.written for each in outcomes)
    assert [each.dialogue.id for each in outcomes if each.changed] == []


def test_the_rules_find_what_is_said_in_so_many_words(outcomes: list[Outcome]) -> None:
    explicit = [(e, m) for each in outcomes for e, m in each.found if e.explicit]
    found = [(e, m) for e, m in explicit if m]
    assert len(found) >= 0.8 * len(explicit)
    mistyped = [e.words for e, m in found if m and m.type not in e.types]
    assert len(mistyped) <= 0.05 * len(found), mistyped


def test_corrections_find_their_memory(outcomes: list[Outcome]) -> None:
    corrections = [(e, m) for each in outcomes for e, m in each.found if e.updates]
    assert corrections
    assert all(m is not None and e.updates in m.replaces for e, m in corrections)


def test_a_model_is_asked_about_most_that_is_worth_it() -> None:
    worth = [talk for talk in shipped() if talk.expected]
    asked = [talk for talk in worth if any(map(may_teach, talk.turns()))]
    assert len(asked) >= 0.85 * len(worth)
