"""A scripted stand-in for the model API, for driving the real Claude Code client on loopback.

A script is a list of rules: a piece of the user's prompt, and the steps the model then takes.

    with ScriptedApi() as api:
        api.when("build it", Call("Bash", {"command": "make"}), Text("Built."))

The server keeps no sessions. Which prompt is being answered, and which of its steps comes next,
is read off the conversation in each request; so retries, resumed, interrupted and parallel
sessions need no care. It knows nothing of aforesaid and refuses everything but /v1/messages.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, TypedDict, assert_never
from uuid import uuid4

from tests.support.loopback import Handler, Loopback, Server

Json = dict[str, Any]
Kind = Literal["main", "compact", "side"]

_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_NOTIFICATION = re.compile(r"<task-notification>.*?</task-notification>", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")
_CWD = re.compile(r"[Ww]orking directory: ([^\n]+)")
_COMPACT = re.compile(r"create a (detailed )?summary of the (recent portion of the )?conversation")


@dataclass(frozen=True, slots=True)
class Text:
    """The model's final answer; the turn ends. `usage` is what it counts, if that matters."""

    text: str
    stop: str = "end_turn"
    usage: Json | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, perhaps after a sentence. `{{cwd}}` stands for the session's directory."""

    tool: str
    input: Json
    say: str = ""
    usage: Json | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Tool calls made in parallel."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Delay:
    """A model that thinks for a while before it takes the step."""

    seconds: float
    then: Text | Call | Together


@dataclass(frozen=True, slots=True)
class Fail:
    """No answer but an error, with the API's own body unless another one is given."""

    status: int
    kind: str = "api_error"
    message: str = "scripted"
    headers: tuple[tuple[str, str], ...] = ()

    def body(self) -> bytes:
        told = {"type": "error", "error": {"type": self.kind, "message": self.message}}
        return json.dumps(told).encode()


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks after this much of the answer's stream."""

    text: str
    share: float = 0.5


Step = Text | Call | Together | Delay | Fail | Cut


class Request(TypedDict):
    """One request as it arrived. `side` are the client's own helper calls, such as titles."""

    kind: Kind
    prompt: str
    step: int
    body: Json


