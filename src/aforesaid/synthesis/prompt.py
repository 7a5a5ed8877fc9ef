"""The prompts: Markdown files beside this module, filled with a turn.

The system part and the examples depend on the settings alone, so that providers can cache them. A change of
any file is a new VERSION: what older prompts wrote can be distinguished from what these write.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from aforesaid.model.events import FileChanged, ToolUsed
from aforesaid.model.observations import Turn
from aforesaid.model.requests import Request
from aforesaid.providers.extract.choose import BETWEEN, CLOSING, choose, find_open_ends
from aforesaid.providers.extract.work import relative_path
from aforesaid.synthesis.turn import (
    excerpt,
    first_lines,
    nested,
    render_events,
)
from aforesaid.text import fenced, one_line

VERSION = "v1"
PLACE = re.compile(r"\{\{(\w+)\}\}")
PROMPT_ROOM, SAID_ROOM, GOAL_ROOM, REPLY_ROOM = 1_600, 1_600, 240, 4_000
# Sentences of the agent; characters of a message without any that counts.
SAID, SHORT_SAID = 12, 300
RECORDED_LINES, RECORDED_ROOM = 30, 90
# Tokens. A smaller request is for a small model, and that repeats earlier titles instead of reading events.
ROOMY = 3_000
DONE_TOKENS = 400
FILES_ROOM = 600
# A model that has lost its way repeats itself until the limit.
REPLY_TOKENS = {"minimal": 800, "normal": 2_000, "verbose": 5_000}
SUMMARY_TOKENS = 800

AMOUNTS = {
    "minimal": "Write at most one observation, and only of a bug fixed, a feature built or a decision made.",
    "normal": "Write one observation for each separate result, usually one or two, never more than four.",
    "verbose": "Write one observation for each separate result or finding, up to eight.",
}
NARRATIVES = {
    "minimal": "one or two sentences with the context",
    "normal": "two to four sentences that tell what was done, how it works and why",
    "verbose": "a paragraph of 100 to 300 words that tells what was done, how it works and why",
}
# Where <none/> is offered, small models give no other answer. So it is offered only where it may be due.
CHANGED = "Files changed: {files}. Write at least one observation, about what these changes do."
UNCHANGED = (
    "No file was changed: write an observation if something worth keeping was found out, "
    "else answer <none/>."
)
UNREADABLE = "could not be read, because it was not in the form of the examples"
EMPTY = "recorded nothing, though files were changed"
FORMS = {
    "observe": "one <observation> for each result",
    "summarize": 'one <summary>, or <skip_summary reason="nothing was done"/>',
}


@dataclass(frozen=True, slots=True)
class Style:
    """What the settings may change: how much is written, in which language, and what else is skipped."""

    verbosity: str = "normal"
    language: str = "English"
    skip: tuple[str, ...] = ()


def observe(turn: Turn, style: Style, budget: int) -> Request:
    changed = changed_files(turn)
    message = _fill(
        _file("batch"),
        project=one_line(turn.project, 80),
        before=_before(turn) if budget >= ROOMY else "",
        number=str(turn.prompt_number),
        prompt=_prompt(turn),
        events=render_events(turn, budget),
        said=_said(turn),
        ask=CHANGED.format(files=", ".join(changed)) if changed else UNCHANGED,
    )
    return Request(system(style), examples(), message, REPLY_TOKENS[style.verbosity])


def summarize(turn: Turn, style: Style) -> Request:
    message = _fill(
        _file("summary"),
        project=one_line(turn.project, 80),
        number=str(turn.prompt_number),
        prompt=_prompt(turn),
        observed=_observed(turn),
        events=render_events(turn, DONE_TOKENS),
        said=_said(turn),
    )
    return Request(system(style), examples(), message, SUMMARY_TOKENS)


def repair(request: Request, reply: str, kind: str, fault: str) -> Request:
    message = _fill(
        _file("repair"),
        message=request.message,
        fault=fault,
        reply=nested(f"  {excerpt(reply, REPLY_ROOM)}") if reply.strip() else "  (it was empty)",
        form=FORMS[kind],
    )
    return Request(request.system, request.examples, message, request.most_tokens)


@cache
def system(style: Style) -> str:
    rules = "\n".join(f"- {one_line(rule, 300)}" for rule in style.skip)
    filled = _fill(
        _file("system"),
        skip=rules,
        language=one_line(style.language, 60),
        amount=AMOUNTS[style.verbosity],
        narrative=NARRATIVES[style.verbosity],
    )
    return re.sub(r"\n{3,}", "\n\n", filled)


@cache
def examples() -> tuple[tuple[str, str], ...]:
    return (
        (_file("example_summary_request"), _file("example_summary")),
        (_file("example_batch"), _file("example_observations")),
    )


@cache
def example_fields() -> tuple[str, ...]:
    """What small models repeat: the words of the worked example's answers."""
    answers = (answer for _, answer in examples())
    return tuple(
        line for answer in answers for line in re.sub(r"</?\w+/?>", "", answer).splitlines() if line
    )


def _before(turn: Turn) -> str:
    """The session so far: what it began with, and what is written down."""
    lines = []
    if turn.goal and turn.prompt_number > 1:
        lines.append(f"The session began with: {one_line(turn.goal, GOAL_ROOM)}")
    if turn.recorded:
        lines.append("Recorded already in this session, not to be written again:")
        lines += [f"- {one_line(t, RECORDED_ROOM)}" for t in turn.recorded[-RECORDED_LINES:]]
    return "\n".join(lines) + "\n\n" if lines else ""


def changed_files(turn: Turn) -> list[str]:
    tools = (each.event.what for each in turn.events if isinstance(each.event.what, ToolUsed))
    changes = (tool.action for tool in tools if not tool.failure)
    paths = (relative_path(c.path, turn.root) for c in changes if isinstance(c, FileChanged))
    return first_lines(list(dict.fromkeys(paths)), FILES_ROOM, "files")


def _prompt(turn: Turn) -> str:
    return nested(excerpt(turn.prompt, PROMPT_ROOM)) if turn.prompt else "(not known)"


def _observed(turn: Turn) -> str:
    lines = [
        f"- {one_line(': '.join(filter(None, (draft.title, *draft.sure_facts[:2]))), 400)}"
        for draft in turn.observed
    ]
    return "\n".join(lines) or "- nothing"


def _said(turn: Turn) -> str:
    """What the notes without a model quote: causes, findings and changes, and what is left to do."""
    said = [(CLOSING, turn.last_message or ""), *((BETWEEN, each) for each in turn.messages)]
    chosen = sorted(choose(said)[:SAID], key=lambda each: each.order)
    steps = find_open_ends(turn.last_message)
    lines = [f"- {each.text}" for each in chosen] + [f"- Left to do: {step}" for step in steps]
    if not lines and turn.last_message:
        lines = [f"- {one_line(turn.last_message, SHORT_SAID)}"]
    kept = "\n".join(first_lines(lines, SAID_ROOM, "sentences"))
    return f"\nWhat the agent said (its own words, no proof):\n{kept}\n" if kept else ""


def _fill(template: str, **values: str) -> str:
    """In one pass: what is filled in is not looked at again. And fenced: most of it was captured."""
    return PLACE.sub(lambda place: fenced(values[place[1]]), template).strip()


@cache
def _file(name: str) -> str:
    text = resources.files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8")
    return text.strip()
