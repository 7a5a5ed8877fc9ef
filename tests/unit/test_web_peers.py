"""Whose process is at the other end of a connection."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from aforesaid.web import auth
from aforesaid.web.auth import is_foreign_connection

WAYS = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")]
pytestmark = pytest.mark.skipif(
    not hasattr(socket, "AF_NETLINK"), reason="only Linux tells whose a connection is"
)


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
def test_we_ourselves_are_let_in_over_either_family(
    family: int, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(family, host) as (_, ours):
        assert not is_foreign_connection(ours)
        monkeypatch.setattr(auth, "ROOT", -1)
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        assert is_foreign_connection(ours)


@pytest.mark.parametrize(("family", "host"), WAYS)
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


def test_who_has_only_ended_its_request_is_heard() -> None:
    with connected() as (theirs, ours):
        theirs.shutdown(socket.SHUT_WR)
        assert not is_foreign_connection(ours)


def test_who_is_not_of_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that a rule of the firewall leads to us: the kernel knows our end alone."""
    with connected() as (_, ours):
        server = ours.getsockname()
        monkeypatch.setattr(auth, "find_owner", lambda end, _: 0 if end == server else None)
        assert is_foreign_connection(ours)


def test_what_the_system_does_not_tell_is_left_to_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auth, "find_owner", lambda *_: None)
    with connected() as (theirs, ours):
        assert not is_foreign_connection(ours)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        assert is_foreign_connection(ours)  # one that is gone is not let in anywhere
