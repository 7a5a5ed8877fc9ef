"""What is not allowed, sent to the running server over the network: it gets no handler to run."""

import socket
import sys
from collections import Counter
from contextlib import suppress

import pytest

from aforesaid.paths import Paths, write_private
from aforesaid.web import server as server_module
from aforesaid.web.server import Server
from tests.support.web import PORT, TOKEN
from tests.support.web_links import served
from tests.support.web_tries import Try, everything, spy_on


def status_of(server: Server, each: Try) -> int:
    """0: it was let go without a word."""
    _, method, path, given, body = each
    parts = [body] if isinstance(body, bytes) else list(body)
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given)]
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as link:
        with suppress(ConnectionError):  # it need not wait for the end of what it refuses
            link.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            for part in parts if len(parts) > 1 else []:
                link.sendall(b"%x\r\n%b\r\n" % (len(part), part))
        with suppress(ConnectionError):
            return int(link.recv(12)[9:] or 0)
    return 0


def test_nothing_that_is_refused_reaches_a_handler(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T40, T41, T42, T43: over the network."""
    monkeypatch.setattr(server_module, "IDLE_SECONDS", 1000.0)
    write_private(home.web_token, TOKEN.encode())
    for server in served(home, PORT):
        if server.port != PORT:
            pytest.skip("another program has the port")
        found = Counter[int]()
        spy, targets = spy_on(server.application)
        for each in everything(targets):
            status = status_of(server, each)
            found[status] += 1
            assert status == 0 or 400 <= status < 500, (status, each[:4])
        sys.stdout.write(f"{found.total()} requests over the network refused: {dict(found)}\n")
        assert spy.calls == 0
        assert found[0] * 100 < found.total()
