"""A aforesaid of its own in a temporary folder: with a worker or without, locked, or with a backlog."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aforesaid.hook
from aforesaid.agents.claude_code.install import AGENT, CONNECTION
from aforesaid.errors import WorkerError
from aforesaid.git import create_repository
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from benchmarks.spawn import Command

HOOK_DIR = Path(aforesaid.hook.__file__).parent
PYTHON = os.path.realpath(sys.executable)  # not a version manager's shim
BARE_ENV = {"PATH": "/usr/bin:/bin"}
BACKLOG = "backlog-"
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")

SH_TRUE = Command(("/bin/sh", "-c", "true"), BARE_ENV)
PYTHON_PASS = Command((PYTHON, "-I", "-S", "-c", "pass"), BARE_ENV)


@dataclass(frozen=True, slots=True)
class Home:
    paths: Paths
    project: Path
    env: Mapping[str, str]

    def hook(self, hook: str) -> Command:
        """As the client runs it: the line of its settings file, given to the shell."""
        line = CONNECTION.hook_command(hook, HOOK_DIR, Path(sys.executable))
        return Command(("/bin/sh", "-c", line), self.env)

    def python_writer(self, hook: str) -> Command:
        """As it runs where there is no `sh`."""
        argv = (sys.executable, "-I", "-S", str(HOOK_DIR / "capture.py"), AGENT, hook)
        return Command(argv, self.env)

    def pretend_starting(self) -> None:
        """An empty `starting`, and a fresh one: no hook starts a worker."""
        self.paths.starting_file.touch()

    def waiting(self) -> list[os.DirEntry[str]]:
        """What the measured captures left in the spool."""
        with os.scandir(self.paths.spool_new) as entries:
            return [entry for entry in entries if not entry.name.startswith(BACKLOG)]

    def clear_spool(self) -> int:
        """How many captures were there."""
        found = self.waiting()
        for entry in found:
            Path(entry.path).unlink()
        return len(found)

    def fill_spool(self, count: int) -> None:
        """Small files: it is their number that could slow a hook down."""
        for number in range(count):
            (self.paths.spool_new / f"{BACKLOG}{number:06}").write_bytes(b"-")

    def make_repository(self, branch: str, files: Iterable[str]) -> None:
        """Most projects are one, with work under way: the brief asks git what it is."""
        for name in files:
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("value = 1\n")
        git_dir = self.project / ".git"
        create_repository(git_dir)
        (git_dir / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        for arguments in (("add", "--all"), ("commit", "--quiet", "--message=first")):
            subprocess.run(["git", "-C", self.project, *IDENTITY, *arguments], check=True)

    def settle(self, seconds: float = 0.1) -> None:
        """Until the worker has drained the spool, and a moment longer."""
        while self.waiting():
            time.sleep(0.01)
        time.sleep(seconds)


@contextmanager
def temporary() -> Iterator[Home]:
    root = Path(tempfile.mkdtemp(prefix="aforesaid-bench-"))
    try:
        env = BARE_ENV | {
            "HOME": str(root),
            "AFORESAID_HOME": str(root / "home"),
            "AFORESAID_SYNTHESIS_PROVIDER": "rules",
            "CLAUDE_PROJECT_DIR": str(root / "project"),
        }
        home = Home(Paths.of(env), root / "project", env)
        home.project.mkdir()
        home.paths.make()
        try:
            yield home
        finally:
            rpc.stop(home.paths)
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def worker(home: Home) -> Iterator[subprocess.Popen[bytes]]:
    """A running worker that answers; stopped at the end, whatever happened."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "aforesaid.worker.main"],
        env=dict(home.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_ready(home, process)
        yield process
    finally:
        rpc.stop(home.paths)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until_ready(home: Home, process: subprocess.Popen[bytes] | None = None) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            rpc.ask(home.paths, b"ping\n")
            return
        except WorkerError:
            time.sleep(0.002)
        if process is not None and process.poll() is not None:
            break
    log = home.paths.log_file
    raise RuntimeError(f"the worker did not start: {log.read_text() if log.exists() else 'no log'}")


def wait_until_idle(home: Home) -> None:
    """Nothing waits to be stored, written about or indexed."""
    while not json.loads(rpc.ask(home.paths, b"status\n"))["idle"]:
        time.sleep(0.1)


@contextmanager
def locked(home: Home) -> Iterator[None]:
    """This process holds the database's write lock."""
    connection = sqlite3.connect(home.paths.database, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.rollback()
    finally:
        connection.close()
