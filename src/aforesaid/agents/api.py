"""Agents without hooks of ours, which tell what happened over HTTP (`web/api/agents.py`).

The payload is our own: that module writes it, and nobody else. Tools that are named and shaped as Claude
Code's are read as those; of any other, what went in and came out is kept as text.
"""

import re
from collections.abc import Mapping

from aforesaid.agents.base import EXIT_CODE, Agent, Json, text_of
from aforesaid.agents.claude_code import tools
from aforesaid.model import events
from aforesaid.privacy.files import Fields

NAME = "api"
FAILED_TESTS = re.compile(r"^\W*[1-9]\d* (?:failed|failures?|errors?)\b", re.MULTILINE)


class ApiAgent(Agent):
    name = NAME
    fields = Fields.of(place="session kind id")
    event_names: Mapping[str, str] = {
        "start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "tool": "PostToolUse",
        "stop": "Stop",
        "end": "SessionEnd",
    }
    field_names: Mapping[str, str] = {
        "session": "session_id",
        "kind": "hook_event_name",
        "last_message": "last_assistant_message",
    }

    def read_action(self, name: str, given: object, result: object) -> events.Action:
        is_output = name in tools.COMMANDS and isinstance(result, str)
        return tools.action(name, given, {"stdout": result} if is_output else result)

    def read_failure(self, payload: Json) -> events.Failure | None:
        """A command's response may be its plain output: then that alone says whether it failed."""
        error, output = text_of(payload, "error"), text_of(payload, "tool_response")
        if not error and text_of(payload, "tool_name") in tools.COMMANDS:
            code = EXIT_CODE.match(output)
            failed = (code and int(code[1])) or FAILED_TESTS.search(output)
            error = output if failed else ""
        return super().read_failure({"error": error}) if error else None

    def key(self, what: events.Happening, payload: Json) -> str | None:  # noqa: ARG002
        """By the caller's own id of the call, where there is one: a call reported twice is one. Otherwise
        by the id that the request got: two equal ones are two."""
        if use_id := text_of(payload, "tool_use_id"):
            return f"tool:{use_id}"
        number = text_of(payload, "id")
        return f"api:{number}" if number else None

    def _payload(self, capture: events.Capture) -> Json:
        payload = super()._payload(capture)
        if isinstance(number := payload.get("prompt_number"), int):
            payload["prompt_id"] = f"prompt-{number}"
        return payload | {"reason": "deleted"}
