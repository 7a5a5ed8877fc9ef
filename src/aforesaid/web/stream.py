"""Notifications as server-sent events, resumed with Last-Event-ID.

A client that does not read is dropped after a while; it reconnects by itself. Where notifications are no
longer kept, the client learns that it missed some and reloads.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from aforesaid.web.backend import EventBus, Json
from aforesaid.web.endpoint import ApiError, Endpoint
from aforesaid.web.openapi import STREAM

MAX_STREAMS = 50
HEARTBEAT_SECONDS = 15.0
SEND_SECONDS = 20.0  # for a client to read
BATCH = 64
DEBOUNCE_SECONDS = 0.02  # a batch of captures is one write
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """ASGI, one instance for all clients."""

    def __init__(self, event_bus: EventBus) -> None:
        self.event_bus = event_bus
        self.heartbeat, self.send_seconds = HEARTBEAT_SECONDS, SEND_SECONDS
        self.boot = os.urandom(4).hex()  # numbers restart with each worker
        self._writing: set[asyncio.Task[None]] = set()  # one per client

    @property
    def clients(self) -> int:
        return len(self._writing)

    def close(self) -> None:
        for task in self._writing:
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.clients >= MAX_STREAMS:
            message = f"{MAX_STREAMS} viewers are open already. Close one."
            raise ApiError(429, "too_many_streams", message)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        last_id = Headers(scope=scope).get("last-event-id", "")
        writing = asyncio.create_task(self._write(send, last_id))
        gone = asyncio.create_task(_wait_for_disconnect(receive))
        self._writing.add(writing)
        try:
            await asyncio.wait((writing, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._writing.discard(writing)
            for task in (writing, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await task

    async def _write(self, send: Send, last_id: str) -> None:
        """Until cancelled; TimeoutError where the client does not read."""
        loop, published = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not published.is_set():
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(published.set)

        unsubscribe = self.event_bus.subscribe(wake)
        try:
            async for text in self._events(published, last_id):
                message = {"type": "http.response.body", "body": text.encode(), "more_body": True}
                async with asyncio.timeout(self.send_seconds):
                    await send(message)
        finally:
            unsubscribe()

    async def _events(self, published: asyncio.Event, last_id: str) -> AsyncIterator[str]:
        """From where the client was, if that is still kept; else from here on."""
        bus, sent = self.event_bus, self.event_bus.last
        boot, _, number = last_id.strip().rpartition("-")
        known = boot == self.boot and number.isdecimal() and len(number) < 18
        resumed = known and bus.after(int(number)) is not None
        if resumed:
            sent = int(number)
        yield self._encode(sent, "hello", {"missed": bool(last_id) and not resumed})
        while True:
            published.clear()
            found = bus.after(sent)
            if found is None:  # more than the bus keeps
                sent = bus.last
                yield self._encode(sent, "hello", {"missed": True})
            elif found:
                batch, sent = found[:BATCH], found[:BATCH][-1].number
                data = ((each, {"at": each.at} | each.data) for each in batch)
                yield "".join(self._encode(each.number, each.kind, more) for each, more in data)
            else:
                try:
                    async with asyncio.timeout(self.heartbeat):
                        await published.wait()
                    await asyncio.sleep(DEBOUNCE_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"

    def _encode(self, number: int, kind: str, data: Json) -> str:
        text = json.dumps(data, separators=(",", ":"))
        return f"id: {self.boot}-{number}\nevent: {kind}\ndata: {text}\n\n"


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


ENDPOINT = Endpoint(
    "GET",
    STREAM,
    "Live notifications as server-sent events: captured, turn, observation, summary, memory, changed, "
    "dream, fault; and hello at the start. Send Last-Event-ID to resume.",
    lambda _: None,  # served by `Stream`
)
