"""Lines of a transcript, what they contain, and the state that reading goes on with."""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from aforesaid.agents.fields import Json, as_object, text_of
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
    with contextlib.suppress(FileNotFoundError), open_regular(Path(path), follow=True) as file:
        file.seek(start)
        while raw := file.readline(LARGEST):
            entry = _entry(raw)
            if raw.endswith(b"\n") or entry is not None:
                end = start + len(raw)
                for length, each in _split_objects(raw) if entry is None else ():
                    yield Line(start, start := start + length, each)
                if start < end:
                    yield Line(start, start := end, entry)
            elif len(raw) == LARGEST and (end := _line_end(file)):
                yield Line(start, start := end, None)
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
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def time_of(entry: Json) -> int | None:
    try:
        return round(datetime.fromisoformat(text_of(entry, "timestamp")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def object_of(entry: Json, field: str) -> Json:
    return as_object(entry.get(field))


def blocks_of(entry: Json) -> list[Json]:
    """The parts of a message; plain text is one part."""
    content = object_of(entry, "message").get("content")
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
    if BOOKKEEPING.match(raw) and raw.endswith(b"\n"):
        return {}
    if raw == b"\n":  # it followed a last line that was read without it
        return {}
    try:
        found = json.loads(fit_payload(raw).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _line_end(file: BinaryIO) -> int:
    """Passes over the rest of a line; 0 if it has no end yet."""
    while raw := file.readline(LARGEST):
        if raw.endswith(b"\n"):
            return file.tell()
    return 0


INTERRUPTED = "[Request interrupted by user"
NOT_PROMPTS = (
    INTERRUPTED,
    "<task-notification>",
    "<local-command-",
    "<command-name>",
    "<bash-",
    "<system-reminder>",
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


def instructions(entry: Json, command: str) -> str | None:
    """What follows a command of the client's own, such as `/compact`; None for any other line."""
    found = _client_command.match(user_text(entry))
    return found[2] if found and found[1] == command else None


def user_text(entry: Json) -> str:
    parts = (text_of(block, "text") for block in blocks_of(entry) if block.get("type") == "text")
    return "\n".join(parts)


def begins_turn(entry: Json) -> bool:
    written = entry.get("isMeta") or entry.get("isCompactSummary")
    return entry.get("type") == "user" and bool(text_of(entry, "turnOrigin")) and not written


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
    text = text_in(block.get("content"))
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


def text_in(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(text_of(part, "text") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


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
        """Whether reading can begin anew here: nothing waits for a later line."""
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
            "q": [[q.text, q.prompt_id, q.at] for q in self.queued],
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


def last_message_in(entry: Json, prompt_id: str) -> LastMessage | None:
    """The last text of the line, if nothing but text comes after it."""
    text = ""
    for block in blocks_of(entry):
        if block.get("type") == "text" and text_of(block, "text").strip(WHITE_SPACE):
            text = text_of(block, "text").strip(WHITE_SPACE)
        elif block.get("type") == "tool_use":
            text = ""
    if not text:
        return None
    reason = text_of(entry["message"], "stop_reason")
    cwd, uuid = text_of(entry, "cwd"), text_of(entry, "uuid")
    return LastMessage(text, reason, prompt_id, cwd, time_of(entry) or 0, uuid)
