"""Reads a session's transcript as the events that its hooks would have sent.

Reading is incremental: a mark holds, for each file, the last place where nothing was open (no call without a
result) and how many events after it were read; these are read once more and passed over. Sub-agents have
files of their own, which are read in the order of time.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.agents.claude_code.hooks import HOOK_EVENTS
from aforesaid.agents.claude_code.transcript_state import (
    INTERRUPTED,
    LOST,
    STOPPED,
    Call,
    Line,
    State,
    begins_turn,
    blocks_of,
    calls_in,
    fingerprint,
    input_of_call,
    instructions,
    is_line_start,
    keep_latest,
    last_message_in,
    lines,
    object_of,
    outcome,
    prompt_in,
    queued_prompt,
    size_of,
    time_of,
    user_text,
)
from aforesaid.agents.fields import Json, as_object, text_of
from aforesaid.clock import DAY
from aforesaid.ids import digest
from aforesaid.model.events import Capture, Event, TranscriptEvent, TranscriptFile, Unreadable
from aforesaid.paths import read_regular
from aforesaid.payload.shorten import fit_payload

DONE = "end_turn"
SYNTHETIC = "<synthetic>"  # the client's own words in the model's place
START = "SessionStart"


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
    keep with them."""

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
        """Nothing more will come: what is still open was interrupted, and the last message was the last."""
        while self.state.calls:
            yield from self._place([self._interrupt(next(iter(self.state.calls)), LOST)])
        self.state.results.clear()
        yield from self._place(self._end())

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
        if self._is_foreign(entry):
            return []
        self.at = time_of(entry) or self.at
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
                found += self._attachment(entry, object_of(entry, "attachment"))
            case "progress":
                found += self._progress(entry, object_of(entry, "data"))
            case "queue-operation" if self.state.prompt_id and text_of(entry, "content"):
                if entry.get("operation") == "enqueue":
                    self.state.queue(text_of(entry, "content"), self.at)
        return found

    def _is_foreign(self, entry: Json) -> bool:
        """Copied from the session that this one was forked from, or a sub-agent's line among others."""
        other = text_of(entry, "sessionId") not in ("", self.session)
        aside = bool(entry.get("isSidechain")) and not self.agent_id
        return other or aside or "forkedFrom" in entry

    def _assistant(self, entry: Json) -> list[Occurrence]:
        if entry.get("isApiErrorMessage"):
            self.state.last_message, self.state.working = None, False
            return []
        if object_of(entry, "message").get("model") == SYNTHETIC:
            return []
        if self.agent_id and not self.agent_type:
            self.agent_type = text_of(entry, "attributionAgent")
        calls = calls_in(entry, self.state.prompt_id)
        found = []
        for call in calls:
            keep_latest(self.state.calls, call.id, call)
            if (line := self.state.results.pop(call.id, None)) is not None:
                found += self._user(line)
        message = last_message_in(entry, self.state.prompt_id)
        if message or calls:
            self.state.last_message, self.state.working = message, True
        # A sub-agent's last words are the end of its file: no line follows them.
        return found + (self._end() if self.agent_id and message and message.reason == DONE else [])

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
                about = object_of(entry, "compactMetadata")
                if about.get("trigger") == "manual":
                    # The command, with what to keep, is written after what came of it.
                    self.state.compacting = "manual"
                    return []
                took = about.get("durationMs")
                at = self.at - (took if isinstance(took, int) else 0)
                return [self._occurrence("PreCompact", entry, {"trigger": "auto"}, at=at)]
        return []

    def _compaction(self, entry: Json) -> list[Occurrence]:
        found = instructions(entry, "/compact")
        if found is None:
            return []
        fields = {"trigger": self.state.compacting, "custom_instructions": found or None}
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
        line = {"cwd": message.cwd, "uuid": message.uuid}
        fields = {"last_assistant_message": message.text}
        return [self._occurrence(name, line, fields, at=message.at, prompt_id=message.prompt_id)]

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
        payload |= {"hook_event_name": name, **fields}
        return Occurrence(payload, self.at if at is None else at, text_of(entry, "uuid"))


