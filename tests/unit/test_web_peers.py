"""Whose process is at the other end: by the kernel's answer and, where it gives none, by its tables."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from aforesaid.web import auth
from aforesaid.web.auth import SocketOwner, is_foreign_connection

WAYS = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")]
pytestmark = pytest.mark.skipif(
    not auth.TABLES[0].exists(), reason="only Linux tells whose a connection is"
)


@pytest.fixture(params=["kernel", "tables"])
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who is asked."""
    if request.param == "tables":
        monkeypatch.setattr(auth, "_of_kernel", lambda *_: None)
    else:
        monkeypatch.setattr(auth, "TABLES", ())
    return str(request.param)


@contextmanager
def connected(
    family: int = socket.AF_INET, host: str = "127.0.0.1"
) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Their end and ours."""
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(family) as theirs:
        theirs.connect((host, listening.getsockname()[1]))
        ours, _ = listening.accept()
        with ours:
            yield theirs, ours


@pytest.mark.parametrize(("family", "host"), WAYS)
@pytest.mark.usefixtures("asked")
def test_we_ourselves_are_let_in_over_either_family(
    family: int, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(family, host) as (_, ours):
        assert not is_foreign_connection(ours)
        monkeypatch.setattr(auth, "ROOT", -1)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        assert is_foreign_connection(ours)


@pytest.mark.parametrize(("family", "host"), WAYS)
def test_the_kernel_and_the_tables_say_the_same(family: int, host: str) -> None:
    with connected(family, host) as (theirs, ours):
        ends = ours.getpeername(), ours.getsockname()
        known = SocketOwner(os.getuid(), os.fstat(theirs.fileno()).st_ino)
        assert auth._of_kernel(*ends) == known
        assert auth._in_tables(auth._tables(), *ends) == known


@pytest.mark.parametrize(("family", "host"), WAYS)
@pytest.mark.usefixtures("asked")
def test_who_has_hung_up_is_refused_whoever_it_was(family: int, host: str) -> None:
    """What it sent before would be done for somebody whom nobody can name."""
    with connected(family, host) as (theirs, ours):
        theirs.sendall(b"GET /enter?code=x HTTP/1.1\r\n\r\n")
        theirs.close()
        assert is_foreign_connection(ours)
    with connected(family, host) as (theirs, ours):
        theirs.sendall(b"GET /enter?code=x HTTP/1.1\r\n\r\n")
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()  # with a reset, which leaves no trace of it
        assert is_foreign_connection(ours)


@pytest.mark.usefixtures("asked")
def test_who_has_only_ended_its_request_is_heard() -> None:
    with connected() as (theirs, ours):
        theirs.shutdown(socket.SHUT_WR)
        assert not is_foreign_connection(ours)


class Elsewhere:
    """An end whose other end is on no table here: a port that a rule of the firewall leads to us."""

    def __init__(self, real: socket.socket) -> None:
        self._real = real

    def getpeername(self) -> tuple[str, int]:
        return "192.0.2.1", 40000

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_who_is_not_of_this_machine_is_refused() -> None:
    with connected() as (_, ours):
        link: Any = Elsewhere(ours)
        assert is_foreign_connection(link)


def test_what_the_system_does_not_tell_is_left_to_the_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(auth, "_of_kernel", lambda *_: None)
    monkeypatch.setattr(auth, "TABLES", (tmp_path / "tcp",))
    with connected() as (theirs, ours):
        assert not is_foreign_connection(ours)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        assert is_foreign_connection(ours)  # one that is gone is not let in anywhere
