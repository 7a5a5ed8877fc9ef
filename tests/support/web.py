"""The API without a network: requests go to the application as ASGI, over a real worker's parts."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from aforesaid import clock, wiring
from aforesaid.paths import Paths
from aforesaid.web.app import Application
from aforesaid.web.auth import Authenticator
from aforesaid.web.backend import Backend
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service
from tests.support.blank import laid

PORT = 47399  # not that of the setting, where others may be served meanwhile
TOKEN = "a-token-for-tests"
HOST = f"127.0.0.1:{PORT}"
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def headers(**more: str | None) -> list[tuple[str, str]]:
    """Those of a program that has the token. None leaves one out; names have _ for -."""
    usual = {"host": HOST, "authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    wanted = usual | {name.replace("_", "-"): value for name, value in more.items()}
    return [(name, value) for name, value in wanted.items() if value is not None]


def scope_of(method: str, path: str, given: Headers) -> Scope:
    raw, _, query = path.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": raw,
        "raw_path": raw.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given],
    }


async def ask(
    app: ASGIApp, method: str, path: str, given: Headers, body: bytes | Sequence[bytes] = b""
) -> Answer:
    """One request. A body in several parts comes in chunks."""
    parts = [body] if isinstance(body, bytes) else list(body)
    sent: list[Message] = []

    async def receive() -> Message:
        if not parts:
            return {"type": "http.disconnect"}
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope_of(method, path, given), receive, send)
    start, *rest = sent
    found = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], found, b"".join(each.get("body", b"") for each in rest))


@dataclass(frozen=True, slots=True)
class Site:
    """An application over a service whose threads do not run: what is captured stays in the spool."""

    app: Application
    service: Service
    backend: Backend

    def ask(self, method: str, path: str, body: Any = None, **more: str | None) -> Answer:
        data = b"" if body is None else json.dumps(body).encode()
        given = headers(content_length=str(len(data)), **more)
        return asyncio.run(ask(self.app, method, path, given, data))

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def ingest(self) -> None:
        self.service._drain()

    def work(self) -> None:
        """Whatever is due."""
        self.service._jobs.runner.run_due(lambda: True)


@contextmanager
def site(paths: Paths) -> Iterator[Site]:
    home = wiring.home(live=True)
    laid(paths.database)
    store = wiring.open_for_writing(paths, wiring.encoder(home.settings))
    service = Service(Context(home, store, clock.now))
    backend = service.web.backend
    app = Application(backend, authenticator=Authenticator(TOKEN, PORT))
    try:
        yield Site(app, service, backend)
    finally:
        app.close()
        store.close()


async def events(
    app: ASGIApp, given: Headers, path: str = "/api/stream"
) -> AsyncGenerator[str, None]:
    """A stream's texts, one by one; closing the iterator hangs up."""
    queue: asyncio.Queue[str] = asyncio.Queue()
    gone = asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and message["body"]:
            for text in message["body"].decode().split("\n\n"):
                if text:
                    queue.put_nowait(text)

    async def serve() -> None:
        await app(scope_of("GET", path, given), receive, send)

    serving = asyncio.create_task(serve())
    try:
        while True:
            yield await asyncio.wait_for(queue.get(), 20)
    finally:
        gone.set()
        await serving
