"""The server below the scripted models: HTTP, the order of the steps, and what was counted.

`scripted_models.py` has the protocols, `scripted_steps.py` what a script can say.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.support.loopback import Handler, Loopback, Server
from tests.support.scripted_steps import Broken, Bytes, Cut, Hang, Json, Raw, Say, Status, Step

PIECE = 24  # characters in one event of a stream


@dataclass(frozen=True, slots=True)
class Recorded:
    at: float
    path: str
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True, slots=True)
class Counts:
    """`fresh` input was neither read from the cache nor written to it."""

    fresh: int
    cached: int
    written: int
    received: int

    @property
    def sent(self) -> int:
        return self.fresh + self.cached + self.written


def count(text: str) -> int:
    return len(text) // 4


class ScriptedModel(Loopback):
    """The server, in a thread. See the two protocols below."""

    path: str

    def __init__(self, *steps: Step, then: Step = "") -> None:
        self.steps = list(steps)
        self.then = then
        self.requests: list[Recorded] = []
        self.sent = self.cached = self.written = self.received = 0
        self._lock = threading.Lock()
        self._known: set[str] = set()
        super().__init__(_Handler)  # from here on it is asked

    @property
    def bodies(self) -> list[Json]:
        return [request.body for request in self.requests]

    def step(self, recorded: Recorded) -> Step:
        with self._lock:
            self.requests.append(recorded)
            step = self.steps.pop(0) if self.steps else self.then
        while callable(step):
            step = step(recorded.body)
        return step

    def counted(self, body: Json, reply: str) -> Counts:
        static, rest = self.parts(body)
        with self._lock:
            known = static in self._known
            if static:
                self._known.add(static)
            counts = self.count(count(static), count(rest), count(reply), known)
            self.sent += counts.sent
            self.cached += counts.cached
            self.written += counts.written
            self.received += counts.received
        return counts

    def parts(self, body: Json) -> tuple[str, str]:
        """What can be cached, and what cannot."""
        raise NotImplementedError

    def count(self, static: int, rest: int, reply: int, known: bool) -> Counts:
        raise NotImplementedError

    def error(self, status: int) -> Json:
        raise NotImplementedError

    def whole(self, body: Json, say: Say, counts: Counts) -> Json:
        raise NotImplementedError

    def opening(self, body: Json, counts: Counts) -> Iterator[Json]:
        raise NotImplementedError

    def piece(self, body: Json, text: str, *, thought: bool = False) -> Json:
        raise NotImplementedError

    def ending(self, body: Json, say: Say, counts: Counts) -> Iterator[Json]:
        raise NotImplementedError

    def line(self, event: Json) -> str:
        raise NotImplementedError

    def error_event(self, error: Json) -> Json:
        raise NotImplementedError

    def last_line(self) -> str:
        return ""

    def pieces(self, body: Json, text: str, *, thought: bool = False) -> Iterator[Json]:
        for at in range(0, len(text), PIECE):
            yield self.piece(body, text[at : at + PIECE], thought=thought)


class _Handler(Handler):
    server: Server[ScriptedModel]

    def do_GET(self) -> None:  # noqa: N802
        if self.path.endswith("/models"):
            self._send(200, {}, json.dumps({"object": "list", "data": [{"id": "scripted"}]}))
        else:
            self._send(404, {}, json.dumps(self.server.owner.error(404)))

    def do_POST(self) -> None:  # noqa: N802
        script = self.server.owner
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path.partition("?")[0] != script.path:
            self._send(404, {}, json.dumps(script.error(404)))
            return
        step = script.step(Recorded(time.time(), self.path, headers, body))
        match step:
            case str() as text:
                self._say(body, Say(text))
            case Say() as say:
                self._say(body, say)
            case Status(status, extra, told):
                text = json.dumps(script.error(status)) if told is None else told
                self._send(status, extra, text)
            case Raw(data, content_type):
                self._send(200, {"content-type": content_type}, data)
            case _:
                self._fail(body, step)

    def _fail(self, body: Json, step: Step) -> None:
        script = self.server.owner
        self.close_connection = True
        match step:
            case Cut(text, clean):
                self._start(body, text)
                if clean:
                    self._chunk(b"")
            case Broken(text, error):
                self._start(body, text)
                self._chunk(script.line(script.error_event(error)).encode())
                self._chunk(b"")
            case Hang(after):
                if after is not None:
                    self._start(body, after)
                script.closing.wait()
            case Bytes(data):
                self.wfile.write(data)
            case _:
                raise AssertionError(f"not a step: {step!r}")

    def _say(self, body: Json, say: Say) -> None:
        script = self.server.owner
        counts = script.counted(body, say.thoughts + say.text)
        if not body.get("stream"):
            self._send(200, {}, json.dumps(script.whole(body, say, counts)))
            return
        self._head()
        for event in script.opening(body, counts):
            self._chunk(script.line(event).encode())
        for text, thought in ((say.thoughts, True), (say.text, False)):
            for event in script.pieces(body, text, thought=thought):
                script.closing.wait(say.pause)
                self._chunk(script.line(event).encode())
        for event in script.ending(body, say, counts):
            self._chunk(script.line(event).encode())
        self._chunk(script.last_line().encode() or b":end\n\n")
        self._chunk(b"")

    def _start(self, body: Json, text: str) -> None:
        """As much of a reply as that text; it is counted like any other."""
        script = self.server.owner
        counts = script.counted(body, text)
        self._head()
        for event in (*script.opening(body, counts), *script.pieces(body, text)):
            self._chunk(script.line(event).encode())

    def _head(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send(self, status: int, headers: Mapping[str, str], body: str | bytes) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