def find_own_start(path: str, session: str) -> int:
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
        if not prompt_id and prompt_in(entry) is not None:
            break  # older clients number no prompts, so that copies cannot be found
        if prompt_id and begins_turn(entry) and text_of(entry, "sessionId") == session:
            if not first:
                first = prompt_id
            elif prompt_id == first:
                begins = line.start
            else:
                break
    return begins


PREFIX, SUFFIX = "agent-", ".jsonl"
META_BYTES = 1 << 20


class Agents:
    def __init__(self, folder: Path, main: Conversation, known: dict[str, Any]) -> None:
        self._main = main
        found = sorted((folder / "subagents").rglob(f"{PREFIX}*{SUFFIX}"))
        new = filter(None, (self._open(str(path), known) for path in found))
        # The last is the next to begin.
        self._waiting = sorted(new, key=lambda talk: talk.began, reverse=True)
        self._working: list[Conversation] = []
        self.unreadable = 0

    def merged(self, over: bool) -> Iterator[tuple[Occurrence, Conversation | None]]:
        """Everything, with the sub-agent that it is of. `over`: nothing more will ever be written."""
        at = 0
        for occurrence in self._main.occurrences():
            at = max(at, occurrence.at)
            yield from self._until(at)
            if occurrence.ended_agent:
                # Older clients do not say in the sub-agent's own file that it was done.
                for talk in self._working:
                    if talk.agent_id == occurrence.ended_agent:
                        talk.begin_finish()
                yield from self._until(at)
            yield occurrence, None
        yield from self._until(None)
        if over:
            for talk in self._working:
                talk.begin_finish()
            yield from self._until(None)
            yield from ((occurrence, None) for occurrence in self._main.finish())
        self.unreadable = sum(talk.unreadable for talk in self._working)

    def _until(self, at: int | None) -> Iterator[tuple[Occurrence, Conversation]]:
        while True:
            while self._waiting and (at is None or self._waiting[-1].began <= at):
                talk = self._waiting.pop()
                talk.agent_type = talk.agent_type or self._main.agent_types.get(talk.agent_id, "")
                talk.rest = talk.occurrences()
                talk.advance()
                self._working.append(talk)
            ready = [(t.next.at, n) for n, t in enumerate(self._working) if t.next]
            first, number = min(ready, default=(0, -1))
            if number < 0 or (at is not None and first > at):
                return
            talk = self._working[number]
            assert talk.next is not None
            yield talk.next, talk
            talk.advance()

    def _open(self, path: str, known: dict[str, Any]) -> Conversation | None:
        name = Path(path).name[len(PREFIX) : -len(SUFFIX)]
        place, main = as_object(known.get(name)), self._main
        kind = _read_type(path) or text_of(place, "y")
        talk = Conversation(path, main.session, main.transcript, main.outputs, place, name, kind)
        if talk.state.offset >= size_of(path):
            return None
        first = next(lines(path, talk.state.offset), None)
        talk.began = (time_of(first.entry or {}) if first else None) or 0
        return talk


def _read_type(path: str) -> str:
    """As the client noted it beside the file; older clients did not."""
    beside = Path(path.removesuffix(SUFFIX) + ".meta.json")
    with suppress(ValueError, AttributeError):
        return text_of(json.loads(read_regular(beside, META_BYTES) or b""), "agentType")
    return ""


Parse = Callable[[Capture], Event | Unreadable | None]

FORMAT = 2
HEAD_LINES = 200  # within which a session says where it is
NO_TRANSCRIPT = "it is not a transcript"
HOOK_OF = {row.event: row.hook for row in HOOK_EVENTS}

