"""Claude Code: its hook payloads become events, our answers become its hook output.

Only this module knows the client's field names. Fields that are missing or of another shape than the
recorded payloads are tolerated: the event is kept with what is there. Refused is only what is not a
JSON object or names no session, because then nothing says where it belongs.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aforesaid import clock
from aforesaid.agents.base import Agent, Variables, as_object, text_of
from aforesaid.agents.claude_code import conversation, tools, transcript
from aforesaid.ids import digest
from aforesaid.model import events
from aforesaid.payload.limits import NotJson, json_object

NAME = "claude-code"
REPLY_LIMIT = 10_000  # characters; above it the client shows the model a preview and a path
EVENT_NAMES = {"context": "SessionStart", "new": "UserPromptSubmit", "file": "PreToolUse"}
COMPACT = "compact"
# What the client puts into a prompt beside what the user wrote.
ADDED = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-message|bash-std[a-z]+|task-notification|ide_[a-z_]+)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
EXIT_CODE = re.compile(r"\AExit code (\d{1,9})\b")


class ClaudeCode(Agent):
    name = NAME
    variables = Variables(
        project="CLAUDE_PROJECT_DIR",
        session="CLAUDE_CODE_SESSION_ID",
        inside=("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
    )
    has_hooks = True

    def parse(self, capture: events.Capture) -> events.Event | events.Unreadable | None:
        try:
            payload = json_object(capture.body)
        except NotJson as error:
            return events.Unreadable(str(error))
        session = text_of(payload, "session_id")
        if not session:
            return events.Unreadable("the payload names no session_id")
        what = _happening(payload)
        if what is None:
            return None
        prompt_id = text_of(payload, "prompt_id") or None
        agent_id, agent_type = text_of(payload, "agent_id"), text_of(payload, "agent_type")
        return events.Event(
            agent=NAME,
            session=session,
            key=_key(what, payload),
            what=what,
            prompt_id=prompt_id,
            subagent=events.Subagent(agent_id, agent_type) if agent_id and agent_type else None,
            cwd=text_of(payload, "cwd") or capture.project_dir,
            transcript=text_of(payload, "transcript_path") or None,
            branch=text_of(payload, "git_branch"),
        )

    def file_wanted(self, capture: events.Capture) -> events.FileWanted | None:
        try:
            payload = json_object(capture.body)
        except NotJson:
            return None
        if text_of(payload, "hook_event_name") != "PreToolUse":
            return None
        args = as_object(payload.get("tool_input"))
        session, tool = text_of(payload, "session_id"), text_of(payload, "tool_name")
        path = text_of(args, "file_path") or text_of(args, "notebook_path")
        return events.FileWanted(session, path, tool) if session and path else None

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:
        if hook == COMPACT:
            # Added to the instructions of whoever writes the summary, as it is; JSON would be shown as JSON.
            return context[:REPLY_LIMIT].encode("utf-8", "replace")
        output: dict[str, object] = {}
        if note:
            output["systemMessage"] = note
        if context:
            output["hookSpecificOutput"] = {
                "hookEventName": EVENT_NAMES[hook],
                "additionalContext": context[:REPLY_LIMIT],
            }
        # ASCII only: the hook splices these bytes without knowing any encoding.
        return json.dumps(output).encode() if output else b""

    def transcripts(self, env: Mapping[str, str]) -> Iterator[events.TranscriptFile]:
        return transcript.files(env)

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        return transcript.folder(env)

    def read_transcript(
        self,
        file: events.TranscriptFile,
        mark: str | None,
        on_passed_over: Callable[[int], None] = lambda _: None,
    ) -> Iterator[events.TranscriptEvent]:
        return transcript.read(file, mark, self.parse, clock.now(), on_passed_over)


def _happening(payload: dict[str, Any]) -> events.Happening | None:
    match text_of(payload, "hook_event_name"):
        case "SessionStart":
            source, model = text_of(payload, "source"), text_of(payload, "model")
            return events.SessionStarted(source or "startup", model or None)
        case "UserPromptSubmit":
            text = text_of(payload, "prompt")
            if text.lstrip().startswith(conversation.BY_CLIENT):
                return events.PromptSubmitted(text, by_machine=True)
            return events.PromptSubmitted(ADDED.sub("\n", text), by_machine=False)
        case "PostToolUse" | "PostToolUseFailure":
            return _tool(payload)
        case conversation.MESSAGE_EVENT:
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


def _tool(payload: dict[str, Any]) -> events.ToolUsed:
    name, error = text_of(payload, "tool_name"), text_of(payload, "error")
    code, interrupted = EXIT_CODE.match(error), bool(payload.get("is_interrupt", False))
    failure = events.Failure(error, int(code[1]) if code else None, interrupted)
    duration = payload.get("duration_ms")
    return events.ToolUsed(
        name=name,
        use_id=text_of(payload, "tool_use_id"),
        action=tools.action(name, payload.get("tool_input"), payload.get("tool_response")),
        failure=failure if "error" in payload else None,
        duration_ms=duration if isinstance(duration, int) else None,
    )


def _key(what: events.Happening, payload: dict[str, Any]) -> str | None:
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
