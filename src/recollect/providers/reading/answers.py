"""What the user answered to the agent's questions: from what AskUserQuestion was given, and what came out.

Hooks and transcripts have an object: `questions` as asked, `answers` by question, `annotations` with
the user's notes, `response` if the user wrote something instead of choosing. A sub-agent's transcript, and an
older client's, has only the text that the model saw: `"Question"="Answer"`. A dialog that closed by itself,
because nobody was there, was not answered.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from recollect import text
from recollect.model.events import OtherTool

ASKING = "AskUserQuestion"
READ, READ_TEXT = 200_000, 20_000  # characters
LIMIT = 200
MOST = 20  # answers to one call
PAIR = re.compile(
    r'"([^\n]{3,600}?)"="([^\n]{1,2000}?)"(?=, "|\.(?:\s|\Z)|\s*\Z| selected preview:| notes: )'
)
WROTE = re.compile(r"\A\s*The user responded: (.{1,2000})", re.DOTALL)
NOBODY_THERE = "Before going idle"
NOTES_ONLY = "(notes only)"  # what the client puts where nothing was chosen


@dataclass(frozen=True, slots=True)
class Answered:
    """`offered`: the labels to choose from, as far as they are known."""

    question: str
    answer: str
    offered: tuple[str, ...] = ()


def read_answers(asked: OtherTool) -> tuple[Answered, ...]:
    """In the order of asking. An output that is neither form has none: better none than a wrong one."""
    given, output = _object(asked.input), asked.output[:READ]
    if output.lstrip().startswith("{"):
        result = _object(output)
        if result.get("afkTimeoutMs"):
            return ()
        offers = _offers(given) | _offers(result)
        pairs = _pairs(result)
        response = result.get("response")
    else:
        offers = _offers(given)
        pairs = [] if NOBODY_THERE in output else PAIR.findall(output[:READ_TEXT])
        wrote = WROTE.match(output)
        response = wrote[1] if wrote else None
    if isinstance(response, str) and response.strip():
        pairs = [*pairs, (" ".join(offers) or "the agent's questions", response)]
    found = (
        Answered(
            text.one_line(question, LIMIT), text.one_line(answer, LIMIT), offers.get(question, ())
        )
        for question, answer in pairs[:MOST]
    )
    return tuple(each for each in found if each.question and each.answer)


def _pairs(result: dict[str, Any]) -> list[tuple[str, str]]:
    answers, notes = _dict(result.get("answers")), _dict(result.get("annotations"))
    found = []
    for question, answer in answers.items():
        told = _joined(answer).replace(NOTES_ONLY, "")
        note = _dict(notes.get(question)).get("notes")
        if isinstance(note, str) and note.strip():
            told = f"{told} ({note.strip()})" if told else note
        found.append((question, told))
    return found


def _joined(answer: object) -> str:
    """Several choices are one string, or a list."""
    if isinstance(answer, list):
        return ", ".join(part for part in answer if isinstance(part, str))
    return answer if isinstance(answer, str) else ""


def _offers(source: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The questions, each with what there was to choose from."""
    found = {}
    for asked in _list(source.get("questions")):
        question = _dict(asked).get("question")
        if isinstance(question, str):
            labels = (_dict(option).get("label") for option in _list(_dict(asked).get("options")))
            found[question] = tuple(
                text.one_line(each, 60) for each in labels if isinstance(each, str)
            )
    return found


def _object(source: str) -> dict[str, Any]:
    try:
        return _dict(json.loads(source[:READ]))
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
