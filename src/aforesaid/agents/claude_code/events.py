"""Claude Code: its hook payloads become events, its transcripts are read as the same events."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from aforesaid import clock
from aforesaid.agents.base import Agent, Json, text_of
from aforesaid.agents.claude_code import conversation, tools, transcript
from aforesaid.agents.claude_code.install import AGENT, CONNECTION
from aforesaid.model import events
from aforesaid.privacy.files import Fields

# What the client puts into a prompt beside what the user wrote.
ADDED = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-message|bash-std[a-z]+|task-notification|ide_[a-z_]+)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)


class ClaudeCode(Agent):
    name = AGENT
    connection = CONNECTION
    variables = CONNECTION.variables
    own_tools = tools.OUR_TOOLS
    fields = Fields.of(
        given="tool_input",
        results="tool_response error",
        files="file_path notebook_path",
        paths="filePath path filename",
        kept="type description edit_mode cell_type output_mode command subagent_type",
        place="session_id hook_event_name transcript_path cwd tool_use_id prompt_id agent_id agent_type "
        "tool_name permission_mode source",
    )
    context_limit = 10_000  # above it the client shows the model a preview and a path

    def read_prompt(self, payload: Json) -> events.PromptSubmitted:
        text = text_of(payload, "prompt")
        if text.lstrip().startswith(conversation.BY_CLIENT):
            return events.PromptSubmitted(text, by_machine=True)
        return events.PromptSubmitted(ADDED.sub("\n", text), by_machine=False)

    def read_action(self, name: str, given: object, result: object) -> events.Action:
        return tools.action(name, given, result)

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