def blocks(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def prompts_in(message: Json) -> list[str]:
    """What the user said in one message, oldest first; nothing for tool results."""
    texts: list[str] = []
    results = False
    for block in blocks(message["content"]):
        results = results or block["type"] == "tool_result"
        if block["type"] != "text":
            continue
        # A finished background task starts a turn of its own, but is wrapped as a reminder.
        notes = _NOTIFICATION.findall(block["text"])
        text = "\n".join(notes) if notes else _REMINDER.sub("", block["text"]).strip()
        if _INTERRUPTED.search(text):
            # After Esc the next prompt rides in the same message as the cut-off tool's result.
            texts, results = [], False
            text = _INTERRUPTED.split(text)[-1].strip()
        if text:
            texts.append(text)
    return [] if results else texts


def turn_of(body: Json) -> tuple[str, int]:
    """The newest prompt, and how many answers it has had already."""
    prompt, step = "", 0
    for message in body["messages"]:
        if message["role"] == "assistant":
            step += 1
        elif message["role"] == "user" and (said := prompts_in(message)):
            # Unanswered prompts and a compaction's summary are merged in front of the newest one.
            prompt, step = said[-1], 0
    return prompt, step


def kind_of(body: Json, prompt: str) -> Kind:
    # After a tool's result the order to compact rides in the same message, and notices may follow it.
    since = takewhile(lambda message: message["role"] != "assistant", reversed(body["messages"]))
    if _COMPACT.search(prompt) or any(map(_COMPACT.search, strings_in(list(since)))):
        return "compact"
    if body.get("tools"):
        return "main"
    structured = "format" in (body.get("output_config") or {})
    # An agent of the SDK may have no tools at all, and is still a conversation.
    sdk = any("cc_entrypoint=sdk" in b.get("text", "") for b in blocks(body.get("system") or []))
    return "main" if sdk and body.get("stream") and not structured else "side"


def strings_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from strings_in(item)
        case list():
            for item in value:
                yield from strings_in(item)


def working_directory(body: Json) -> str:
    """Newer models are told in a message with the role "system", older ones in `system`."""
    texts = (*strings_in(body.get("system")), *strings_in(body["messages"]))
    found = next((m for text in texts if (m := _CWD.search(text))), None)
    return found[1].strip() if found else ""


def counted(body: Json) -> Json:
    """What a request costs, unless its step says otherwise: any number that differs from the others'."""
    return {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": 100}


def _content(step: Text | Call | Together | Cut) -> list[Json]:
    match step:
        case Text(text) | Cut(text):
            return [{"type": "text", "text": text}]
        case Call(tool, given, say):
            use = {"type": "tool_use", "id": f"toolu_{uuid4().hex[:24]}"}
            said: list[Json] = [{"type": "text", "text": say}] if say else []
            return [*said, {**use, "name": tool, "input": given}]
        case Together(calls):
            return [block for call in calls for block in _content(call)]
        case _:
            assert_never(step)


def _message(body: Json, content: list[Json], *, stop: str, usage: Json | None) -> Json:
    return {
        "id": f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if content[-1]["type"] == "tool_use" else stop,
        "stop_sequence": None,
        "usage": usage or counted(body),
    }


def _events(message: Json) -> Iterator[Json]:
    """The same message as a stream: opened empty, filled block by block, closed."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty: Json = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


class ScriptedApi(Loopback):
    """The server, in a thread. The first rule that fits wins; after its steps comes `otherwise`."""

    def __init__(self, *, otherwise: str = "Done.", summary: str = "A scripted summary.") -> None:
        self.rules: list[tuple[str, tuple[Step, ...]]] = []
        self.requests: list[Request] = []
        self.otherwise = otherwise
        self.summary = summary
        super().__init__(_Handler)  # from here on it is asked

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def when(self, contains: str, *steps: Step) -> None:
        self.rules.append((contains, steps))

    def bodies_text(self, kind: Kind | None = None) -> str:
        """All text of all requests (or of one kind), unescaped: `"X" in api.bodies_text()`."""
        chosen = [r["body"] for r in self.requests if kind in (None, r["kind"])]
        return "\n".join(strings_in(chosen))

    def answer(self, body: Json) -> tuple[Text | Call | Together | Cut, Json] | Fail:
        """The step to take, and the message that comes of it."""
        prompt, number = turn_of(body)
        kind = kind_of(body, prompt)
        self.requests.append({"kind": kind, "prompt": prompt, "step": number, "body": body})
        step = self._step(kind, prompt, number)
        if isinstance(step, Delay):
            self.closing.wait(step.seconds)
            step = step.then
        if isinstance(step, Fail):
            return step
        cwd = json.dumps(working_directory(body))[1:-1]
        content = json.loads(json.dumps(_content(step)).replace("{{cwd}}", cwd))
        stop = step.stop if isinstance(step, Text) else "end_turn"
        usage = step.usage if isinstance(step, Text | Call) else None
        return step, _message(body, content, stop=stop, usage=usage)

    def _step(self, kind: Kind, prompt: str, number: int) -> Step:
        if kind == "compact":
            return Text(f"<analysis>-</analysis>\n<summary>\n{self.summary}\n</summary>")
        for contains, steps in self.rules:
            step = (*steps, Text(self.otherwise))[min(number, len(steps))]
            # A client that meets an error may ask again without a stream, and fails again.
            if contains in prompt and (kind == "main" or isinstance(step, Fail)):
                return step
        return Text(self.otherwise)


class _Handler(Handler):
    server: Server[ScriptedApi]
    wbufsize = -1

    def do_POST(self) -> None:  # noqa: N802
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.partition("?")[0] != "/v1/messages":
            self._send(404, "application/json", b"{}")
            return
        answer = self.server.owner.answer(body)
        if isinstance(answer, Fail):
            self._send(answer.status, "application/json", answer.body(), headers=answer.headers)
            return
        step, message = answer
        share = step.share if isinstance(step, Cut) else 1.0
        if body.get("stream"):
            lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message))
            self._send(200, "text/event-stream", "".join(lines).encode(), share=share)
        else:
            self._send(200, "application/json", json.dumps(message).encode(), share=share)

    def _send(
        self,
        status: int,
        content_type: str,
        data: bytes,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        share: float = 1.0,
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", f"req_{uuid4().hex[:20]}")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: int(len(data) * share)])
        self.close_connection = self.close_connection or share < 1