_session_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def files(env: Mapping[str, str]) -> Iterator[TranscriptFile]:
    """Every session on this machine, newest first. Sub-agents are read with the session they worked for."""
    found = []
    for path in folder(env).glob("*/*.jsonl"):
        if not path.name.startswith(PREFIX):
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, str(path), status.st_size))
    for modified, name, size in sorted(found, reverse=True):
        try:
            yield describe(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            why = error.strerror or type(error).__name__
            yield TranscriptFile(name, Path(name).stem, "", size, modified // 1_000_000, why)


def folder(env: Mapping[str, str]) -> Path:
    """Where the client keeps them, one folder for each directory it was started in."""
    moved = env.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path(env.get("HOME", ""), ".claude")) / "projects"


def describe(path: str) -> TranscriptFile:
    """Raises OSError if it cannot be read."""
    status, stem = Path(path).stat(), Path(path).stem
    session, cwd = stem, ""
    read = passed_over = 0
    for line in islice(lines(path, 0), HEAD_LINES):
        read, passed_over = read + 1, passed_over + (line.entry is None)
        if cwd := text_of(line.entry or {}, "cwd"):
            # A file under another name, such as a copy, is still of the session that it says.
            named = bool(_session_id.fullmatch(stem))
            session = stem if named else text_of(line.entry or {}, "sessionId") or stem
            break
    fault = NO_TRANSCRIPT if read and passed_over == read else ""
    modified = status.st_mtime_ns // 1_000_000
    return TranscriptFile(path, session, cwd, status.st_size, modified, fault)


def read(
    file: TranscriptFile,
    mark: str | None,
    parse: Parse,
    now: int,
    on_passed_over: Callable[[int], None] = lambda _: None,
) -> Iterator[TranscriptEvent]:
    """What happened since the mark, in order; then how many lines could not be read, if any."""
    known = _read_mark(file, mark)
    beside = Path(file.path).with_suffix("")
    outputs = str(beside / "tool-results")
    main = Conversation(file.path, file.session, file.path, outputs, known["m"])
    agents = Agents(beside, main, dict(known["a"]))
    over = now - file.modified > DAY
    for occurrence, agent in agents.merged(over):
        if agent is None:
            known["m"] = occurrence.place
        else:
            # Older clients say only in the middle of the session of what type it is.
            kind = {"y": agent.agent_type} if agent.agent_type else {}
            known["a"][agent.agent_id] = occurrence.place | kind
        if found := _as_capture(file, occurrence, parse):
            yield TranscriptEvent(*found, json.dumps(known, separators=(",", ":")))
    if unreadable := main.unreadable + agents.unreadable:
        log.warning("transcript.unreadable", session=file.session, lines=unreadable)
        on_passed_over(unreadable)


def _read_mark(file: TranscriptFile, mark: str | None) -> Json:
    """Where reading begins: in the session's own file (`m`), and by sub-agent in theirs (`a`)."""
    head = fingerprint(file.path)
    # What is no mark of ours, or of another file, is none: all is read, and the store knows what it has.
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        found = json.loads(mark or "")
        fits = found["v"] == FORMAT and found["f"] == head
        if fits and is_line_start(file.path, State.load(found["m"]).offset):
            return {"v": FORMAT, "f": head, "m": found["m"], "a": dict(found["a"])}
    begin = {"o": find_own_start(file.path, file.session)}
    return {"v": FORMAT, "f": head, "m": begin, "a": {}}


def _as_capture(
    file: TranscriptFile, occurrence: Occurrence, parse: Parse
) -> tuple[Capture, Event] | None:
    name = occurrence.payload["hook_event_name"]
    body = fit_payload(json.dumps(occurrence.payload).encode())
    capture = Capture("", "claude-code", HOOK_OF[name], file.cwd, body, occurrence.at)
    event = parse(capture)
    if event is None or isinstance(event, Unreadable):
        return None
    same = event.key or occurrence.line or f"{occurrence.at}"
    name = f"transcript-{digest(f'{file.session} {name} {same}', 32)}"
    return Capture(name, capture.agent, capture.hook, file.cwd, body, occurrence.at), event
