"""Alone on the machine and in the network: whom aforesaid speaks with, and who can read what it keeps."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from aforesaid.agents.claude_code.install import CONNECTION
from aforesaid.paths import Paths
from aforesaid.settings import ROWS
from aforesaid.web.server import LOOPBACK
from aforesaid.worker import rpc
from tests.support import payloads
from tests.support.netns import in_namespace
from tests.support.product import HOOK_DIR, aforesaid, settled, work
from tests.support.system_calls import NETWORK, addresses_in, needs_strace, watched
from tests.support.web_browser import opened
from tests.support.writers import start_no_worker

pytestmark = pytest.mark.slow

COMMANDS = (
    "status",
    "sessions",
    "context",
    "why",
    "cost",
    "remember 'deploys need the VPN'",
    "memory list",
    "dream --dry-run",
    "export -o out.jsonl.gz",
    "import claude-code --dry-run",
    "open --print",
    "doctor",
)


class Listener:
    """A program that has the port: it accepts, never answers, and notes what it is sent."""

    def __init__(self, answer: bytes) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._answer = answer
        self.port: int = self._server.getsockname()[1]
        self.heard: list[bytes] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                link, _ = self._server.accept()
                with link:
                    link.sendall(self._answer)
                    self.heard.append(link.recv(1 << 16))

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(10)


@contextmanager
def listening(answer: bytes) -> Iterator[Listener]:
    listener = Listener(answer)
    try:
        yield listener
    finally:
        listener.close()


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
    ids=["mute", "obliging"],
)
def test_a_server_that_has_our_port_is_sent_nothing(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """T52: a session, the viewer and the commands go on beside it, and never speak with it."""
    with listening(answer) as taken:
        monkeypatch.setenv("AFORESAID_WEB_PORT", str(taken.port))
        work(tmp_path, "s1")
        assert settled(home).health().events == 5
        browser = opened()
        assert browser.port != taken.port
        assert browser.sees()
        assert aforesaid("status").returncode == 0
        assert rpc.stop(home)
        # A note that leads to it, as a killed worker leaves one whose port somebody else has got since.
        home.web_file.write_text(json.dumps({"port": taken.port, "pid": os.getpid()}))
        work(tmp_path, "s2")
        assert aforesaid("status").returncode == 0
        assert opened().port != taken.port
        assert taken.heard == []


def test_a_hostile_socket_in_the_workers_place_costs_the_answer_and_not_the_event(
    home: Paths, tmp_path: Path
) -> None:
    """T52: whoever listens there was started by the same user; still no hook waits for it."""
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(home.socket))
        mute.listen()
        home.pid_file.write_text(f"{os.getpid()}\n")
        start_no_worker(home.state)
        work(tmp_path, "s1")
        assert len(list(home.spool_new.iterdir())) == 5
    home.socket.unlink()
    home.pid_file.unlink()
    rpc.start(home)
    assert settled(home).health().events == 5


@pytest.mark.quick
def test_no_setting_opens_a_door_to_the_network(home: Paths) -> None:
    """T44: the address is no setting; a port that names one is refused."""
    assert LOOPBACK == "127.0.0.1"
    assert [row.name for row in ROWS if row.name.startswith("web.")] == [
        "web.start",
        "web.port",
        "web.delete_seconds",
    ]
    for typed in ("0.0.0.0", "0.0.0.0:80", "::", "[::]:80", "*:80"):
        done = aforesaid("open", "--print", env={"AFORESAID_WEB_PORT": typed})
        assert done.returncode != 0
        assert "AFORESAID_WEB_PORT" in done.stderr


@pytest.mark.quick
def test_everything_in_the_home_is_for_its_owner_alone(home: Paths, tmp_path: Path) -> None:
    """T45: after a session, a viewer, memories and an export, though the umask would let everybody in."""
    before = os.umask(0)
    try:
        work(tmp_path, "s1")
        settled(home)
        opened()
        for command in ("remember 'deploys need the VPN'", "memory list", "pin 1", "forget 1"):
            assert aforesaid(*command.replace("'", "").split(" ", 1)).returncode == 0, command
    finally:
        os.umask(before)
    # What users edit lies below a folder that nobody else may enter; their editors give it any mode.
    open_to_others = [
        path
        for path in (home.state, *home.state.rglob("*"))
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]
    assert home.state.stat().st_mode & 0o777 == 0o700
    assert [p for p in open_to_others if not p.is_relative_to(home.memory)] == []


def test_nothing_is_left_in_the_folder_for_temporary_files(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T45: others may look there."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for name in ("TMPDIR", "SQLITE_TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(name, str(temporary))
    work(tmp_path, "s1")
    settled(home)
    assert aforesaid("doctor").returncode in (0, 1)
    assert rpc.stop(home)
    assert list(temporary.iterdir()) == []


def test_a_whole_session_reaches_for_no_network(home: Paths, tmp_path: Path) -> None:
    """T68: hooks, worker and commands where there is no network at all; nobody even tries."""
    needs_strace()
    if subprocess.run(in_namespace(["true"]), capture_output=True, check=False).returncode:
        pytest.skip("needs a network namespace")
    trace = tmp_path / "trace"
    script = tmp_path / "session.sh"
    script.write_text(_session(tmp_path))
    command = watched(["/bin/sh", "-eu", str(script)], trace, NETWORK)
    done = subprocess.run(
        in_namespace(command),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sa_family=AF_UNIX" in trace.read_text(errors="replace")  # it does see connections
    assert [line for line in addresses_in(trace) if "bind(" not in line] == []
    assert settled_events(home) >= 4


def _session(folder: Path) -> str:
    """A session by its hooks, then every command that might look outside, then the worker's end."""
    told = (
        ("new", payloads.prompt("s1", "p1", "Add a greeting to hello.py")),
        ("save", payloads.write("s1", "t1", "p1", str(folder / "hello.py"))),
        ("summary", payloads.stop("s1", "p1")),
        ("end", payloads.end("s1")),
    )
    command = Path(sys.executable).with_name("aforesaid")
    lines = [f"trap '{command} worker stop' EXIT"]
    for number, (hook, payload) in enumerate(told):
        (folder / f"{number}.json").write_bytes(payload)
        line = CONNECTION.hook_command(hook, HOOK_DIR, Path(sys.executable))
        (folder / f"{number}.hook").write_text(line)
        lines.append(f"/bin/sh {number}.hook < {number}.json")
    lines += [f"until {command} search greeting; do sleep 0.2; done"]  # once it is taken in
    lines += [f"{command} {each} </dev/null" for each in COMMANDS[:-1]]
    # The doctor has something to say: nothing is installed here.
    lines += [f"{command} {COMMANDS[-1]} </dev/null || true"]
    return "\n".join(lines) + "\n"


def settled_events(home: Paths) -> int:
    rpc.start(home)
    return settled(home).health().events
