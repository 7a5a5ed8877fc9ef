"""Bad moments of a real worker: killed between two calls, stopped beyond its lease, killed by its job."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock
from aforesaid.clock import HOUR
from aforesaid.model.jobs import MAX_TRIES
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support import payloads, scripted_notes
from tests.support.product import settled, until, work
from tests.support.scripted_models import ScriptedOpenAi
from tests.support.scripted_notes import use
from tests.support.stub_model import rows
from tests.support.system_calls import disturbed, needs_strace

pytestmark = pytest.mark.slow

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
WORKER = (sys.executable, "-I", "-m", "aforesaid.worker.main")
POISON = "Please do the poisonous thing"


class Held(ScriptedOpenAi):
    """Answers when it may; or kills whoever asks about the poison."""

    def __init__(self, home: Paths) -> None:
        self.may_answer = threading.Event()
        self.killed = 0
        self._home = home
        super().__init__(then=self._answer)

    def _answer(self, body: dict[str, Any]) -> str:
        if POISON in str(body["messages"][-1]["content"]):
            pid = rpc.running_pid(self._home)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self.killed += 1
        self.may_answer.wait(60)
        return scripted_notes.answer(body)


@pytest.fixture
def server(home: Paths, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    with Held(home) as running:
        use(monkeypatch, running.url)
        yield running
        running.may_answer.set()


@pytest.mark.parametrize("removal", [1, 2, 5])
def test_a_worker_that_is_killed_before_it_removes_a_file_doubles_nothing(
    home: Paths, tmp_path: Path, removal: int
) -> None:
    """T15: the kill comes from the system, in the very call that removes the file."""
    needs_strace()
    names = [f"t{number}" for number in range(5)]
    for name in names:
        (home.spool_new / name).write_bytes(HEADER + payloads.tool("s1", name))
    fault, files = f"signal=SIGKILL:when={removal}", [home.spool_new / name for name in names]
    command = disturbed(WORKER, tmp_path / "trace", "unlink,unlinkat", fault, files)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, timeout=120)
    assert done.returncode != 0
    # The signal arrives with the call, which may still have done its work.
    waiting = len(list(home.spool_new.iterdir()))
    assert len(names) - removal <= waiting <= len(names) - removal + 1
    assert rows(home.database, "SELECT count(*) FROM events") == [(len(names),)]
    rpc.start(home)
    assert settled(home).health().events == len(names)
    assert list(home.spool_new.iterdir()) == []


@pytest.mark.quick
def test_a_worker_that_is_stopped_beyond_its_lease_has_no_say_afterwards(
    home: Paths, tmp_path: Path, server: Held
) -> None:
    """T17: while it was stopped somebody else took its job; what it brings is refused."""
    work(tmp_path, "s1")
    pid = rpc.running_pid(home)
    assert pid is not None
    until(lambda: server.requests)
    os.kill(pid, signal.SIGSTOP)
    later = clock.now() + 24 * HOUR
    with closing(Store(home.database, writer=True)) as store:
        job = store.jobs.claim("somebody else", later, later + HOUR)
    assert job is not None
    assert job.tries == 2
    server.may_answer.set()
    os.kill(pid, signal.SIGCONT)
    until(lambda: "job.fenced" in home.log_file.read_text(), seconds=60)
    by_model = f"SELECT count(*) FROM observations WHERE job_id = {job.id} AND provider <> 'rules'"
    assert rows(home.database, by_model) == [(0,)]
    assert rpc.stop(home)
    rpc.start(home)  # a new worker takes over what the other one has left
    settled(home)
    assert rows(home.database, by_model) == [(1,)]
    assert rows(home.database, "SELECT DISTINCT state FROM jobs") == [("done",)]


def test_a_worker_that_is_stopped_and_goes_on_does_its_work_once(
    home: Paths, tmp_path: Path, server: Held
) -> None:
    """T17: nobody took its job, though its lease had run out."""
    work(tmp_path, "s1")
    pid = rpc.running_pid(home)
    assert pid is not None
    until(lambda: server.requests)
    os.kill(pid, signal.SIGSTOP)
    with closing(sqlite3.connect(home.database)) as connection, connection:
        connection.execute("UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL")
    server.may_answer.set()
    os.kill(pid, signal.SIGCONT)
    settled(home)
    assert rows(home.database, "SELECT DISTINCT state FROM jobs") == [("done",)]
    assert rows(home.database, "SELECT count(*) FROM observations") == [(1,)]
    assert rows(home.database, "SELECT count(*) FROM summaries") == [(1,)]


def test_a_job_that_kills_its_worker_is_parked_after_three_and_the_others_are_done(
    home: Paths, tmp_path: Path, server: Held
) -> None:
    """T20: there is no crash loop, and what was parked is listed."""
    server.may_answer.set()
    rpc.start(home)
    work(tmp_path, "s1", prompt=POISON)
    work(tmp_path, "s2")

    def parked() -> bool:
        rpc.start(home)
        return rows(home.database, "SELECT count(*) FROM jobs WHERE state = 'skipped'") == [(2,)]

    until(parked, seconds=240)
    settled(home)
    assert server.killed == 2 * MAX_TRIES  # what was learned, and the summary
    poisoned = (
        "SELECT count(*) FROM jobs JOIN sessions ON sessions.id = session_id WHERE ref = 's1'"
    )
    assert rows(home.database, f"{poisoned} AND state = 'skipped'") == [(2,)]
    assert rows(home.database, "SELECT count(*) FROM jobs WHERE state = 'done'") == [(2,)]
    assert rpc.running_pid(home) is not None
