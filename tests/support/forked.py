"""Commands and workers without the start of an interpreter: a process that has imported all, and forks.

Each is still a process of its own, with its own descriptors, environment, directory and end. What it does
not pay is Python's start and the imports. They are most of what a command or a worker costs, and the suite
runs a thousand of them. Whatever concerns that start itself takes the console script, or a hook.
"""

import atexit
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from aforesaid.cli.main import COMMANDS
from aforesaid.cli.main import main as command
from aforesaid.worker import rpc
from aforesaid.worker.main import main as worker

MOST = 1 << 20  # bytes of a request: arguments and an environment
WORKER = "aforesaid.worker.main"
PRELOADED = (
    *(f"aforesaid.cli.{row.module}" for row in COMMANDS),
    *("aforesaid.worker.service", "aforesaid.store.store"),
    "aforesaid.encoders.static_table",
    *("aforesaid.recall.matrix", "aforesaid.providers.rules", "aforesaid.providers.claude_login"),
    *("rich.console", "rich.table", "rich.progress", "rich.markdown", "rich._emoji_codes"),
    *("importlib.resources.readers", "encodings.utf_8_sig", "encodings.unicode_escape"),
)
BEFORE = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}

_started: dict[int, Path] = {}
"""The socket of this process's own server; a process that was forked from it starts another."""


def possible(env: Mapping[str, str]) -> bool:
    """Not where the interpreter itself is told something, nor where a process has no descriptor."""
    told = {name: value for name, value in env.items() if name.startswith("PYTHON")}
    return told == BEFORE and hasattr(os, "pidfd_open")


def run(
    arguments: list[str], *, env: Mapping[str, str], cwd: Path | None, stdin: str, seconds: float
) -> subprocess.CompletedProcess[str]:
    """A command to its end, as `subprocess.run` would have it."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link,
    ):
        given.write(stdin)
        given.seek(0)
        link.settimeout(seconds)
        files = [file.fileno() for file in (given, out, err)]
        pid = _ask(link, arguments, env, cwd or Path.cwd(), files)
        try:
            ended = int(link.recv(64))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, seconds) from None
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, ended, out.read(), err.read())


def start_worker(env: Mapping[str, str]) -> int:
    """The worker of the home that is named there: its process, which nobody need wait for."""
    with (
        Path(os.devnull).open("r+b") as null,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link,
    ):
        return _ask(link, [WORKER], env, Path("/"), [null.fileno()] * 3)


def _ask(
    link: socket.socket, arguments: list[str], env: Mapping[str, str], cwd: Path, files: list[int]
) -> int:
    """The process that does it."""
    link.connect(str(_server()))
    request = json.dumps([arguments, dict(env), str(cwd)]).encode()
    socket.send_fds(link, [request], files)
    return int(link.recv(64))


def _server() -> Path:
    """The socket of the one that serves this process; it ends when this one does."""
    if os.getpid() not in _started:
        folder = tempfile.TemporaryDirectory(prefix="forked-")
        path = Path(folder.name, "socket")
        # A worker is known by its command line. The home in its first environment is nobody's, so that the
        # end of a test does not take this one for it.
        served = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked", str(path), WORKER],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"HOME": "/nowhere", "AFORESAID_HOME": "/nowhere"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        atexit.register(_end, served, folder)
        assert served.stdout is not None
        assert served.stdout.readline() == b"ready\n"
        _started[os.getpid()] = path
    return _started[os.getpid()]


def _end(served: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    served.communicate()  # closes its input, which is what it waits for
    folder.cleanup()


class Server:
    """Forks for every request, tells the process and then how it ended."""

    def __init__(self, path: str) -> None:
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.bind(path)
        self.door.listen(64)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(0, selectors.EVENT_READ)
        self.waiting.register(self.door, selectors.EVENT_READ)
        self.running: dict[int, tuple[socket.socket, int]] = {}

    def serve(self) -> list[str]:
        """Returns in a child alone: what it is to be."""
        while True:
            for key, _ in self.waiting.select():
                if key.fileobj == 0:
                    os._exit(0)
                if key.fileobj is not self.door:
                    self._tell(key.fd)
                elif (arguments := self._fork()) is not None:
                    return arguments

    def _fork(self) -> list[str] | None:
        link, _ = self.door.accept()
        request, descriptors, _, _ = socket.recv_fds(link, MOST, 3)
        arguments, env, cwd = json.loads(request)
        if (pid := os.fork()) == 0:
            link.close()
            self._become(env, cwd, descriptors)
            return list(arguments)
        for descriptor in descriptors:
            os.close(descriptor)
        link.sendall(b"%d" % pid)
        watch = os.pidfd_open(pid)
        self.running[watch] = (link, pid)
        self.waiting.register(watch, selectors.EVENT_READ)
        return None

    def _become(self, env: Mapping[str, str], cwd: str, descriptors: list[int]) -> None:
        self.waiting.close()
        self.door.close()
        for watch, (link, _) in self.running.items():
            os.close(watch)
            link.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        os.chdir(cwd)

    def _tell(self, watch: int) -> None:
        self.waiting.unregister(watch)
        os.close(watch)
        link, pid = self.running.pop(watch)
        _, status = os.waitpid(pid, 0)
        with link:
            try:
                link.sendall(b"%d" % os.waitstatus_to_exitcode(status))
            except BrokenPipeError:
                return  # nobody waits for a worker


def _spawn() -> int:
    """In the place of `rpc._spawn`: the worker that a command starts is a fork of the command."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        status = worker()
    finally:
        os._exit(status)


def main(path: str) -> int:
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    server = Server(path)
    os.write(1, b"ready\n")
    arguments = server.serve()
    if arguments == [WORKER]:
        return worker()
    sys.argv = [str(Path(sys.executable).with_name("aforesaid")), *arguments]
    rpc._spawn = _spawn
    command()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
