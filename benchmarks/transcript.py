"""A recorded session for replaying: what the client's hooks would have told of it, in order."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aforesaid.agents.claude_code import transcript
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import Capture, Event, Unreadable

Json = dict[str, Any]


def payloads(file: Path) -> Iterator[tuple[int, Json]]:
    """(time, payload), in the order in which the hooks would have fired."""
    described = transcript.describe(str(file))
    for told in ClaudeCode().read_transcript(described, None):
        yield told.capture.at, json.loads(told.capture.body)


def directory(file: Path) -> str:
    """Where the recorded session was started."""
    return transcript.describe(str(file)).cwd


def events(told: Iterable[tuple[int, Json]], root: str) -> list[tuple[Capture, Event]]:
    found = []
    for number, (at, payload) in enumerate(told):
        body = json.dumps(payload).encode()
        capture = Capture(f"{number:06}", "claude-code", "save", root, body, at)
        event = ClaudeCode().parse(capture)
        if event is not None and not isinstance(event, Unreadable):
            found.append((capture, event))
    return found


def in_stretches(file: Path, size: int) -> Iterator[tuple[int, Json]]:
    """The same session as if the user had said "continue" after every few tool calls: a recording of
    few long turns becomes one of many short ones."""
    calls = prompts = 0
    for at, payload in payloads(file):
        common = {"session_id": payload["session_id"], "cwd": payload["cwd"]}
        asked = payload["hook_event_name"] == "UserPromptSubmit"
        if calls == size and not asked:
            # What the agent says in the middle of its work is an intention, not a result.
            yield at, common | {"hook_event_name": "Stop", "last_assistant_message": ""}
            calls, prompts = 0, prompts + 1
            prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "continue"}
            yield at, common | prompt | {"prompt_id": f"p{prompts}"}
        if asked:
            calls, prompts = 0, prompts + 1
        calls += payload["hook_event_name"].startswith("PostToolUse")
        yield at, payload | {"prompt_id": f"p{prompts}"}
