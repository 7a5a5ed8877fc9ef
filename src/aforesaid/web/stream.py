"""Notifications as server-sent events, resumed with Last-Event-ID.

A client that does not read is dropped when it is too far behind; it reconnects by itself. Where notifications
are no longer kept, the client learns that it missed some and reloads.
"""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import suppress

from starlette.types import Receive, Scope, Send

from aforesaid.web.auth import decode_headers
from aforesaid.web.backend import EventBus, Json
from aforesaid.web.endpoint import ApiError, Endpoint
from aforesaid.web.openapi import STREAM

MAX_STREAMS = 50
HEARTBEAT_SECONDS = 15.0
BEHIND = 256  # notifications that a client may be behind
BATCH = 64
DEBOUNCE_SECONDS = 0.02  # a batch of captures is one write
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """ASGI, one instance for all clients: a publisher wakes one loop."""

    def __init__(self, event_bus: EventBus, *, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self.event_bus, self.heartbeat = event_bus, heartbeat
        self.boot = os.urandom(4).hex()  # numbers restart with each worker
        self._clients: set[_Client] = set()
        self._stop: Callable[[], None] = lambda: None
        self._woken = False

    @property
    def clients(self) -> int:
        return len(self._clients)

    def close(self) -> None:
        for client in list(self._clients):
            client.drop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self._clients) >= MAX_STREAMS:
            message = f"{MAX_STREAMS} viewers are open already. Close one."
            raise ApiError(429, "too_many_streams", message)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        client = _Client(self, send)
        if not self._clients:
            self._stop = self._subscribe(asyncio.get_running_loop())
        self._clients.add(client)
        try:
            await client.serve(receive, decode_headers(scope).get("last-event-id", ""))
        finally:
            self._clients.discard(client)
            if not self._clients:
                self._stop()

    def _subscribe(self, loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
        def wake() -> None:
            if not self._woken:
                self._woken = True
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(loop.call_later, DEBOUNCE_SECONDS, self._notify)

        self._woken = False
        return self.event_bus.subscribe(wake)

    def _notify(self) -> None:
        self._woken = False
        for client in list(self._clients):
            client.notify()


class _Client:
    def __init__(self, stream: Stream, send: Send) -> None:
        self._stream, self._event_bus, self._send = stream, stream.event_bus, send
        self._wake = asyncio.Event()
        self._sent = self._event_bus.last
        self._blocked_at: int | None = None  # the last number when a send began to block
        self._writing: asyncio.Task[None] | None = None

    async def serve(self, receive: Receive, last_id: str) -> None:
        async def wait_for_disconnect() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        self._writing = asyncio.create_task(self._write(last_id))
        gone = asyncio.create_task(wait_for_disconnect())
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

    def notify(self) -> None:
        if self._blocked_at is not None and self._event_bus.last - self._blocked_at > BEHIND:
            self.drop()
        self._wake.set()

    async def _write(self, last_id: str) -> None:
        # Resume where the client was, if that is still kept; else from here on.
        boot, _, number = last_id.strip().rpartition("-")
        known = boot == self._stream.boot and number.isdecimal() and len(number) < 18
        resumed = known and self._event_bus.after(int(number)) is not None
        if resumed:
            self._sent = int(number)
        await self._send_text(self._encode("hello", {"missed": bool(last_id) and not resumed}))
        while True:
            self._wake.clear()
            found = self._event_bus.after(self._sent)
            if found is None:  # more than the bus keeps
                await self._send_text(self._encode("hello", {"missed": True}))
                self._sent = self._event_bus.last
            elif found:
                texts = []
                for each in found[:BATCH]:
                    self._sent = each.number
                    texts.append(self._encode(each.kind, {"at": each.at} | each.data))
                await self._send_text("".join(texts))
            else:
                try:
                    async with asyncio.timeout(self._stream.heartbeat):
                        await self._wake.wait()
                except TimeoutError:
                    await self._send_text(": still here\n\n")

    def _encode(self, kind: str, data: Json) -> str:
        text = json.dumps(data, separators=(",", ":"))
        return f"id: {self._stream.boot}-{self._sent}\nevent: {kind}\ndata: {text}\n\n"

    async def _send_text(self, text: str) -> None:
        self._blocked_at = self._event_bus.last
        await self._send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        self._blocked_at = None


ENDPOINT = Endpoint(
    "GET",
    STREAM,
    "Live notifications as server-sent events: captured, turn, observation, summary, memory, changed, "
    "dream, fault; and hello at the start. Send Last-Event-ID to resume.",
    lambda _: None,  # served by `Stream`
)
