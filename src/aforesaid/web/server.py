"""The web server: uvicorn in a thread of its own, on loopback only, started on demand.

`run/web.json` holds its port, `run/web-token` the token, which is created once.
"""

import asyncio
import json
import os
import secrets
import socket
import stat
import threading
import time
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from aforesaid import log
from aforesaid.errors import NotServed
from aforesaid.paths import Paths, write_private
from aforesaid.web.app import Application
from aforesaid.web.auth import MAX_HEAD_BYTES, Authenticator, is_foreign_connection
from aforesaid.web.backend import Backend

LOOPBACK = "127.0.0.1"
KEEP_ALIVE_SECONDS = 10
BACKLOG = 256
START_SECONDS, STOP_SECONDS = 10, 2
MAX_CONNECTIONS = 64
IDLE_SECONDS = 10.0  # until a request's head is complete, or between two requests
SEND_BUFFER = 128 * 1024  # in the kernel, for a client that does not read


class Connection(H11Protocol):
    """Uvicorn's protocol with limits: an idle or half-sent request is closed, and where there are too many
    connections the one idle for longest is closed for the new one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = time.monotonic()
        self._timer = self.loop.call_later(IDLE_SECONDS, self._check_idle)
        link: Any = transport.get_extra_info("socket")
        if is_foreign_connection(link):
            log.warning("web.foreign_user", client=self.client[1] if self.client else None)
            transport.abort()
            return
        link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = time.monotonic()
        super().on_response_complete()

    @property
    def is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _check_idle(self) -> None:
        """A connection that is closing counts as idle: a dropped stream has no complete response, and its
        client may not read what is buffered."""
        waited = time.monotonic() - self._since
        busy = self.is_busy and not self.transport.is_closing()
        if not busy and waited >= IDLE_SECONDS:
            self.transport.abort()
            return
        again = IDLE_SECONDS if busy else IDLE_SECONDS - waited
        self._timer = self.loop.call_later(max(0.1, again), self._check_idle)

    def _make_room(self) -> None:
        """Connections that are closing no longer count."""
        here = [each for each in self.connections if isinstance(each, Connection)]
        here = [each for each in here if not each.transport.is_closing()]
        if len(here) > MAX_CONNECTIONS:
            idle = [each for each in here if not each.is_busy and each is not self]
            oldest = min(idle, key=lambda each: each._since, default=self)
            oldest.transport.abort()


class Server:
    def __init__(self, backend: Backend, port: int) -> None:
        self._paths = backend.home.paths
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.authenticator = Authenticator(load_token(self._paths), self.port)
        self.application = Application(backend, authenticator=self.authenticator)
        config = uvicorn.Config(
            self.application,
            http=Connection,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._server = _Uvicorn(config)
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if not self._server.ready.wait(START_SECONDS) or self._server.failed:
            self.stop()
            raise NotServed
        address = {"port": self.port, "pid": os.getpid()}
        write_private(self._paths.web_file, json.dumps(address).encode() + b"\n")
        log.action("web.started", port=self.port)

    def stop(self, *, keep_note: bool = False) -> None:
        """`keep_note`: the next worker serves on the same port, because a viewer is open."""
        if self._server.loop is not None:
            with suppress(RuntimeError):
                self._server.loop.call_soon_threadsafe(self.application.stream.close)
                self._server.loop.call_soon_threadsafe(self._server.leaving.set)
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS + 3)
        self.application.close()
        self._socket.close()
        if not keep_note:
            self._paths.web_file.unlink(missing_ok=True)
        log.action("web.ended", port=self.port)

    def _run(self) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        except Exception as error:
            log.warning("web.failed", error=log.cause(error))
        finally:
            self._server.failed = True
            self._server.ready.set()


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.leaving = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.failed = False

    async def main_loop(self) -> None:
        """Uvicorn polls ten times a second; wait for the event instead."""
        await self.leaving.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()


def load_token(paths: Paths) -> str:
    """Created once, and again where others could read the file."""
    file = paths.web_token
    with suppress(OSError, ValueError):
        status = file.lstat()
        found = file.read_text("ascii").strip()
        kept = stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077
        if found and kept and status.st_uid == os.getuid():
            return found
    made = secrets.token_urlsafe(32)
    write_private(file, made.encode() + b"\n")
    return made


def _listen(port: int) -> socket.socket:
    for wanted in (port, 0):
        # asyncio disables Nagle's algorithm only with an explicit protocol: a response takes 40 ms more else.
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            link.bind((LOOPBACK, wanted))
            link.listen(BACKLOG)  # fails for the second of two that have bound one port
        except (OSError, OverflowError):
            link.close()
            if wanted == 0:
                raise NotServed from None
            continue
        return link
    raise NotServed
