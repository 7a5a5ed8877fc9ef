"""Lines of a transcript, what they contain, and the conversation that they make."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid.agents.base import Json, as_object, text_of
from aforesaid.ids import digest
from aforesaid.paths import open_regular
from aforesaid.payload.shorten import fit_payload

LARGEST = 128 * 1024 * 1024
HEAD = 4096  # bytes of the first line that tell one file from another
# The client's own bookkeeping, a third of a file and more: it is not worth parsing.
BOOKKEEPING = re.compile(
    rb'\{"type":"(?!(?:user|assistant|system|attachment|queue-operation|progress)")'
)


class Line(NamedTuple):
    """`entry` is None for a line that cannot be read, and empty for the client's bookkeeping."""

    start: int
    end: int
    entry: Json | None


def lines(path: str, start: int) -> Iterator[Line]:
    """Every whole line from `start` on; none if the file is gone. A last line without a newline is whole
    if it is a JSON object. Objects that share a line are lines of their own."""
    with suppress(FileNotFoundError), open_regular(Path(path), follow=True) as file:
        file.seek(start)
        while raw := file.readline(LARGEST):
            entry = _entry(raw)
            if raw.endswith(b"\n") or entry is not None:
                end = start + len(raw)
                for length, each in _split_objects(raw) if entry is None else ():
                    yield Line(start, start := start + length, each)
                if start < end:
                    yield Line(start, start := end, entry)
            elif len(raw) == LARGEST:  # the rest of it is passed over
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(LARGEST)
                if not raw:
                    return
                yield Line(start, start := file.tell(), None)
            else:
                return


def fingerprint(path: str) -> str:
    """Of the first line, which no client ever changes; empty while there is none."""
    try:
        with open_regular(Path(path), follow=True) as file:
            first = file.readline(HEAD)
    except OSError:
        return ""
    whole = first.endswith(b"\n") or len(first) == HEAD or _entry(first) is not None
    return digest(first.removesuffix(b"\n")) if whole else ""


def is_line_start(path: str, offset: int) -> bool:
    """False if the file has become shorter, or is another one. The newline before it may still be missing."""
    try:
        with open_regular(Path(path), follow=True) as file:
            file.seek(max(0, offset - 1))
            around = file.read(2)
            return not offset or around[:1] == b"\n" or around in (b"}", b"}\n", b"}{")
    except OSError:
        return False


def size_of(path: str) -> int:
    with suppress(OSError):
        return Path(path).stat().st_size
    return 0


def time_of(entry: Json) -> int | None:
    with suppress(ValueError, OverflowError):
        return round(datetime.fromisoformat(text_of(entry, "timestamp")).timestamp() * 1000)
    return None


