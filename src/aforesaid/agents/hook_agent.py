"""Agents whose hooks send the payload that Claude Code introduced and others took over.

Fields that are missing or of another shape than the recorded payloads are tolerated: the event is kept with
what is there. Refused is only what is not a JSON object or names no session, because then nothing says where
it belongs.
"""

import json
from collections.abc import Mapping

from aforesaid.agents.base import Agent, Json, as_object, text_of
from aforesaid.agents.connection import Connection
from aforesaid.ids import digest
from aforesaid.model import events
from aforesaid.payload.limits import NotJson, json_object

COMPACT = "compact"
MESSAGE_EVENT = "AgentMessage"  # ours: no agent has a hook for it


class HookAgent(Agent):
    """`event_names`, `field_names`: the agent's own names of events and of fields, and what they are here."""

    connection: Connection
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
        interrupted = bool(payload.get("is_interrupt", False))
        return events.Failure(text_of(payload, "error"), None, interrupted)

    def parse(self, capture: events.Capture) -> events.Event | events.Unreadable | None:
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

    def key(self, what: events.Happening, payload: Json) -> str | None:
        """The same happening has the same key, whether a hook or the transcript tells of it."""
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
        if hook == COMPACT:
            # Added to the instructions for the summary, as it is; JSON would be shown as JSON.
            return context[: self.context_limit].encode("utf-8", "replace")
        output: dict[str, object] = {}
        if note:
            output["systemMessage"] = note
        if context:
            output["hookSpecificOutput"] = {
                "hookEventName": next(r.event for r in self.connection.rows if r.hook == hook),
                "additionalContext": context[: self.context_limit],
            }
        # ASCII only: the hook splices these bytes without knowing any encoding.
        return json.dumps(output).encode() if output else b""

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
