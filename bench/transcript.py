"""A client's transcript, read as the payloads that its hooks would have sent.

Enough for replaying a recording: tool calls with their results, prompts and last messages, in order.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.agents.claude_code import ClaudeCode
from recollect.model.captures import Capture, Unreadable
from recollect.model.events import Event

Json = dict[str, Any]


def payloads(file: Path) -> Iterator[tuple[int, Json]]:
    """(time, payload), in the order in which the hooks would have fired."""
    calls: dict[str, Json] = {}
    said = ""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("type") not in ("user", "assistant") or entry.get("isSidechain"):
                continue
            common = {"session_id": entry["sessionId"], "cwd": entry.get("cwd", "/")}
            at = round(datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000)
            content = entry["message"]["content"]
            if isinstance(content, str):
                if said:
                    yield at, common | {"hook_event_name": "Stop", "last_assistant_message": said}
                    said = ""
                if not entry.get("isCompactSummary"):
                    yield at, common | {"hook_event_name": "UserPromptSubmit", "prompt": content}
                continue
            for block in content:
                match block["type"]:
                    case "text" if entry["type"] == "assistant":
                        said = block["text"]
                    case "tool_use":
                        calls[block["id"]] = block
                    case "tool_result" if block["tool_use_id"] in calls:
                        call = calls.pop(block["tool_use_id"])
                        yield at, common | _result(call, block, entry.get("toolUseResult"))
    if said:
        yield at, common | {"hook_event_name": "Stop", "last_assistant_message": said}


def directory(file: Path) -> str:
    """Where the recorded session was started."""
    return str(next(payload["cwd"] for _, payload in payloads(file)))


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


def _result(call: Json, block: Json, result: object) -> Json:
    common = {
        "hook_event_name": "PostToolUse",
        "tool_name": call["name"],
        "tool_input": call["input"],
        "tool_use_id": call["id"],
    }
    text = _text(block.get("content"))
    if block.get("is_error"):
        return common | {"hook_event_name": "PostToolUseFailure", "error": text}
    return common | {"tool_response": result if isinstance(result, dict) else text}


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
