"""The server's start and end, its token, and other users of the machine."""

import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from aforesaid import clock, wiring
from aforesaid.errors import MemoryRefused
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.web import app as app_module
from aforesaid.web import server as server_module
from aforesaid.web.server import Server, load_token
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service
from tests.support.product import until
from tests.support.web_links import HEAD, connect, secret, served


def test_the_token_is_the_owners_alone_and_made_once(home: Paths) -> None:
    first = load_token(home)
    assert stat.S_IMODE(home.web_token.stat().st_mode) == 0o600
    assert load_token(home) == first
    assert len(first) > 40


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o622])
def test_a_token_that_others_could_read_is_made_again(home: Paths, mode: int) -> None:
    first = load_token(home)
    home.web_token.chmod(mode)
    assert load_token(home) != first
    assert stat.S_IMODE(home.web_token.stat().st_mode) == 0o600


def test_a_token_that_is_no_file_of_ours_is_made_again(home: Paths, tmp_path: Path) -> None:
    elsewhere = tmp_path / "known"
    elsewhere.write_text("known-to-others")
    elsewhere.chmod(0o600)
    home.run.mkdir(parents=True, exist_ok=True)
    home.web_token.symlink_to(elsewhere)
    assert load_token(home) != "known-to-others"
    assert elsewhere.read_text() == "known-to-others"
    home.web_token.write_bytes(b"\xff")
    assert len(load_token(home)) > 40


def test_ending_does_not_wait_for_what_takes_long(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "STOP_SECONDS", 0.1)
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.home(), store, clock.now))
    project = store.projects.resolve(identify(str(tmp_path)), str(tmp_path), 1)
    begun, over = threading.Event(), threading.Event()

    def order(*_: object, **__: object) -> NoReturn:
        begun.set()
        over.wait(60)
        raise MemoryRefused("over")

    server = Server(replace(service.web.backend, order=order), 0)
    server.start()
    link = connect(server)
    head = HEAD.replace("GET /health", f"POST /api/dream?project={project}")
    head = head.format(port=server.port, token=secret(server))
    link.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}".encode())
    assert begun.wait(30)
    until(lambda: server.application.is_busy)
    server.stop()
    assert server.application.is_busy  # it has not been waited for
    over.set()
    until(lambda: not server.application.is_busy)
    link.close()
    store.close()


def test_of_two_that_want_one_port_at_once_each_gets_one() -> None:
    """Both may bind it; only one may listen."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    taken = held.getsockname()[1]
    second = server_module._listen(taken)
    try:
        assert second.getsockname()[1] == taken
        third = server_module._listen(taken)
        assert third.getsockname()[1] != taken
        third.close()
        with pytest.raises(OSError, match="in use"):
            held.listen()
    finally:
        second.close()
        held.close()
    with server_module._listen(99_999_999) as elsewhere:
        assert elsewhere.getsockname()[1] < 65_536


SYSTEM_PYTHON = "/usr/bin/python3"  # everybody may run it
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or not Path(SYSTEM_PYTHON).exists(),
    reason="takes root to become somebody else",
)
def test_another_user_can_read_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """T45: In a folder that everybody may enter, as a home is on many machines."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("AFORESAID_HOME", f"{folder}/aforesaid")
        paths = Paths.of(os.environ)
        before = os.umask(0)  # nothing but our own care keeps others out
        try:
            paths.make()
            for server in served(paths):
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(str(paths.socket))
                files = (
                    paths.web_token,
                    paths.web_file,
                    paths.database,
                    paths.run,
                    paths.spool_new,
                )
                for path in files:
                    assert path.exists()
                    looked = [*NOBODY, "ls" if path.is_dir() else "cat", str(path)]
                    done = subprocess.run(looked, capture_output=True, check=False)
                    assert (done.returncode != 0, done.stdout) == (True, b""), path
                    assert b"Permission denied" in done.stderr
                link = server.authenticator.create_link().partition(str(server.port))[2]
                known = (str(paths.socket), str(server.port), secret(server), link)
                asked = subprocess.run(  # even if it has got the token or a link somehow
                    [*NOBODY, SYSTEM_PYTHON, "-c", CONNECT, *known],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                assert asked.stdout.split() == ["PermissionError", *["nothing"] * 4]
                assert server.authenticator.redeem_code(
                    link.rpartition("code=")[2]
                )  # nobody has used it
                assert json.loads(paths.web_file.read_text())["port"] == server.port
                for path in (paths.web_token, paths.web_file):
                    assert stat.S_IMODE(path.stat().st_mode) == 0o600
                listener.close()
        finally:
            os.umask(before)


CONNECT = """
import socket, sys
place, port, token, link = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
try:
    socket.socket(socket.AF_UNIX).connect(place)
    print("connected")
except OSError as error:
    print(type(error).__name__)
ways = (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")
asked = ("/health", "Authorization: Bearer " + token + "\\r\\n"), (link, "")
for family, host in ways:
    for path, more in asked:
        with socket.socket(family) as way:
            try:
                way.connect((host, port))
                head = f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n{more}\\r\\n"
                way.sendall(head.encode())
                print(way.recv(100)[:12].decode().replace(" ", "_") or "nothing")
            except (ConnectionResetError, BrokenPipeError):
                print("nothing")
"""
