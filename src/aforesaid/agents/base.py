"""What aforesaid needs to know about a coding agent, and how its JSON is read.

An agent's hooks send the payload that Claude Code introduced and others took over. Fields that are missing or
of another shape than the recorded payloads are tolerated: the event is kept with what is there. Refused is
only what is not a JSON object or names no session, because then nothing says where it belongs.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid.ids import digest
from aforesaid.model import events
from aforesaid.payload.limits import NotJson, json_object
from aforesaid.privacy.files import Fields

if TYPE_CHECKING:
    from aforesaid.agents.connection import Connection

COMPACT = "compact"
EXIT_CODE = re.compile(r"\AExit code (\d{1,9})\b")
MESSAGE_EVENT = "AgentMessage"  # ours: no agent has a hook for it


# Fields may be missing or of another type than expected.
Json = dict[str, Any]


def text_of(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""


def number_of(values: Mapping[str, Any], field: str) -> int:
    value = values.get(field)
    return value if isinstance(value, int) else 0


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Variables:
    """Environment variables by which an agent tells its children about itself. Empty: it has none.

    `project`: the directory it was started in; `session`: the id of the session; `inside`: one of them is set
    in every process that the agent starts.
    """

    project: str = ""
    session: str = ""
    inside: tuple[str, ...] = ()


class Agent:
    """Without transcripts; others override what they have.

    `connection`: how it is configured to run our hooks and our MCP server; None if it cannot be. `fields`:
    names in its payloads that redaction has to know. `own_tools`: what names of tools of our MCP server begin
    with. `context_limit`: characters that a hook may add to the conversation. `event_names`, `field_names`:
    its own names of events and of fields, and what they are here.
    """

    name = ""
    connection: "Connection | None" = None
    variables = Variables()
    fields = Fields()
    own_tools: tuple[str, ...] = ()
    context_limit = 10_000
    event_names: Mapping[str, str] = {}
    field_names: Mapping[str, str] = {}

    def read_prompt(self, payload: Json) -> events.PromptSubmitted | None:
        """None for a prompt that is not the user's."""
        return events.PromptSubmitted(text_of(payload, "prompt"), by_machine=False)

    def read_action(self, name: str, given: object, result: object) -> events.Action:
        """What a tool did. A failed call has no result, and says what it was going to do."""
        raise NotImplementedError

    def read_failure(self, payload: Json) -> events.Failure | None:
        if "error" not in payload:
            return None
        error = text_of(payload, "error")
        code = EXIT_CODE.match(error)
        interrupted = bool(payload.get("is_interrupt", False))
        return events.Failure(error, int(code[1]) if code else None, interrupted)

    def parse(self, capture: events.Capture) -> events.Event | events.Unreadable | None:
        """An event, None for a capture we deliberately do not keep, or why it cannot be read."""
        try:
            payload = self._payload(capture)
        except NotJson as error:
            return events.Unreadable(str(error))
        session = text_of(payload, "session_id")
        if not session:
            return events.Unreadable("the payload names no session_id")
        what = self._happening(payload)
        if what is None:
            return None
        agent_id, agent_type = text_of(payload, "agent_id"), text_of(payload, "agent_type")
        return events.Event(
            agent=self.name,
            session=session,
            key=self.key(what, payload),
            what=what,
            prompt_id=text_of(payload, "prompt_id") or None,
            subagent=events.Subagent(agent_id, agent_type) if agent_id and agent_type else None,
            cwd=text_of(payload, "cwd") or capture.project_dir,
            transcript=text_of(payload, "transcript_path") or None,
            branch=text_of(payload, "git_branch"),
        )

    def parse_stored(self, row: events.StoredEvent, project_dir: str) -> events.Event | None:
        """It could be read once; a newer parser that cannot is no reason to fail."""
        event = self.parse(replace(row.capture, project_dir=project_dir))
        return event if isinstance(event, events.Event) else None

    def key(self, what: events.Happening, payload: Json) -> str | None:
        """The same happening has the same key, whether a hook or the transcript reports it."""
        prompt_id, agent_id = text_of(payload, "prompt_id"), text_of(payload, "agent_id")
        match what:
            case events.ToolUsed(use_id=use_id):
                return f"tool:{use_id}" if use_id else None
            case events.PromptSubmitted():
                text = text_of(payload, "prompt")
                return f"prompt:{prompt_id}:{digest(text)}" if prompt_id else None
            case events.AgentMessage(text=text):
                return f"message:{text_of(payload, 'message_id')}:{digest(text)}"
            case events.TurnEnded(last_message=text):
                return f"stop:{prompt_id}:{digest(text)}" if prompt_id else None
            case events.SubagentEnded():
                return f"subagent:{agent_id}" if agent_id else None
            case _:
                return None

    def file_wanted(self, capture: events.Capture) -> events.FileWanted | None:
        """What a capture of the hook `file` asks about; None where it names no file."""
        try:
            payload = self._payload(capture)
        except NotJson:
            return None
        if self._event_name(payload) != "PreToolUse":
            return None
        args = as_object(payload.get("tool_input"))
        session, tool = text_of(payload, "session_id"), text_of(payload, "tool_name")
        path = next(filter(None, (text_of(args, name) for name in sorted(self.fields.files))), "")
        return events.FileWanted(session, path, tool) if session and path else None

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:
        """What the hook prints: `context` for the model, `note` for the user; empty for nothing."""
        if hook == COMPACT:
            # Added to the instructions for the summary, as it is; JSON would be shown as JSON.
            return context[: self.context_limit].encode("utf-8", "replace")
        output: dict[str, object] = {}
        if note:
            output["systemMessage"] = note
        if context and self.connection:
            output["hookSpecificOutput"] = {
                "hookEventName": next(r.event for r in self.connection.rows if r.hook == hook),
                "additionalContext": context[: self.context_limit],
            }
        # ASCII only: the hook splices these bytes without knowing any encoding.
        return json.dumps(output).encode() if output else b""

    def transcripts(self, env: Mapping[str, str]) -> Iterator[events.TranscriptFile]:  # noqa: ARG002
        """Every session file on this machine, newest first; also those that cannot be read."""
        return iter(())

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        return Path(env.get("HOME", "/"))

    def read_transcript(
        self,
        file: events.TranscriptFile,  # noqa: ARG002
        mark: str | None,  # noqa: ARG002
        on_passed_over: Callable[[int], None] = lambda _: None,  # noqa: ARG002
    ) -> Iterator[events.TranscriptEvent]:
        """What happened since `mark`, in order and as the hooks would have reported it. A mark that does not
        fit the file (it was replaced or cut) counts as none. Lines that cannot be read are passed over, and
        counted at the end."""
        return iter(())

    def _payload(self, capture: events.Capture) -> Json:
        found = json_object(capture.body)
        return {self.field_names.get(name, name): each for name, each in found.items()}

    def _event_name(self, payload: Json) -> str:
        name = text_of(payload, "hook_event_name")
        return self.event_names.get(name, name)

    def _happening(self, payload: Json) -> events.Happening | None:
        match self._event_name(payload):
            case "SessionStart":
                source, model = text_of(payload, "source"), text_of(payload, "model")
                return events.SessionStarted(source or "startup", model or None)
            case "UserPromptSubmit":
                return self.read_prompt(payload)
            case "PostToolUse" | "PostToolUseFailure":
                return self._tool(payload)
            case name if name == MESSAGE_EVENT:
                return events.AgentMessage(text_of(payload, "message"))
            case "Stop":
                return events.TurnEnded(text_of(payload, "last_assistant_message"))
            case "SubagentStop":
                # A compaction looks like a sub-agent without a type; it is none of the user's work.
                if not text_of(payload, "agent_type"):
                    return None
                return events.SubagentEnded(text_of(payload, "last_assistant_message"))
            case "PreCompact":
                wanted = text_of(payload, "custom_instructions")
                return events.CompactionBegan(text_of(payload, "trigger"), wanted)
            case "SessionEnd":
                return events.SessionEnded(text_of(payload, "reason"))
            case _:
                return None

    def _tool(self, payload: Json) -> events.ToolUsed:
        name, duration = text_of(payload, "tool_name"), payload.get("duration_ms")
        return events.ToolUsed(
            name=name,
            use_id=text_of(payload, "tool_use_id"),
            action=self.read_action(name, payload.get("tool_input"), payload.get("tool_response")),
            failure=self.read_failure(payload),
            duration_ms=duration if isinstance(duration, int) else None,
        )
