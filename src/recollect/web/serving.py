"""The web server, in a thread of its own: on loopback, and nowhere else.

It is started when somebody wants to look. `run/web.json` says where it listens, for whoever reads the token;
`run/web-token` is made once, so that programs need not ask again.
"""

import asyncio
import json
import os
import secrets
import socket
import stat
import threading
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from recollect import log
from recollect.errors import RecollectError
from recollect.paths import Paths, write_private
from recollect.web.backend import Backend
from recollect.web.connections import Connection
from recollect.web.entering import Entrance
from recollect.web.routes import Application
from recollect.web.security import LARGEST_HEAD, Security

LOOPBACK = "127.0.0.1"
KEEP_ALIVE_SECONDS = 10
BACKLOG = 256
START_SECONDS, STOP_SECONDS = 10, 2


class NotServed(RecollectError):
    """The viewer could not be started. `recollect worker logs` says why."""


class Server:
    def __init__(self, backend: Backend, port: int) -> None:
        self._paths = backend.home.paths
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.entrance = Entrance(token(self._paths), self.port)
        self.application = Application(backend, security=Security(self.port, self.entrance))
        self._server = _Uvicorn(_config(self.application))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if not self._server.ready.wait(START_SECONDS) or self._server.failed:
            self.stop()
            raise NotServed
        told = {"port": self.port, "pid": os.getpid()}
        write_private(self._paths.web_file, json.dumps(told).encode() + b"\n")
        log.action("web.started", port=self.port)

    def stop(self, *, keep_note: bool = False) -> None:
        """`keep_note`: the next worker serves again, because somebody is watching."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._leave)
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS + 3)
        self.application.close()
        self._socket.close()
        if not keep_note:
            self._paths.web_file.unlink(missing_ok=True)
        log.action("web.ended", port=self.port)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:
            log.warning("web.failed", error=log.cause(error))
        finally:
            self._server.failed = True
            self._server.ready.set()

    def _leave(self) -> None:
        self.application.stream.close()
        self._server.leaving.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve(sockets=[self._socket])


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.leaving = asyncio.Event()
        self.failed = False

    async def main_loop(self) -> None:
        """Uvicorn looks ten times a second whether it should end; we are told."""
        await self.leaving.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


def token(paths: Paths) -> str:
    """Made once. Whoever can read it is its owner; one that others could read is known to them, perhaps, and
    is made anew."""
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
    """On the port that was asked for; if somebody has it, on a free one."""
    for wanted in (port, 0):
        # The protocol is named, since asyncio turns Nagle off only then: an answer waits 40 ms else.
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            link.bind((LOOPBACK, wanted))
            link.listen(BACKLOG)  # of two that have bound one port, the second is told here
        except (OSError, OverflowError):
            link.close()
            if wanted == 0:
                raise NotServed from None
            continue
        return link
    raise NotServed


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
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
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
