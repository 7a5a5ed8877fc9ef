"""Payloads in the shape in which Claude Code sends them, for sessions that a test makes up."""

import json
from typing import Any

CWD = "/home/dev/shop"


def tool(
    session: str,
    use_id: str,
    *,
    name: str = "Bash",
    prompt_id: str | None = None,
    output: str = "ok",
) -> bytes:
    return _payload(
        "PostToolUse",
        session,
        prompt_id,
        tool_name=name,
        tool_use_id=use_id,
        tool_input={"command": f"echo {use_id}"},
        tool_response={"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
        duration_ms=12,
    )


def write(session: str, use_id: str, prompt_id: str, path: str) -> bytes:
    content = f"def made_by_{use_id}():\n    return {use_id!r}\n"
    return _payload(
        "PostToolUse",
        session,
        prompt_id,
        tool_name="Write",
        tool_use_id=use_id,
        tool_input={"file_path": path, "content": content},
        tool_response={
            "type": "create",
            "filePath": path,
            "content": content,
            "structuredPatch": [],
            "originalFile": None,
        },
        duration_ms=3,
    )


def prompt(session: str, prompt_id: str, text: str) -> bytes:
    return _payload("UserPromptSubmit", session, prompt_id, prompt=text)


def stop(session: str, prompt_id: str, message: str = "Done.") -> bytes:
    return _payload("Stop", session, prompt_id, last_assistant_message=message)


def end(session: str, reason: str = "other") -> bytes:
    return _payload("SessionEnd", session, None, reason=reason)


def _payload(event: str, session: str, prompt_id: str | None, **fields: Any) -> bytes:
    common = {
        "session_id": session,
        "transcript_path": f"/home/dev/.claude/projects/-home-dev-shop/{session}.jsonl",
        "cwd": CWD,
        "permission_mode": "default",
        "hook_event_name": event,
    }
    if prompt_id is not None:
        common["prompt_id"] = prompt_id
    return json.dumps(common | fields).encode()
