"""The user's answers to AskUserQuestion, from the tool's input and result.

Hooks and transcripts have an object; a sub-agent's transcript, and an older client's, only the text that the
model saw: `"Question"="Answer"`. A dialog that closed by itself was not answered.
"""

import json
import re
from contextlib import suppress
from typing import Any

from aforesaid.agents.base import as_list, as_object
from aforesaid.model.events import Answered
from aforesaid.text import one_line

READ_TEXT = 20_000  # characters
LIMIT = 200
MOST = 20  # answers to one call
PAIR = re.compile(
    r'"([^\n]{3,600}?)"="([^\n]{1,2000}?)"(?=, "|\.(?:\s|\Z)|\s*\Z| selected preview:| notes: )'
)
WROTE = re.compile(r"\A\s*The user responded: (.{1,2000})", re.DOTALL)
NOBODY_THERE = "Before going idle"
NOTES_ONLY = "(notes only)"  # what the client puts where nothing was chosen


def read_answers(given: object, result: object) -> tuple[Answered, ...]:
    """In the order of asking. A result in neither form has none: better none than a wrong one."""
    offers = _offers(as_object(given))
    if isinstance(result, str) and not result.lstrip().startswith("{"):
        pairs = [] if NOBODY_THERE in result else PAIR.findall(result[:READ_TEXT])
        wrote = WROTE.match(result)
        response: object = wrote[1] if wrote else None
    else:
        if isinstance(result, str):
            with suppress(ValueError, RecursionError):
                result = json.loads(result)
        found = as_object(result)
        if found.get("afkTimeoutMs"):
            return ()
        offers |= _offers(found)
        pairs = _pairs(found)
        response = found.get("response")
    if isinstance(response, str) and response.strip():
        pairs = [*pairs, (" ".join(offers) or "the agent's questions", response)]
    answered = (
        Answered(one_line(question, LIMIT), one_line(answer, LIMIT), offers.get(question, ()))
        for question, answer in pairs[:MOST]
    )
    return tuple(each for each in answered if each.question and each.answer)


def _pairs(result: dict[str, Any]) -> list[tuple[str, str]]:
    answers, notes = as_object(result.get("answers")), as_object(result.get("annotations"))
    found = []
    for question, answer in answers.items():
        chosen = answer if isinstance(answer, list) else [answer]
        text = ", ".join(part for part in chosen if isinstance(part, str)).replace(NOTES_ONLY, "")
        note = as_object(notes.get(question)).get("notes")
        if isinstance(note, str) and note.strip():
            text = f"{text} ({note.strip()})" if text else note
        found.append((question, text))
    return found


def _offers(source: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {}
    for asked in as_list(source.get("questions")):
        question = as_object(asked).get("question")
        if isinstance(question, str):
            labels = (
                as_object(option).get("label")
                for option in as_list(as_object(asked).get("options"))
            )
            found[question] = tuple(one_line(each, 60) for each in labels if isinstance(each, str))
    return found
