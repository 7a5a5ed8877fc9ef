"""The dialogues that ship with the product: their shape, and what the rules make of them."""

from collections import Counter

import pytest

from recollect.bench.memory import dialogues, extraction
from recollect.bench.memory.dialogues import HALVES, half, shipped
from recollect.bench.memory.extraction import Asked, Outcome
from recollect.memory.extraction.turns import lasts
from recollect.model.memories import TYPES
from recollect.model.requests import Away, Failure, Reply, Request, Usage


@pytest.fixture(scope="module", params=HALVES)
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    found, asked = extraction.run("rules", half(request.param))
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


def test_the_rules_write_no_false_memory(outcomes: list[Outcome]) -> None:
    wrong = {each.dialogue.id: each.wrong for each in outcomes if each.wrong}
    assert wrong == {}
    assert [each.dialogue.id for each in outcomes if each.changed] == []


def test_the_rules_find_what_is_said_in_so_many_words(outcomes: list[Outcome]) -> None:
    explicit = [(e, m) for each in outcomes for e, m in each.found if e.explicit]
    found = [(e, m) for e, m in explicit if m]
    assert len(found) >= 0.8 * len(explicit)
    assert [e.words for e, m in found if m and m.type not in e.types] == []


def test_corrections_find_their_memory(outcomes: list[Outcome]) -> None:
    corrections = [(e, m) for each in outcomes for e, m in each.found if e.updates]
    assert corrections
    assert all(m is not None and m.name == e.updates for e, m in corrections)


def test_a_model_is_asked_about_most_that_is_worth_it() -> None:
    worth = [talk for talk in shipped() if talk.expected]
    asked = [talk for talk in worth if any(map(lasts, talk.turns()))]
    assert len(asked) >= 0.9 * len(worth)


class Parrot:
    """Proposes what the user said last, whatever it was; every third time nobody can read it."""

    name, model, longest_seconds = "parrot", "parrot-1", 1.0

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, request: Request) -> Reply | Failure:
        self.asked += 1
        if self.asked == 2:
            return Away("it is asleep")
        said = [line for line in request.message.split("\n") if line.startswith("User: ")][-1]
        text = said.removeprefix("User: ").replace('"', "'")
        answer = f'[{{"type": "project", "description": "{text}", "body": "{text}"}}]'
        return Reply("squawk" if self.asked % 3 == 0 else answer, self.model, Usage(100, 0, 0, 10))

    def idle(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen dialogues do to see what is counted."""
    monkeypatch.setattr(dialogues, "shipped", lambda: shipped()[:12])


@pytest.mark.usefixtures("few")
def test_a_model_is_measured_beside_the_rules_and_alone() -> None:
    made = extraction.measure(Parrot(), "tune")
    values = {row[0]: row[1] for row in made.rows}
    assert int(values["requests"]) > 8
    assert values["failed requests"] == "1"
    assert values["input tokens per request"].isdigit()
    assert values["unreadable replies"] != "none"
    assert made.title.endswith("by parrot-1 and rules, tune half")
    alone, asked = extraction.run(Parrot(), half("tune")[:3], rules=False)
    assert len(alone) == 3
    assert asked.requests >= 2


def test_a_model_that_says_everything_is_held_to_what_lasts() -> None:
    outcomes, _ = extraction.run(
        Parrot(), [each for each in half("tune") if not each.expected], rules=False
    )
    written = sum(len(each.wrong) for each in outcomes)
    assert written <= 0.2 * len(outcomes), [m.body for each in outcomes for m in each.wrong]


@pytest.mark.usefixtures("few")
def test_the_table_names_who_and_which_half() -> None:
    made = extraction.measure("rules", "tune")
    assert made.title == "Memories taken from 12 dialogues by rules, tune half"
    assert "requests" not in [row[0] for row in made.rows]
