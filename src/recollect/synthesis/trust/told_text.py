"""What recollect itself has said, taken out of what an agent saw: being told something proves nothing.

Notes come back in many ways: a command that shows them, our own MCP tools, a prompt or a file that somebody
has pasted them into. The envelope shows where they stand; one without an end goes to the end of the text.
"""

import re
from dataclasses import replace

from recollect.model.events import (
    CommandRun,
    Event,
    FileRead,
    OtherTool,
    PromptSubmitted,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)
from recollect.model.origins import is_ours

ENVELOPE = re.compile(
    r"<recollect-memory\b.*?(?:</recollect-memory>|\Z)", re.DOTALL | re.IGNORECASE
)
MARK = "<recollect-memory"


def without_told(text: str) -> str:
    """As it was, where there is no note in it."""
    return ENVELOPE.sub("", text) if MARK in text.lower() else text


def own_words(event: Event) -> Event:
    """The same event, as if recollect had said nothing."""
    match event.what:
        case ToolUsed(action=CommandRun() as run) as used if is_ours(event):
            return replace(event, what=replace(used, action=replace(run, stdout="", stderr="")))
        case ToolUsed(action=FileRead() as read) as used if is_ours(event):
            return replace(event, what=replace(used, action=replace(read, content="")))
        case ToolUsed(action=OtherTool() as other) as used if is_ours(event):
            return replace(event, what=replace(used, action=replace(other, output="")))
        case ToolUsed(action=CommandRun(stdout=stdout) as run) as used:
            plain = replace(run, stdout=without_told(stdout))
            return event if plain == run else replace(event, what=replace(used, action=plain))
        case ToolUsed(action=FileRead(content=content) as read) as used:
            plain_read = replace(read, content=without_told(content))
            return event if plain_read == read else _acting(event, used, plain_read)
        case ToolUsed(action=OtherTool(output=output) as other) as used:
            plain_other = replace(other, output=without_told(output))
            return event if plain_other == other else _acting(event, used, plain_other)
        case PromptSubmitted(text=text) as prompt:
            return replace(event, what=replace(prompt, text=without_told(text)))
        case TurnEnded(last_message=text) | SubagentEnded(last_message=text):
            return replace(event, what=type(event.what)(without_told(text)))
        case _:
            return event


def _acting(event: Event, used: ToolUsed, action: FileRead | OtherTool) -> Event:
    return replace(event, what=replace(used, action=action))
