"""The server against clients that mean no good, over the network."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from aforesaid import wiring
from aforesaid.paths import Paths
from aforesaid.web import auth
from aforesaid.web import server as server_module
from aforesaid.web.server import MAX_CONNECTIONS, Server
from tests.support.product import until
from tests.support.web_links import HEAD, connect, health, said, secret, served


@pytest.fixture
def server(home: Paths) -> Iterator[Server]:
    yield from served(home)


def test_it_listens_on_loopback_alone(server: Server) -> None:
    """T44: as the system's tables say."""
    for name in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        lines = Path(name).read_text().splitlines()[1:]
        local = [line.split()[1] for line in lines if line.split()[3] == "0A"]
        mine = [each for each in local if int(each.rpartition(":")[2], 16) == server.port]
        assert mine == ([f"0100007F:{server.port:04X}"] if name.endswith("tcp") else [])


def test_a_port_that_is_taken_leads_to_another(home: Paths, server: Server) -> None:
    store = wiring.open_for_reading(home)
    store.close()
    second = Server(server.application._backend, server.port)
    assert second.port != server.port
    second._socket.close()
    second.application.close()


def test_four_hundred_idle_connections_keep_nobody_out(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T49: It is the limit that holds: none of them is let go for its silence."""
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 1000.0)
    idle = [connect(server) for _ in range(400)]
    try:
        assert health(server) == 200
        until(lambda: len(server._server.server_state.connections) <= MAX_CONNECTIONS)
        assert _open_sockets(server.port) <= MAX_CONNECTIONS
        assert health(server) == 200
    finally:
        for link in idle:
            link.close()


def _open_sockets(port: int) -> int:
    """The server's own ends that are not closed, as the system counts them."""
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    ours = [each for each in lines if each[1] == f"0100007F:{port:04X}"]
    return sum(each[3] == "01" for each in ours)


def test_who_sends_half_a_request_is_let_go(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T49: slow senders."""
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 0.3)
    slow = [connect(server) for _ in range(5)]
    head = HEAD.format(port=server.port, token=secret(server)).encode()
    for number, link in enumerate(slow):
        link.sendall(head[: number * 20])
    stop = threading.Event()

    def drip() -> None:
        """One byte at a time: that it goes on does not help."""
        try:
            while not stop.wait(0.05):
                slow[0].sendall(b"G")
        except OSError:
            return

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        assert health(server) == 200
        for link in slow:
            assert said(link) in (b"",) or said(link).startswith(b"HTTP/1.1 4")
    finally:
        stop.set()
        dripping.join()
        for link in slow:
            link.close()


def test_a_body_that_does_not_come_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T49: slow bodies."""
    monkeypatch.setattr(auth, "BODY_SECONDS", 0.3)
    link = connect(server)
    head = HEAD.replace("GET /health", "POST /sessions/s/init").format(
        port=server.port, token=secret(server)
    )
    link.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
    assert b" 408 " in said(link).splitlines()[0]
    link.close()


@pytest.mark.parametrize(
    "bomb",
    [
        b"X-Long: " + b"x" * 100_000 + b"\r\n\r\n",
        b"".join(b"X-%d: y\r\n" % number for number in range(10_000)) + b"\r\n",
        b"X" * 100_000,
        b"X-Many: y\r\n" * 2_000 + b"\r\n",
    ],
    ids=["a long one", "many", "no end", "the same again and again"],
)
def test_headers_without_measure_are_refused(server: Server, bomb: bytes) -> None:
    """T49: header bombs."""
    link = connect(server)
    head = HEAD.format(port=server.port, token=secret(server)).encode()
    with suppress(BrokenPipeError, ConnectionResetError):
        link.sendall(head + bomb)
        link.shutdown(socket.SHUT_WR)
    answer = said(link)
    assert answer == b"" or answer[9:12] in (b"400", b"431")
    link.close()
    assert health(server) == 200


def test_a_gigabyte_is_refused_before_it_is_sent(server: Server) -> None:
    """T49: huge bodies."""
    link = connect(server)
    head = HEAD.replace("GET /health", "POST /sessions/s/observations").format(
        port=server.port, token=secret(server)
    )
    link.sendall(
        f"{head}Content-Type: application/json\r\nContent-Length: {1 << 30}\r\n\r\n".encode()
    )
    assert b" 413 " in said(link).splitlines()[0]
    link.close()


def test_a_whole_address_and_a_tunnel_are_refused(server: Server) -> None:
    """T40: absolute forms."""
    for line in ("GET http://evil.example/health", "CONNECT evil.example:80", "OPTIONS *"):
        link = connect(server)
        head = HEAD.format(port=server.port, token=secret(server))
        link.sendall(f"{head.replace('GET /health', line)}Connection: close\r\n\r\n".encode())
        assert said(link)[9:12] in (b"403", b"400")
        link.close()


def test_files_outside_the_viewer_are_nowhere(server: Server) -> None:
    """T48: traversal in every spelling."""
    head = HEAD.format(port=server.port, token=secret(server))
    for path in (
        "/viewer/..%2f..%2fsecurity.py",
        "/viewer/../auth.py",
        "/viewer/%2e%2e/auth.py",
        "/viewer//etc/passwd",
        "/viewer/%00",
        "/viewer/..%5c..%5csecurity.py",
        "/viewer/%2fetc%2fpasswd",
        "/viewer/index.html%00.js",
        "/viewer/CON",
    ):
        link = connect(server)
        asked = head.replace("/health", path)
        link.sendall(f"{asked}Connection: close\r\n\r\n".encode())
        assert said(link)[9:12] in (b"404", b"400"), path
        link.close()


def test_a_stream_that_nobody_reads_is_dropped_over_the_network(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T47: a slow client."""
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 0.3)
    link = socket.socket()
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    link.settimeout(30)
    link.connect(("127.0.0.1", server.port))
    head = HEAD.replace("/health", "/api/stream").format(port=server.port, token=secret(server))
    link.sendall(f"{head}\r\n".encode())
    until(lambda: server.application.stream.clients == 1)
    event_bus = server.application._backend.event_bus
    end = time.monotonic() + 60
    while server.application.stream.clients and time.monotonic() < end:
        for number in range(200):
            event_bus.publish("captured", number, title="x" * 200)
        assert health(server) == 200
    assert server.application.stream.clients == 0
    until(lambda: not server._server.server_state.connections)  # though its client is still there
    link.close()
