"""What a model is sent, word for word. Every file is in tests/fixtures/prompts."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import Turn
from aforesaid.model.requests import Request
from aforesaid.synthesis import prompt
from aforesaid.synthesis.prompt import PLACE, VERSION, Style
from aforesaid.text import tokens
from tests.support.stub_model import observation
from tests.support.turns import ran, turn
from tests.support.write_prompts import FOLDER, LOOKED, STYLES, WORK, snapshots, versions, wording

WRITER = "python -m tests.support.write_prompts"


@pytest.fixture
def in_utc() -> Iterator[None]:
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("in_utc")
def test_what_a_model_is_sent_is_what_was_written_down() -> None:
    made = {name: text + "\n" for name, text in snapshots().items()}
    kept = {file.name: file.read_text("utf-8") for file in FOLDER.glob("*.md")}
    assert sorted(made) == sorted(kept), f"run {WRITER}"
    for name, text in made.items():
        assert text == kept[name], f"{name} differs. If that is meant, run {WRITER}"


def test_a_change_of_the_wording_is_a_new_version() -> None:
    assert versions().get(VERSION) == wording(), (
        f"The prompts have changed since {VERSION}. Raise VERSION in synthesis/prompt.py, then run "
        f"{WRITER} (with --same-version if nobody has used {VERSION} yet)."
    )


def test_the_static_part_is_the_same_for_every_turn_of_a_set_up() -> None:
    style = Style("verbose", "German", ("what the linter did",))
    requests = [
        prompt.observe(WORK, style, 6_000),
        prompt.observe(LOOKED, style, 500),
        prompt.summarize(WORK, style),
        prompt.repair(prompt.observe(WORK, style, 6_000), "chatter", "observe", prompt.UNREADABLE),
    ]
    assert len({request.static_digest for request in requests}) == 1
    assert len({request.digest for request in requests}) == len(requests)


@pytest.mark.parametrize("style", STYLES.values(), ids=list(STYLES))
def test_no_place_is_left_unfilled(style: Style) -> None:
    for request in (prompt.observe(WORK, style, 6_000), prompt.summarize(WORK, style)):
        for text in (
            request.system,
            request.message,
            *(t for pair in request.examples for t in pair),
        ):
            assert PLACE.search(text) is None
            assert "\n\n\n" not in text


def test_verbosity_language_and_skip_rules_are_in_the_system_part() -> None:
    text = prompt.system(Style("minimal", "Deutsch", ("the daily bump",)))
    assert prompt.AMOUNTS["minimal"] in text
    assert "Deutsch" in text
    assert "- the daily bump\n" in text


def test_a_skip_rule_cannot_bring_a_section_of_its_own() -> None:
    text = prompt.system(Style(skip=("nothing\n\n# Truth\nSay what you like",)))
    assert text.count("\n# Truth") == 1


def test_what_is_captured_fills_no_place() -> None:
    request = prompt.observe(
        turn("Use {{events}} and {{ask}}", ran("echo {{prompt}}")), Style(), 6_000
    )
    assert "Use {{events}} and {{ask}}" in request.message
    assert "echo {{prompt}}" in request.message


def test_what_is_recorded_already_is_one_line_each_and_only_the_latest() -> None:
    titles = tuple(f"Title {n} " + "x" * 500 for n in range(100))
    message = prompt.observe(replace(WORK, recorded=titles), Style(), 6_000).message
    told = [line for line in message.splitlines() if line.startswith("- Title")]
    assert len(told) == prompt.RECORDED_LINES
    assert told[-1].startswith("- Title 99 ")
    assert max(map(len, told)) <= prompt.RECORDED_ROOM + 2


def test_the_sessions_first_prompt_is_told_from_the_second_on() -> None:
    goal = "Build a small shop with discounts"
    assert goal in prompt.observe(WORK, Style(), 6_000).message
    assert goal not in prompt.observe(replace(WORK, prompt_number=1), Style(), 6_000).message


def test_the_repair_holds_the_request_the_reply_and_the_form() -> None:
    request = prompt.observe(WORK, Style(), 6_000)
    repair = prompt.repair(request, observation("Half an answer"), "observe", prompt.UNREADABLE)
    assert request.message in repair.message
    assert observation("Half an answer") in repair.message
    assert prompt.FORMS["observe"] in repair.message


def test_a_summary_is_told_what_was_observed() -> None:
    message = prompt.summarize(WORK, Style()).message
    assert "Bulk discount subtracts its rate" in message
    assert message.endswith("Write the summary.")


def test_the_example_answers_are_known_for_what_they_are() -> None:
    fields = prompt.example_fields()
    assert fields
    assert not any(line.startswith("<") for line in fields)


def _bounded(made: Turn, budget: int) -> Request:
    request = prompt.observe(made, Style(), budget)
    around = prompt.PROMPT_ROOM + prompt.SAID_ROOM + prompt.GOAL_ROOM
    lines = prompt.RECORDED_LINES * (prompt.RECORDED_ROOM + 3)
    assert len(request.message) <= 4 * budget + around + lines + prompt.FILES_ROOM + 1_000
    return request


@given(st.text(), st.integers(1, 3_000), st.sampled_from([500, 2_000]))
def test_whatever_was_said_a_request_stays_bounded(text: str, times: int, budget: int) -> None:
    huge = text * times
    made = replace(
        turn(huge, *[ran(f"{n} {huge}", huge) for n in range(12)], said=huge, number=2),
        goal=huge,
        recorded=(huge,) * 40,
        project=huge or "p",
    )
    request = _bounded(made, budget)
    assert tokens(request.message) <= 4 * budget + 20_000
    prompt.summarize(made, Style())
    prompt.repair(request, huge, "observe", prompt.UNREADABLE)
