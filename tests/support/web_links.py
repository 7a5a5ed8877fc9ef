"""A web server over a worker's parts, and bare connections to it."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import suppress

from aforesaid import clock, wiring
from aforesaid.paths import Paths
from aforesaid.web.server import Server, load_token
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service

HEAD = "GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"


def served(home: Paths, port: int = 0) -> Iterator[Server]:
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.home(), store, clock.now))
    found = Server(service.web.backend, port)
    found.start()
    try:
        yield found
    finally:
        found.stop()
        store.close()


def health(server: Server) -> int:
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        link.request("GET", "/health", headers={"Authorization": f"Bearer {secret(server)}"})
        answer = link.getresponse()
        answer.read()
        return answer.status
    finally:
        link.close()


def secret(server: Server) -> str:
    return load_token(server._paths)


def connect(server: Server, timeout: float = 30) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=timeout)


def said(link: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    with suppress(ConnectionResetError):
        while part := link.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)
