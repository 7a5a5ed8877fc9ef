"""Agents without hooks of ours, which tell what happened over HTTP (`web/api/agents.py`).

The payload is our own: that module writes it, and nobody else. Tools that are named and shaped as Claude
Code's are read as those; of any other, what went in and came out is kept as text.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.agents import claude_code_tools
from recollect.model.captures import Capture, Unreadable
from recollect.model.events import (
    Event,
    Failure,
    FileWanted,
    Happening,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolUsed,
    TurnEnded,
)
from recollect.model.transcripts import Told, TranscriptFile
from recollect.payload.cutting import NotJson
from recollect.payload.reading import json_object

NAME = "api"


class ApiAgent:
    name = NAME
    has_hooks = False

    def parse(self, capture: Capture) -> Event | Unreadable | None:
        try:
            payload = json_object(capture.body)
        except NotJson as error:
            return Unreadable(str(error))
        session = payload.get("session")
        if not isinstance(session, str) or not session:
            return Unreadable("the payload names no session")
        what = _happening(payload)
        if what is None:
            return Unreadable(f"the payload is of no known kind: {str(payload.get('kind'))[:40]!r}")
        number = payload.get("prompt_number")
        return Event(
            agent=NAME,
            session=session,
            key=_key(payload, what),
            what=what,
            prompt_id=f"prompt-{number}" if isinstance(number, int) else None,
            subagent=None,
            cwd=_text(payload, "cwd") or capture.project_dir,
            transcript=None,
        )

    def file_wanted(self, capture: Capture) -> FileWanted | None:  # noqa: ARG002 - nobody asks
        return None

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:  # noqa: ARG002
        return context.encode("utf-8", "replace")

    def transcripts(self, env: Mapping[str, str]) -> Iterator[TranscriptFile]:  # noqa: ARG002
        return iter(())

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        return Path(env.get("HOME", "/"))

    def read_transcript(
        self,
        file: TranscriptFile,  # noqa: ARG002 - there are none
        mark: str | None,  # noqa: ARG002
        on_passed_over: Callable[[int], None] = lambda _: None,  # noqa: ARG002
    ) -> Iterator[Told]:
        return iter(())


def _happening(payload: dict[str, Any]) -> Happening | None:
    match payload.get("kind"):
        case "start":
            return SessionStarted("startup", None)
        case "prompt":
            return PromptSubmitted(_text(payload, "prompt"), by_machine=False)
        case "tool":
            return _tool(payload)
        case "stop":
            return TurnEnded(_text(payload, "last_message"))
        case "end":
            return SessionEnded("deleted")
        case _:
            return None


def _tool(payload: dict[str, Any]) -> ToolUsed:
    name, response = _text(payload, "tool_name"), payload.get("tool_response")
    error = _text(payload, "error")
    return ToolUsed(
        name=name,
        use_id=_text(payload, "tool_use_id"),
        action=claude_code_tools.action(name, payload.get("tool_input"), response),
        failure=Failure(error, None, False) if error else None,
        duration_ms=None,
    )


def _key(payload: dict[str, Any], what: Happening) -> str | None:
    """By the caller's own id of the call, where there is one: a call that is told twice is one. Otherwise by
    the id that the request got: two equal ones are two."""
    if isinstance(what, ToolUsed) and what.use_id:
        return f"tool:{what.use_id}"
    number = _text(payload, "id")
    return f"api:{number}" if number else None


def _text(payload: dict[str, Any], field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""
