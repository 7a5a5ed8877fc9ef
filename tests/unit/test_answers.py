"""The user's answers to the agent's questions, as hooks and transcripts tell them: what was chosen."""

import json
from pathlib import Path
from typing import Any

import pytest

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.agents.claude_code.questions import read_answers
from aforesaid.model.events import Capture, Event, ToolUsed
from aforesaid.model.observations import SummaryDraft
from aforesaid.providers.rules import Rules
from aforesaid.synthesis.turn import render_events
from tests.support import transcripts
from tests.support.tables import loop_over
from tests.support.transcripts import Written
from tests.support.turns import turn, used

RIG = "Which rig do these belong to? (One app — should I use 'spotter'?)"
TOOLS = "Which tools should we set up?"
QUESTIONS = [
    {
        "question": RIG,
        "header": "Rig prefix",
        "options": [
            {"label": "spotter", "description": "Use 'spotter' as the rig prefix"},
            {"label": "No rig", "description": "Don't use a rig prefix"},
        ],
        "multiSelect": False,
    },
    {
        "question": TOOLS,
        "header": "Tools",
        "options": [
            {"label": "All four (Recommended)", "description": "Also Sobelow"},
            {"label": "Credo", "description": "Only that"},
        ],
        "multiSelect": True,
    },
]
RESULT = {"questions": QUESTIONS, "answers": {RIG: "No rig", TOOLS: "Credo, mix_audit"}}
TEXT = (
    f'User has answered your questions: "{RIG}"="No rig", "{TOOLS}"="Credo, mix_audit". '
    "You can now continue with the user's answers in mind."
)
CHOSEN = [(RIG, "No rig"), (TOOLS, "Credo, mix_audit")]


def answers(output: object, given: object = None) -> list[tuple[str, str]]:
    told = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    asked = given or {"questions": QUESTIONS}
    return [(each.question, each.answer) for each in read_answers(asked, told)]


@pytest.mark.parametrize("output", [RESULT, TEXT], ids=["object", "text"])
def test_only_what_the_user_answered_is_an_answer(output: object) -> None:
    assert answers(output) == CHOSEN


def by_hook(result: object) -> Event:
    payload: dict[str, Any] = {
        "session_id": "s",
        "cwd": "/home/dev/shop",
        "hook_event_name": "PostToolUse",
    }
    payload |= {"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1"}
    payload |= {"tool_input": {"questions": QUESTIONS}, "tool_response": result}
    body = json.dumps(payload).encode()
    event = ClaudeCode().parse(Capture("name", "claude-code", "save", "/home/dev/shop", body, 0))
    assert isinstance(event, Event), event
    return event


def by_transcript(folder: Path, result: object) -> Event:
    written = Written()
    written.prompt("Set it up.")
    written.call("toolu_1", "AskUserQuestion", questions=QUESTIONS)
    written.result("toolu_1", TEXT, result)
    written.says("Done.")
    told = transcripts.read(written.write(folder))
    return next(each.event for each in told if isinstance(each.event.what, ToolUsed))


@pytest.mark.parametrize(
    "result", [RESULT, TEXT, None], ids=["object", "text", "what the model saw"]
)
def test_hook_and_transcript_become_the_same_true_sentence(result: object, tmp_path: Path) -> None:
    for event in (by_hook(result or TEXT), by_transcript(tmp_path, result)):
        draft = Rules().summarize(turn("Set it up.", event))
        assert isinstance(draft, SummaryDraft)
        assert draft.learned == (
            f"To “{RIG}” the user answered “No rig”. "
            f"To “{TOOLS}” the user answered “Credo, mix_audit”."
        )


def test_a_model_is_told_the_questions_with_what_was_offered_and_chosen() -> None:
    text = render_events(turn("Set it up.", by_hook(RESULT)), 6_000)
    assert "Asked the user:" in text
    assert f"“{RIG}” (offered: spotter; No rig) → the user answered “No rig”" in text
    assert "header" not in text


def test_quotes_in_questions_and_answers_stay_in_them() -> None:
    text = 'The user answered: "Call it "x" or "y"?"="neither, "z" please", "Now?"="Yes". Read on.'
    assert answers(text) == [('Call it "x" or "y"?', 'neither, "z" please'), ("Now?", "Yes")]


def test_notes_belong_to_their_answer_and_may_stand_alone() -> None:
    notes = {RIG: {"notes": "for now"}, TOOLS: {"notes": "ask me later"}}
    given = {"questions": QUESTIONS, "answers": {RIG: "No rig", TOOLS: "(notes only)"}}
    assert answers(given | {"annotations": notes}) == [
        (RIG, "No rig (for now)"),
        (TOOLS, "ask me later"),
    ]


def test_words_instead_of_a_choice_answer_all_questions() -> None:
    wrote = {"questions": QUESTIONS, "answers": {}, "response": "Stop asking."}
    assert answers(wrote) == [(f"{RIG} {TOOLS}", "Stop asking.")]
    assert answers("The user responded: Stop asking.") == [(f"{RIG} {TOOLS}", "Stop asking.")]


ODD: list[Any] = [
    {"questions": QUESTIONS, "answers": {}},
    {"questions": QUESTIONS, "answers": {RIG: 3, TOOLS: ""}},
    {"questions": QUESTIONS, "answers": [["a", "b"]]},
    RESULT | {"afkTimeoutMs": 60_000},
    json.dumps(RESULT)[:-20],
    "The user did not answer the questions.",
    f'No response.\n\nBefore going idle the user had selected: "{RIG}"="No rig".',
    '{"question":"a","header":"b"} and more',
    "",
]


@loop_over("output", ODD)
def test_what_nobody_answered_is_no_answer(output: object) -> None:
    assert answers(output) == []


def test_several_choices_may_come_as_a_list() -> None:
    given = {"questions": QUESTIONS, "answers": {TOOLS: ["Credo", "mix_audit"]}}
    assert answers(given) == [(TOOLS, "Credo, mix_audit")]


def test_questions_without_answers_are_told_as_any_tool() -> None:
    text = render_events(turn("Ask.", used("AskUserQuestion", "The user did not answer.")), 6_000)
    assert "AskUserQuestion: " in text
