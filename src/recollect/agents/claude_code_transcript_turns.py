"""One conversation of a transcript, the session's own or a sub-agent's: its lines become happenings.

A turn has ended when the client says so (`turn_duration`, `stop_hook_summary`), when the model said that it
was done and another line follows, or when the next prompt comes after its words. After Esc none of these is
true, so no Stop is told, as no hook tells one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.agents import claude_code_transcript_prompts as prompts
from recollect.agents.claude_code_transcript_lines import (
    Json,
    Line,
    blocks_of,
    lines,
    object_of,
    text_of,
    time_of,
)
from recollect.agents.claude_code_transcript_results import (
    LOST,
    STOPPED,
    asked,
    interrupted,
    outcome,
)
from recollect.agents.claude_code_transcript_state import Call, State, calls_in, said_in

DONE = "end_turn"
SYNTHETIC = "<synthetic>"  # the client's own words in the model's place
START = "SessionStart"


@dataclass(frozen=True, slots=True)
class Happened:
    """`state` is what reading goes on with after this; `line` tells happenings without a key apart.
    `ended_agent` is the sub-agent whose work this is the result of."""

    payload: Json
    at: int
    line: str
    ended_agent: str = ""
    state: Any = 0


@dataclass(slots=True)
class Conversation:
    """`agent_id` is empty for the session's own. `agent_types` is what the session's own conversation says
    of its sub-agents, which older clients do not keep with them."""

    path: str
    session: str
    transcript: str
    outputs: str
    state: State
    agent_id: str = ""
    agent_type: str = ""
    agent_types: dict[str, str] = field(default_factory=dict)
    unreadable: int = 0
    at: int = 0

    def happenings(self) -> Iterator[Happened]:
        """To the end of what is written now."""
        for line in lines(self.path, self.state.offset):
            before = self.state.dump()
            passed, self.state.told = self.state.told, 0
            told = self._tellings(line)
            self.state.offset = line.end
            for number, happened in enumerate(told[passed:], start=passed + 1):
                last = number == len(told)
                state = self.state.dump() if last else _within(before, number)
                yield replace(happened, state=state)

    def finish(self) -> Iterator[Happened]:
        """Nothing more will come: what is still open was interrupted, and the last words were the last."""
        while self.state.calls:
            happened = self._interrupt(next(iter(self.state.calls)), LOST)
            yield replace(happened, state=self.state.dump())
        for happened in self._end():
            yield replace(happened, state=self.state.dump())

    def _tellings(self, line: Line) -> list[Happened]:
        entry = line.entry
        if entry is None:
            self.unreadable += 1
            return []
        if self._foreign(entry):
            return []
        self.at = time_of(entry) or self.at
        kind = entry.get("type")
        if kind == "assistant":
            return self._assistant(entry, line.start)
        said = self.state.said
        told = self._end() if said and said.reason == DONE else []
        match kind:
            case "user":
                told += self._user(entry)
            case "system":
                told += self._system(entry)
            case "attachment":
                told += self._attachment(entry, object_of(entry, "attachment"))
            case "progress":
                told += self._progress(entry, object_of(entry, "data"))
            case "queue-operation" if self.state.prompt_id and text_of(entry, "content"):
                if entry.get("operation") == "enqueue":
                    self.state.queue(text_of(entry, "content"), self.at)
        return told

    def _foreign(self, entry: Json) -> bool:
        """Copied from the session that this one was forked from, or a sub-agent's line among others."""
        other = text_of(entry, "sessionId") not in ("", self.session)
        aside = bool(entry.get("isSidechain")) and not self.agent_id
        return other or aside or "forkedFrom" in entry

    def _assistant(self, entry: Json, start: int) -> list[Happened]:
        if entry.get("isApiErrorMessage"):
            self.state.said, self.state.working = None, False
            return []
        if object_of(entry, "message").get("model") == SYNTHETIC:
            return []
        if self.agent_id and not self.agent_type:
            self.agent_type = text_of(entry, "attributionAgent")
        calls = calls_in(entry, self.state.prompt_id, start)
        for call in calls:
            self.state.open_call(call)
        said = said_in(entry, self.state.prompt_id, start)
        if said or calls:
            self.state.said, self.state.working = said, True
        # A sub-agent's last words are the end of its file: no line follows them.
        return self._end() if self.agent_id and said and said.reason == DONE else []

    def _user(self, entry: Json) -> list[Happened]:
        results = [b for b in blocks_of(entry) if b.get("type") == "tool_result"]
        if results:
            # With several results in a line, `toolUseResult` is nobody's.
            whole = entry if len(results) == 1 else entry | {"toolUseResult": None}
            return [h for block in results for h in self._result(block, whole)]
        self.state.prompt_id = text_of(entry, "promptId") or self.state.prompt_id
        if prompts.is_interruption(entry):
            self.state.said, self.state.working = None, False
            return [self._interrupt(name, STOPPED) for name in list(self.state.calls)]
        if self.agent_id:
            return []
        told = self._compaction(entry) if self.state.compacting else []
        prompt = prompts.prompt_in(entry)
        if prompt is not None:
            told += [self._interrupt(name, LOST) for name in list(self.state.calls)]
            told += [*self._end(), self._prompt(entry, prompt)]
        return told

    def _prompt(self, entry: Json, prompt: str) -> Happened:
        at, prompt_id = self.at, self.state.prompt_id
        queued = self.state.dequeue(prompt)
        if queued and entry.get("promptSource") == "queued":
            at, prompt_id = queued.at, queued.prompt_id
        return self._tell("UserPromptSubmit", entry, {"prompt": prompt}, at=at, prompt_id=prompt_id)

    def _result(self, block: Json, entry: Json) -> list[Happened]:
        call = self.state.calls.pop(text_of(block, "tool_use_id"), None)
        if call is None:
            return []
        fields = outcome(call.name, call.given, block, entry, self.outputs)
        return [self._tool(call, fields, entry, self.at)]

    def _interrupt(self, name: str, why: str) -> Happened:
        call = self.state.calls.pop(name)
        return self._tool(call, interrupted(why), {"cwd": call.cwd}, call.at)

    def _tool(self, call: Call, fields: Json, entry: Json, at: int) -> Happened:
        name = "PostToolUseFailure" if "error" in fields else "PostToolUse"
        used = {"tool_name": call.name, "tool_input": asked(call.given, fields)}
        used["tool_use_id"] = call.id
        happened = self._tell(name, entry, used | fields, at=at, prompt_id=call.prompt_id)
        response = fields.get("tool_response")
        if not isinstance(response, dict) or not (agent := text_of(response, "agentId")):
            return happened
        self._learn(agent, call)
        ended = agent if response.get("status") == "completed" else ""
        return replace(happened, ended_agent=ended)

    def _learn(self, agent: str, call: Call | None) -> None:
        if call and isinstance(call.given, dict) and text_of(call.given, "subagent_type"):
            self.agent_types[agent] = text_of(call.given, "subagent_type")

    def _system(self, entry: Json) -> list[Happened]:
        match entry.get("subtype"):
            case "stop_hook_summary" if self.state.working and not self.state.said:
                # It stopped without a word, and the hooks were told so.
                self.state.working = False
                return [self._tell("Stop", entry, {})]
            case "stop_hook_summary" | "turn_duration":
                return self._end()
            case "compact_boundary":
                about = object_of(entry, "compactMetadata")
                if about.get("trigger") == "manual":
                    # The command, with what to keep, is written after what came of it.
                    self.state.compacting = "manual"
                    return []
                took = about.get("durationMs")
                at = self.at - (took if isinstance(took, int) else 0)
                return [self._tell("PreCompact", entry, {"trigger": "auto"}, at=at)]
        return []

    def _compaction(self, entry: Json) -> list[Happened]:
        told = prompts.instructions(entry, "/compact")
        if told is None:
            return []
        fields = {"trigger": self.state.compacting, "custom_instructions": told or None}
        self.state.compacting = ""
        return [self._tell("PreCompact", entry, fields)]

    def _attachment(self, entry: Json, attachment: Json) -> list[Happened]:
        if attachment.get("type") == "queued_command" and not self.agent_id:
            prompt = prompts.queued_prompt(attachment)
            if prompt is None:
                return []
            self.state.dequeue(prompt)
            at = time_of(attachment) or self.at
            return [self._tell("UserPromptSubmit", entry, {"prompt": prompt}, at=at)]
        return self._session_start(entry, attachment, text_of(attachment, "toolUseID"))

    def _progress(self, entry: Json, data: Json) -> list[Happened]:
        if agent := text_of(data, "agentId"):
            self._learn(agent, self.state.calls.get(text_of(entry, "parentToolUseID")))
        return self._session_start(entry, data, text_of(entry, "toolUseID"))

    def _session_start(self, entry: Json, hook: Json, firing: str) -> list[Happened]:
        """Told only by what a hook said then, once for all the hooks of one start."""
        source = text_of(hook, "hookName").partition(":")[2]
        known = self.agent_id or firing == self.state.started
        if hook.get("hookEvent") != START or not source or known:
            return []
        self.state.started = firing
        prompt_id = self.state.prompt_id if source == "compact" else ""
        return [self._tell(START, entry, {"source": source}, prompt_id=prompt_id)]

    def _end(self) -> list[Happened]:
        said, self.state.said = self.state.said, None
        if said is None:
            return []
        self.state.working = False
        name = "SubagentStop" if self.agent_id else "Stop"
        line = {"cwd": said.cwd, "uuid": said.uuid}
        fields = {"last_assistant_message": said.text}
        return [self._tell(name, line, fields, at=said.at, prompt_id=said.prompt_id)]

    def _tell(
        self,
        name: str,
        entry: Json,
        fields: Json,
        *,
        at: int | None = None,
        prompt_id: str | None = None,
    ) -> Happened:
        payload: Json = {"session_id": self.session, "transcript_path": self.transcript}
        if cwd := text_of(entry, "cwd"):
            payload["cwd"] = cwd
        if known := self.state.prompt_id if prompt_id is None else prompt_id:
            payload["prompt_id"] = known
        if self.agent_id:
            payload |= {"agent_id": self.agent_id, "agent_type": self.agent_type}
        payload |= {"hook_event_name": name, **fields}
        return Happened(payload, self.at if at is None else at, text_of(entry, "uuid"))


def _within(before: Any, told: int) -> Json:
    """The state before a line of which some was told."""
    return (before if isinstance(before, dict) else {"o": before}) | {"n": told}


def own_start(path: str, session: str) -> int:
    """Where a session's own lines begin.

    A fork's file starts with the lines of its parent, as if they were its own: same ids of tools, same
    times. But the client writes them all under the id of the fork's first prompt, so two turns of one id
    show that everything before the second is a copy.
    """
    first, begins = "", 0
    for line in lines(path, 0):
        entry = line.entry or {}
        if entry.get("type") != "user" or "forkedFrom" in entry:
            continue
        prompt_id = text_of(entry, "promptId")
        if not prompt_id and prompts.prompt_in(entry) is not None:
            break  # older clients number no prompts, so that copies cannot be told
        if prompt_id and prompts.begins_turn(entry) and text_of(entry, "sessionId") == session:
            if not first:
                first = prompt_id
            elif prompt_id == first:
                begins = line.start
            else:
                break
    return begins
