"""The scoring function: each part can decide, and says so."""

from dataclasses import fields, replace
from typing import Any

import pytest

from aforesaid.clock import DAY
from aforesaid.model.search import PROMPT, Document
from aforesaid.recall import rank
from aforesaid.recall.question import Question
from aforesaid.recall.rank import Evidence, Weights
from aforesaid.times import Mention
from tests.support.tables import loop_over

NOW = 1_800_000_000_000
PLAIN = Document(
    id=1,
    kind="observation",
    source=1,
    session_id=1,
    project_id=1,
    at=NOW - DAY,
    asks=False,
    says_when=False,
    says_number=False,
    pinned=False,
    doubted=False,
    superseded=False,
    labels=frozenset(),
    previous=None,
    next=None,
    turn=3,
)
ASKED = Question("text", ("text",), frozenset(), (), asks_when=False, asks_how_many=False)
NOTHING = Evidence({}, {}, {}, NOW)


def score(
    document: Document = PLAIN, question: Question = ASKED, evidence: Evidence = NOTHING
) -> float:
    return rank.score([document], question, evidence)[0].score


BEST = {9: 10.0}  # somebody else's match, so that ours is not the measure


@loop_over(
    ("part", "document", "question", "evidence"),
    [
        ("words", PLAIN, ASKED, Evidence({1: 5.0, **BEST}, {}, {}, NOW)),
        ("words before it", PLAIN._replace(previous=9), ASKED, Evidence(BEST, {}, {}, NOW)),
        ("its prompt", PLAIN, ASKED, Evidence(BEST, {}, prompts={(1, 3): 5.0}, now=NOW)),
        ("its turn", PLAIN, ASKED, Evidence(BEST, {}, said={(1, 3): 5.0}, now=NOW)),
        ("meaning by itself", PLAIN, ASKED, Evidence({}, {}, cosines={1: 0.5}, now=NOW)),
        ("its session", PLAIN, ASKED, Evidence(BEST, {1: 10.0}, {}, NOW)),
        ("meaning", PLAIN, ASKED, Evidence({}, {}, {1: 2.0}, NOW)),
        (
            "names",
            PLAIN._replace(labels=frozenset({"tax_py", "other"})),
            replace(ASKED, names=frozenset({"tax_py", "shop"})),
            NOTHING,
        ),
        (
            "time",
            PLAIN,
            replace(ASKED, mentions=(Mention("yesterday", NOW - 2 * DAY, NOW, 0, 9),)),
            NOTHING,
        ),
        ("answers", PLAIN._replace(says_when=True), replace(ASKED, asks_when=True), NOTHING),
        ("answers", PLAIN._replace(says_number=True), replace(ASKED, asks_how_many=True), NOTHING),
        ("pinned", PLAIN._replace(pinned=True), ASKED, NOTHING),
    ],
)
def test_what_speaks_for_a_document(
    part: str, document: Document, question: Question, evidence: Evidence
) -> None:
    given = rank.score([document], question, evidence)[0].points
    assert sum(given.values()) > score()
    assert part in [reason.name for reason in rank.reasons(given, document, question)]


@loop_over(
    ("part", "change"),
    [
        ("a question", {"asks": True}),
        ("a prompt", {"kind": PROMPT}),
        ("unverified", {"doubted": True}),
        ("superseded", {"superseded": True}),
    ],
)
def test_what_speaks_against_it(part: str, change: dict[str, Any]) -> None:
    worse = PLAIN._replace(**change)
    given = rank.score([worse], ASKED, NOTHING)[0].points
    assert sum(given.values()) < score()
    assert part in [reason.name for reason in rank.reasons(given, worse, ASKED)]


def test_age_is_a_gentle_weight_and_no_cut_off() -> None:
    old, older = (PLAIN._replace(at=NOW - days * DAY) for days in (30, 3_000))
    assert score() > score(old) > score(older)
    assert score() - score(older) <= Weights().recent


def test_half_of_the_names_count_half() -> None:
    one = PLAIN._replace(labels=frozenset({"a"}))
    both = PLAIN._replace(labels=frozenset({"a", "b"}))
    asked = replace(ASKED, names=frozenset({"a", "b"}))
    assert score(both, asked) - score() == pytest.approx(2 * (score(one, asked) - score()))


def test_a_session_is_as_near_as_the_best_in_it() -> None:
    others = [
        PLAIN._replace(id=key, session_id=session) for key, session in ((1, 1), (2, 1), (3, 2))
    ]
    assert rank.session_bests(others, {1: 1.0, 2: 4.0}) == {1: 4.0, 2: 0.0}


def test_every_weight_is_used_and_every_part_has_a_name() -> None:
    assert len(fields(Weights)) == len(rank.score([PLAIN], ASKED, NOTHING)[0].points)