def blocks_of(entry: Json) -> list[Json]:
    """The parts of a message; plain text is one part."""
    content = as_object(entry.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _split_objects(raw: bytes) -> list[tuple[int, Json]]:
    """The objects of a line that has several, each with its length; none if anything else is there."""
    text, decode = raw.decode("utf-8", "replace").rstrip(), json.JSONDecoder().raw_decode
    found: list[tuple[int, Json]] = []
    at = 0
    while at < len(text) or not found:
        try:
            entry, end = decode(text, at)
        except (ValueError, RecursionError):
            return []
        if not isinstance(entry, dict):
            return []
        found.append((len(text[at:end].encode()), entry))
        at = end
    return [*found[:-1], (len(raw) - sum(length for length, _ in found[:-1]), found[-1][1])]


def _entry(raw: bytes) -> Json | None:
    # A newline alone followed a last line that was read without it.
    if raw == b"\n" or (BOOKKEEPING.match(raw) and raw.endswith(b"\n")):
        return {}
    try:
        found = json.loads(fit_payload(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


INTERRUPTED = "[Request interrupted by user"
# What a prompt begins with that the client wrote.
BY_CLIENT = (
    "<task-notification>",
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-",
    "<system-reminder>",
)
NOT_PROMPTS = (
    *BY_CLIENT,
    INTERRUPTED,
    "<user-memory-input>",
    "Caveat: The messages below were generated by the user while running local commands.",
)
# A command of the user's own starts with its message, one of the client's with its name.
_own_command = re.compile(
    r"\A<command-message>.*?</command-message>\s*<command-name>(.*?)</command-name>"
    r"(?:\s*<command-args>(.*?)</command-args>)?",
    re.DOTALL,
)
_client_command = re.compile(
    r"\A<command-name>(.*?)</command-name>.*?<command-args>(.*?)</", re.DOTALL
)


def prompt_in(entry: Json) -> str | None:
    """What the hook was told that the user had said; None if it was not told anything."""
    if entry.get("isMeta") or entry.get("isCompactSummary"):
        return None
    text = user_text(entry)
    if own := _own_command.match(text):
        return f"{own[1]} {own[2] or ''}".strip()
    if text_of(entry, "promptSource"):
        return text
    return None if not text.strip() or text.startswith(NOT_PROMPTS) else text


def queued_prompt(attachment: Json) -> str | None:
    """A prompt that was typed while the agent worked, and that it took up in the middle of its turn."""
    text = text_of(attachment, "prompt")
    typed = attachment.get("commandMode", "prompt") == "prompt"
    return text if typed and text and not text.startswith(NOT_PROMPTS) else None


def user_text(entry: Json) -> str:
    parts = (text_of(block, "text") for block in blocks_of(entry) if block.get("type") == "text")
    return "\n".join(parts)


STOPPED = "[Request interrupted by user for tool use]"
LOST = "[Tool call interrupted: the session ended before this call's result was recorded]"
DENIALS = {"user-rejected": STOPPED, "interrupted": LOST}
REJECTED = "User rejected tool use"
SAID = "the user said:"
LARGE_OUTPUT = 1_000_000  # bytes of one that lies beside the transcript
CUT = "\n[The output goes on; it was cut here.]"
NOTHING = ("(Bash completed with no output)", "Tool ran without output or errors")
WHOLE_FILE = 2_000  # lines that are read when nobody asks for fewer

_tagged = re.compile(r"\A<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)
_numbered = re.compile(r" *(\d+)(?:\t|→)(.*)\Z", re.DOTALL)
_reminder = re.compile(r"\n*<system-reminder>.*?</system-reminder>\s*\Z", re.DOTALL)
_saved = re.compile(r"\A<persisted-output>.*?saved to: ([^\n]+)", re.DOTALL)


def outcome(call: "Call", block: Json, entry: Json, folder: str) -> Json:
    """The fields of PostToolUse or of PostToolUseFailure. `folder` holds the session's large outputs."""
    content = block.get("content")
    text = content if isinstance(content, str) else ""
    if isinstance(content, list):
        text = "\n".join(text_of(part, "text") for part in content if isinstance(part, dict))
    if block.get("is_error"):
        if why := _interruption(entry, text):
            return {"error": text if SAID in text else why, "is_interrupt": True}
        tagged = _tagged.match(text)
        return {"error": tagged[1] if tagged else text, "is_interrupt": False}
    if (result := entry.get("toolUseResult")) is not None:
        return {"tool_response": result}
    return {"tool_response": _shaped(call, _whole(text, folder))}


def input_of_call(given: object, fields: Json) -> object:
    """The hook's `tool_input`, of what the model gave."""
    response = fields.get("tool_response")
    sent_away = isinstance(response, dict) and response.get("isAsync")
    if sent_away and isinstance(given, dict) and given.get("run_in_background") is False:
        return {name: value for name, value in given.items() if name != "run_in_background"}
    return given


def _interruption(entry: Json, text: str) -> str:
    if why := DENIALS.get(text_of(entry, "toolDenialKind")):
        return why
    stopped = entry.get("toolUseResult") == REJECTED or text.startswith(STOPPED[:-1])
    return STOPPED if stopped else ""


def _shaped(call: "Call", text: str) -> Any:
    args = as_object(call.given)
    match call.name:
        case "Bash" | "PowerShell":
            return {"stdout": "" if text in NOTHING else text, "stderr": "", "interrupted": False}
        case "Read":
            return _read(args, _reminder.sub("", text))
        case "Write":
            written = {"filePath": args.get("file_path"), "content": args.get("content")}
            if not text.startswith("File created"):
                return {"type": "update", **written}
            return {"type": "create", **written, "structuredPatch": [], "originalFile": None}
        case "Edit":
            return {"filePath": args.get("file_path")}
        case _:
            return text


def _read(args: Json, text: str) -> Json:
    found = [_numbered.match(line) for line in text.split("\n")]
    read = [line for line in found if line]
    if len(read) < len(found):  # not a text file, or in a form of another client
        return {"type": "text", "file": {"filePath": args.get("file_path"), "content": text}}
    whole = len(read) < WHOLE_FILE and not ("offset" in args or "limit" in args)
    file = {
        "filePath": args.get("file_path"),
        "content": "\n".join(line[2] for line in read),
        "numLines": len(read),
        "startLine": int(read[0][1]),
    }
    return {"type": "text", "file": file | ({"totalLines": len(read)} if whole else {})}


def _whole(text: str, folder: str) -> str:
    """With the output that lies beside the transcript. Only the name of the file is believed: anything can
    print such a text, with any path."""
    saved = _saved.match(text)
    if not saved:
        return text
    try:
        with open_regular(Path(folder, Path(saved[1].strip()).name)) as file:
            data = file.read(LARGE_OUTPUT + 1)
    except (OSError, ValueError):
        return text
    kept = data[:LARGE_OUTPUT].decode("utf-8", "replace")
    return kept + CUT if len(data) > LARGE_OUTPUT else kept


MOST_OPEN = 200
# The hook gets the last message without the white space around it, as the client's language sees it.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
MOST_QUEUED = 20


class Call(NamedTuple):
    id: str
    name: str
    given: object
    prompt_id: str
    cwd: str
    at: int


class LastMessage(NamedTuple):
    """The agent's last message so far. `reason` is why it stopped, empty where the client does not say."""

    text: str
    reason: str
    prompt_id: str
    cwd: str
    at: int
    uuid: str


class Queued(NamedTuple):
    """A prompt typed while the agent worked: the hook ran at once, under the prompt of that time."""

    text: str  # its digest
    prompt_id: str
    at: int


@dataclass(slots=True)
class State:
    offset: int = 0
    prompt_id: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    results: dict[str, Json] = field(default_factory=dict)  # lines with results before their calls
    last_message: LastMessage | None = None
    queued: list[Queued] = field(default_factory=list)
    compacting: str = ""
    started: str = ""
    working: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether reading can start here: nothing waits for a later line."""
        return not (self.calls or self.results or self.last_message)

    def queue(self, text: str, at: int) -> None:
        self.queued = [*self.queued, Queued(digest(text), self.prompt_id, at)][-MOST_QUEUED:]

    def dequeue(self, text: str) -> Queued | None:
        found = next((q for q in self.queued if q.text == digest(text)), None)
        self.queued = [q for q in self.queued if q is not found]
        return found

    def dump(self) -> Json:
        values: Json = {
            "p": self.prompt_id,
            "q": list(map(list, self.queued)),
            "k": self.compacting,
            "h": self.started,
            "w": self.working,
        }
        return {"o": self.offset} | {name: value for name, value in values.items() if value}

    @classmethod
    def load(cls, dumped: Json) -> "State":
        """Raises KeyError, TypeError or ValueError for what `dump` did not write."""
        return cls(
            offset=int(dumped["o"]),
            prompt_id=str(dumped.get("p", "")),
            queued=[Queued(str(t), str(p), int(at)) for t, p, at in dumped.get("q", [])],
            compacting=str(dumped.get("k", "")),
            started=str(dumped.get("h", "")),
            working=bool(dumped.get("w")),
        )


def keep_latest(kept: dict[str, Any], key: str, value: object) -> None:
    """Within a limit: a file may open calls without end."""
    kept[key] = value
    if len(kept) > MOST_OPEN:
        del kept[next(iter(kept))]


def calls_in(entry: Json, prompt_id: str) -> list[Call]:
    cwd, at = text_of(entry, "cwd"), time_of(entry) or 0
    return [
        Call(text_of(block, "id"), text_of(block, "name"), block.get("input"), prompt_id, cwd, at)
        for block in blocks_of(entry)
        if block.get("type") == "tool_use" and text_of(block, "id")
    ]


def messages_in(entry: Json, prompt_id: str) -> tuple[LastMessage | None, LastMessage | None]:
    """The text before the last call of a line, and the last one after it."""
    before: list[str] = []
    text = ""
    for block in blocks_of(entry):
        if block.get("type") == "text" and text_of(block, "text").strip(WHITE_SPACE):
            before, text = [*before, text], text_of(block, "text").strip(WHITE_SPACE)
        elif block.get("type") == "tool_use":
            before, text = [*before, text], ""
    reason = text_of(as_object(entry.get("message")), "stop_reason")
    cwd, uuid, at = text_of(entry, "cwd"), text_of(entry, "uuid"), time_of(entry) or 0
    earlier, last = (
        LastMessage(each, reason, prompt_id, cwd, at, uuid) if each else None
        for each in ("\n\n".join(filter(None, before)), text)
    )
    return earlier, last


DONE = "end_turn"
SYNTHETIC = "<synthetic>"  # the client's own words in the model's place
START = "SessionStart"
SDK, STRUCTURED_OUTPUT = "sdk-", "StructuredOutput"
MESSAGE_EVENT = "AgentMessage"  # ours: the client has no hook for it


@dataclass(frozen=True, slots=True)
class Occurrence:
    """`place` is where reading goes on after this; `line` tells occurrences without a key apart.
    `ended_agent` is the sub-agent whose work this is the result of."""

    payload: Json
    at: int
    line: str
    ended_agent: str = ""
    place: Json = field(default_factory=dict)


@dataclass(slots=True)
class Conversation:
    """`place`: of the last event that was read, empty if none was. `agent_id` is empty for the session's own.
    `agent_types` is what the session's own conversation says of its sub-agents, which older clients do not
    keep with them. `by_program`: an SDK runs it, not a person."""

    path: str
    session: str
    transcript: str
    outputs: str
    place: Json
    agent_id: str = ""
    agent_type: str = ""
    agent_types: dict[str, str] = field(default_factory=dict)
    unreadable: int = 0
    at: int = 0
    branch: str = ""
    by_program: bool = False
    began: int = 0
    next: Occurrence | None = None  # the first that was not yielded yet
    rest: Iterator[Occurrence] = field(default_factory=lambda: iter(()))
    state: State = field(default_factory=State)
    _settled: Json = field(default_factory=dict)  # the last state in which nothing was open
    _since: int = 0  # occurrences after it
    _skip: int = 0  # occurrences that were read before

    def __post_init__(self) -> None:
        """A place that is not in this file counts as none."""
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            state, skip = State.load(self.place), int(self.place.get("n", 0))
            if is_line_start(self.path, state.offset):
                self.state, self._skip = state, skip
        self._settled = self.state.dump()

    def occurrences(self) -> Iterator[Occurrence]:
        for line in lines(self.path, self.state.offset):
            found = self._read_line(line)
            self.state.offset = line.end
            yield from self._place(found)

    def finish(self) -> Iterator[Occurrence]:
        """Nothing more will come: what is still open was interrupted, and the last message was the last. A
        program that asked for a structured answer has it, and an SDK run ends without a word."""
        answered = self.state.working and not self.state.calls and self.by_program
        while self.state.calls:
            yield from self._place([self._interrupt(next(iter(self.state.calls)), LOST)])
        self.state.results.clear()
        ends = self._end()
        if not ends and answered and not self.agent_id:
            self.state.working = False
            ends = [self._occurrence("Stop", {}, {})]
        yield from self._place(ends)

    def advance(self) -> None:
        self.next = next(self.rest, None)

    def begin_finish(self) -> None:
        if self.next is None:
            self.rest = self.finish()
            self.advance()

    def _place(self, found: list[Occurrence]) -> Iterator[Occurrence]:
        """What a line says, with its place, without what was read before."""
        for left, occurrence in zip(range(len(found) - 1, -1, -1), found, strict=True):
            self._since += 1
            if not left and self.state.is_settled:
                self._settled, self._since = self.state.dump(), 0
            if self._skip:
                self._skip -= 1
                continue
            number = {"n": self._since} if self._since else {}
            yield replace(occurrence, place=self._settled | number)

    def _read_line(self, line: Line) -> list[Occurrence]:
        entry = line.entry
        if entry is None:
            self.unreadable += 1
            return []
        # Copied from the session that this one was forked from, or a sub-agent's line among others.
        other = text_of(entry, "sessionId") not in ("", self.session)
        aside = entry.get("isSidechain") and not self.agent_id
        if other or aside or "forkedFrom" in entry:
            return []
        self.at = time_of(entry) or self.at
        self.branch = text_of(entry, "gitBranch") or self.branch
        self.by_program |= text_of(entry, "entrypoint").startswith(SDK)
        kind = entry.get("type")
        if kind == "assistant":
            return self._assistant(entry)
        message = self.state.last_message
        found = self._end() if message and message.reason == DONE else []
        match kind:
            case "user":
                found += self._user(entry)
            case "system":
                found += self._system(entry)
            case "attachment":
                found += self._attachment(entry, as_object(entry.get("attachment")))
            case "progress":
                found += self._progress(entry, as_object(entry.get("data")))
            case "queue-operation" if self.state.prompt_id and text_of(entry, "content"):
                if entry.get("operation") == "enqueue":
                    self.state.queue(text_of(entry, "content"), self.at)
        return found

    def _assistant(self, entry: Json) -> list[Occurrence]:
        if entry.get("isApiErrorMessage"):
            self.state.last_message, self.state.working = None, False
            return []
        if as_object(entry.get("message")).get("model") == SYNTHETIC:
            return []
        if self.agent_id and not self.agent_type:
            self.agent_type = text_of(entry, "attributionAgent")
        calls = calls_in(entry, self.state.prompt_id)
        earlier, message = messages_in(entry, self.state.prompt_id)
        # What was written before this line was not the last message.
        passed = (self.state.last_message, earlier) if message or calls else ()
        found = [self._message(each) for each in passed if each]
        for call in calls:
            self.by_program |= call.name == STRUCTURED_OUTPUT
            keep_latest(self.state.calls, call.id, call)
            if (line := self.state.results.pop(call.id, None)) is not None:
                found += self._user(line)
        if message or calls:
            self.state.last_message, self.state.working = message, True
        # A sub-agent's last words are the end of its file: no line follows them.
        return found + (self._end() if self.agent_id and message and message.reason == DONE else [])

    def _message(self, message: LastMessage) -> Occurrence:
        fields = {"message": message.text, "message_id": message.uuid}
        return self._spoken(MESSAGE_EVENT, message, fields)

    def _spoken(self, name: str, message: LastMessage, fields: Json) -> Occurrence:
        line = {"cwd": message.cwd, "uuid": message.uuid}
        return self._occurrence(name, line, fields, at=message.at, prompt_id=message.prompt_id)

    def _user(self, entry: Json) -> list[Occurrence]:
        results = [b for b in blocks_of(entry) if b.get("type") == "tool_result"]
        if results:
            # With several results in a line, `toolUseResult` is nobody's.
            whole = entry if len(results) == 1 else entry | {"toolUseResult": None}
            return [h for block in results for h in self._result(block, whole)]
        self.state.prompt_id = text_of(entry, "promptId") or self.state.prompt_id
        if user_text(entry).startswith(INTERRUPTED):
            self.state.last_message, self.state.working = None, False
            return [self._interrupt(name, STOPPED) for name in list(self.state.calls)]
        if self.agent_id:
            return []
        found = self._compaction(entry) if self.state.compacting else []
        prompt = prompt_in(entry)
        if prompt is not None:
            found += [self._interrupt(name, LOST) for name in list(self.state.calls)]
            found += [*self._end(), self._prompt(entry, prompt)]
        return found

    def _prompt(self, entry: Json, prompt: str) -> Occurrence:
        at, prompt_id = self.at, self.state.prompt_id
        self.state.results.clear()
        queued = self.state.dequeue(prompt)
        if queued and entry.get("promptSource") == "queued":
            at, prompt_id = queued.at, queued.prompt_id
        return self._occurrence(
            "UserPromptSubmit", entry, {"prompt": prompt}, at=at, prompt_id=prompt_id
        )

    def _result(self, block: Json, entry: Json) -> list[Occurrence]:
        name = text_of(block, "tool_use_id")
        call = self.state.calls.pop(name, None)
        if call is None:  # the call may stand on a later line
            keep_latest(self.state.results, name, entry)
            return []
        return [self._tool(call, outcome(call, block, entry, self.outputs), entry, self.at)]

    def _interrupt(self, name: str, why: str) -> Occurrence:
        call = self.state.calls.pop(name)
        return self._tool(call, {"error": why, "is_interrupt": True}, {"cwd": call.cwd}, call.at)

    def _tool(self, call: Call, fields: Json, entry: Json, at: int) -> Occurrence:
        name = "PostToolUseFailure" if "error" in fields else "PostToolUse"
        used = {"tool_name": call.name, "tool_input": input_of_call(call.given, fields)}
        used["tool_use_id"] = call.id
        occurrence = self._occurrence(name, entry, used | fields, at=at, prompt_id=call.prompt_id)
        response = fields.get("tool_response")
        if not isinstance(response, dict) or not (agent := text_of(response, "agentId")):
            return occurrence
        self._note_agent_type(agent, call)
        return replace(
            occurrence, ended_agent=agent if response.get("status") == "completed" else ""
        )

    def _note_agent_type(self, agent: str, call: Call | None) -> None:
        if call and isinstance(call.given, dict) and text_of(call.given, "subagent_type"):
            self.agent_types[agent] = text_of(call.given, "subagent_type")

    def _system(self, entry: Json) -> list[Occurrence]:
        match entry.get("subtype"):
            case "stop_hook_summary" if self.state.working and not self.state.last_message:
                # It stopped without a word, and the hooks were told so.
                self.state.working = False
                return [self._occurrence("Stop", entry, {})]
            case "stop_hook_summary" | "turn_duration":
                return self._end()
            case "compact_boundary":
                about = as_object(entry.get("compactMetadata"))
                if about.get("trigger") == "manual":
                    # The command, with what to keep, is written after what came of it.
                    self.state.compacting = "manual"
                    return []
                took = about.get("durationMs")
                at = self.at - (took if isinstance(took, int) else 0)
                return [self._occurrence("PreCompact", entry, {"trigger": "auto"}, at=at)]
        return []

    def _compaction(self, entry: Json) -> list[Occurrence]:
        command = _client_command.match(user_text(entry))
        if not command or command[1] != "/compact":
            return []
        fields = {"trigger": self.state.compacting, "custom_instructions": command[2] or None}
        self.state.compacting = ""
        return [self._occurrence("PreCompact", entry, fields)]

    def _attachment(self, entry: Json, attachment: Json) -> list[Occurrence]:
        if attachment.get("type") == "queued_command" and not self.agent_id:
            prompt = queued_prompt(attachment)
            if prompt is None:
                return []
            self.state.dequeue(prompt)
            at = time_of(attachment) or self.at
            return [self._occurrence("UserPromptSubmit", entry, {"prompt": prompt}, at=at)]
        return self._session_start(entry, attachment, text_of(attachment, "toolUseID"))

    def _progress(self, entry: Json, data: Json) -> list[Occurrence]:
        if agent := text_of(data, "agentId"):
            self._note_agent_type(agent, self.state.calls.get(text_of(entry, "parentToolUseID")))
        return self._session_start(entry, data, text_of(entry, "toolUseID"))

    def _session_start(self, entry: Json, hook: Json, firing: str) -> list[Occurrence]:
        """Told only by what a hook message then, once for all the hooks of one start."""
        source = text_of(hook, "hookName").partition(":")[2]
        known = self.agent_id or firing == self.state.started
        if hook.get("hookEvent") != START or not source or known:
            return []
        self.state.started = firing
        prompt_id = self.state.prompt_id if source == "compact" else ""
        return [self._occurrence(START, entry, {"source": source}, prompt_id=prompt_id)]

    def _end(self) -> list[Occurrence]:
        message, self.state.last_message = self.state.last_message, None
        if message is None:
            return []
        self.state.working = False
        name = "SubagentStop" if self.agent_id else "Stop"
        return [self._spoken(name, message, {"last_assistant_message": message.text})]

    def _occurrence(
        self,
        name: str,
        entry: Json,
        fields: Json,
        *,
        at: int | None = None,
        prompt_id: str | None = None,
    ) -> Occurrence:
        payload: Json = {"session_id": self.session, "transcript_path": self.transcript}
        if cwd := text_of(entry, "cwd"):
            payload["cwd"] = cwd
        if known := self.state.prompt_id if prompt_id is None else prompt_id:
            payload["prompt_id"] = known
        if self.agent_id:
            payload |= {"agent_id": self.agent_id, "agent_type": self.agent_type}
        if self.branch and name in (MESSAGE_EVENT, "Stop"):
            payload["git_branch"] = self.branch
        payload |= {"hook_event_name": name, **fields}
        return Occurrence(payload, self.at if at is None else at, text_of(entry, "uuid"))
