"""Agents without hooks of ours, which tell what happened over HTTP (`web/api/agents.py`).

The payload is our own: that module writes it, and nobody else. Tools that are named and shaped as Claude
Code's are read as those; of any other, what went in and came out is kept as text.
"""

import re
from typing import Any

from aforesaid.agents.base import Agent, text_of
from aforesaid.agents.claude_code import tools
from aforesaid.agents.claude_code.events import EXIT_CODE
from aforesaid.model import events
from aforesaid.payload.limits import NotJson, json_object
from aforesaid.privacy.files import Fields

NAME = "api"
FAILED_TESTS = re.compile(r"^\W*[1-9]\d* (?:failed|failures?|errors?)\b", re.MULTILINE)


class ApiAgent(Agent):
    name = NAME
    fields = Fields.of(place="session kind id")

    def parse(self, capture: events.Capture) -> events.Event | events.Unreadable | None:
        try:
            payload = json_object(capture.body)
        except NotJson as error:
            return events.Unreadable(str(error))
        session = payload.get("session")
        if not isinstance(session, str) or not session:
            return events.Unreadable("the payload names no session")
        what = _happening(payload)
        if what is None:
            return events.Unreadable(
                f"the payload is of no known kind: {str(payload.get('kind'))[:40]!r}"
            )
        number = payload.get("prompt_number")
        return events.Event(
            agent=NAME,
            session=session,
            key=_key(payload, what),
            what=what,
            prompt_id=f"prompt-{number}" if isinstance(number, int) else None,
            subagent=None,
            cwd=text_of(payload, "cwd") or capture.project_dir,
            transcript=None,
        )


def _happening(payload: dict[str, Any]) -> events.Happening | None:
    match payload.get("kind"):
        case "start":
            return events.SessionStarted("startup", None)
        case "prompt":
            return events.PromptSubmitted(text_of(payload, "prompt"), by_machine=False)
        case "tool":
            return _tool(payload)
        case "stop":
            return events.TurnEnded(text_of(payload, "last_message"))
        case "end":
            return events.SessionEnded("deleted")
        case _:
            return None


def _tool(payload: dict[str, Any]) -> events.ToolUsed:
    """A command's response may be its plain output: then that alone says whether it failed."""
    name, response = text_of(payload, "tool_name"), payload.get("tool_response")
    error = text_of(payload, "error")
    if name in tools.COMMANDS and isinstance(response, str):
        code = EXIT_CODE.match(response)
        if (code and int(code[1])) or FAILED_TESTS.search(response):
            error = error or response
        response = {"stdout": response}
    code = EXIT_CODE.match(error)
    return events.ToolUsed(
        name=name,
        use_id=text_of(payload, "tool_use_id"),
        action=tools.action(name, payload.get("tool_input"), response),
        failure=events.Failure(error, int(code[1]) if code else None, False) if error else None,
        duration_ms=None,
    )


def _key(payload: dict[str, Any], what: events.Happening) -> str | None:
    """By the caller's own id of the call, where there is one: a call that is told twice is one. Otherwise by
    the id that the request got: two equal ones are two."""
    if isinstance(what, events.ToolUsed) and what.use_id:
        return f"tool:{what.use_id}"
    number = text_of(payload, "id")
    return f"api:{number}" if number else None
