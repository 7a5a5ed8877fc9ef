"""What happens, as server-sent events: live, from where a browser was when its connection broke.

Nobody is waited for: a client that does not read is dropped when it is too far behind, and comes back by
itself. What is no longer kept cannot be told again; then it is told that it missed something, and looks anew.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from recollect.web.errors import refusal
from recollect.web.happenings import Happening, Happenings
from recollect.web.openapi import STREAM
from recollect.web.rows import Row
from recollect.web.security import ASKED, Asked

MOST_STREAMS = 50
HEARTBEAT_SECONDS = 15.0
BEHIND = 256  # happenings that a client may be behind
AT_ONCE = 64
IN_WORDS = 512
TOGETHER_SECONDS = 0.02  # what happens within it is told at once: a batch of captures is one write
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """One for the server; a call of it for each client. Whoever publishes wakes one loop, and each happening
    is put into words once, however many clients there are."""

    def __init__(self, happenings: Happenings, *, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self.happenings, self.heartbeat = happenings, heartbeat
        self.boot = os.urandom(4).hex()  # numbers begin anew with each worker
        self._clients: set[_Client] = set()
        self._stop: Callable[[], None] = lambda: None
        self._woken = False
        self._texts: dict[int, bytes] = {}

    @property
    def clients(self) -> int:
        return len(self._clients)

    def close(self) -> None:
        """In the loop's thread: everybody is let go."""
        for client in list(self._clients):
            client.drop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked: Asked = scope[ASKED]
        if len(self._clients) >= MOST_STREAMS:
            message = f"{MOST_STREAMS} viewers are open already. Close one."
            await refusal(429, "too_many_streams", message)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        client = _Client(self, send)
        if not self._clients:
            self._stop = self._watch(asyncio.get_running_loop())
        self._clients.add(client)
        try:
            await client.serve(receive, asked.headers.get("last-event-id", ""))
        finally:
            self._clients.discard(client)
            if not self._clients:
                self._stop()

    def text(self, each: Happening) -> bytes:
        found = self._texts.get(each.number)
        if found is None:
            data = json.dumps({"at": each.at} | each.data, separators=(",", ":"))
            said = f"id: {self.boot}-{each.number}\nevent: {each.kind}\ndata: {data}\n\n"
            if len(self._texts) >= IN_WORDS:
                self._texts.clear()
            found = self._texts[each.number] = said.encode()
        return found

    def _watch(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        """In whose thread something happens, there it costs next to nothing."""

        def wake() -> None:
            if not self._woken:
                self._woken = True
                with suppress(RuntimeError):  # the loop is closed: nobody watches any more
                    loop.call_soon_threadsafe(loop.call_later, TOGETHER_SECONDS, self._happened)

        self._woken = False
        return self.happenings.watch(wake)

    def _happened(self) -> None:
        self._woken = False
        for client in list(self._clients):
            client.happened()


class _Client:
    def __init__(self, stream: Stream, send: Send) -> None:
        self._stream, self._happenings, self._send = stream, stream.happenings, send
        self._wake = asyncio.Event()
        self._told = self._happenings.last
        self._blocked_at: int | None = None  # what was the last, when a send had to wait
        self._writing: asyncio.Task[None] | None = None

    async def serve(self, receive: Receive, last_id: str) -> None:
        self._writing = asyncio.create_task(self._write(last_id))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((self._writing, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (self._writing, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await task

    def drop(self) -> None:
        if self._writing is not None:
            self._writing.cancel()

    def happened(self) -> None:
        if self._blocked_at is not None and self._happenings.last - self._blocked_at > BEHIND:
            self.drop()
        self._wake.set()

    async def _write(self, last_id: str) -> None:
        await self._greet(last_id)
        while True:
            self._wake.clear()
            found = self._happenings.after(self._told)
            if found is None:  # faster than a ring of thousands can hold
                await self._say(self._hello(missed=True))
                self._told = self._happenings.last
                continue
            if found:
                some = found[:AT_ONCE]
                await self._say(b"".join(map(self._stream.text, some)))
                self._told = some[-1].number
                continue
            try:
                async with asyncio.timeout(self._stream.heartbeat):
                    await self._wake.wait()
            except TimeoutError:
                await self._say(b": still here\n\n")

    async def _greet(self, last_id: str) -> None:
        """Where it was, if that is of this life and still kept; else from here on."""
        boot, _, number = last_id.strip().rpartition("-")
        known = boot == self._stream.boot and number.isdecimal() and len(number) < 18
        replay = self._happenings.after(int(number)) if known else None
        if replay is not None:
            self._told = int(number)
        await self._say(self._hello(missed=bool(last_id) and replay is None))

    def _hello(self, *, missed: bool) -> bytes:
        data = json.dumps({"missed": missed})
        return f"id: {self._stream.boot}-{self._told}\nevent: hello\ndata: {data}\n\n".encode()

    async def _say(self, text: bytes) -> None:
        self._blocked_at = self._happenings.last
        await self._send({"type": "http.response.body", "body": text, "more_body": True})
        self._blocked_at = None


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _served(_: Iterable[object]) -> None:
    raise AssertionError("a stream is no answer")


ROW = Row(
    "GET",
    STREAM,
    "What happens, live, as server-sent events: captured, turn, observation, summary, memory, changed, "
    "dream, fault; and hello, at the start. Send Last-Event-ID to go on where you were.",
    _served,
)
