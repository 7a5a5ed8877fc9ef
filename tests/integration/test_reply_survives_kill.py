"""kill -9 of the worker between a model's reply and its effect: stored once, and paid for once.

`AFORESAID_KILL_ROUNDS` makes it longer.
"""

import os
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from aforesaid.ids import digest
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import settled, until, work
from tests.support.scripted_models import ScriptedOpenAi
from tests.support.scripted_notes import use
from tests.support.stub_model import rows

ROUNDS = int(os.environ.get("AFORESAID_KILL_ROUNDS", "5"))
# To read and check so much takes the worker a while: the moment that is to be hit is wide enough.
OBSERVATIONS, FACTS = 12, 8


def answer(body: dict[str, Any]) -> str:
    asked = str(body["messages"][-1]["content"])
    number = re.search(r"greeting number (\d+)", asked)
    assert number is not None
    if "Write the summary." in asked:
        return f"<summary><request>Add greeting number {number[1]}.</request></summary>"
    return "".join(_observation(f"{number[1]}-{n}") for n in range(OBSERVATIONS))


def _observation(name: str) -> str:
    """Of words that differ: what repeats itself is not heard to the end."""
    marks = [digest(f"{name}-{n}", 32) for n in range(FACTS)]
    facts = "".join(
        f"<fact>hello.py greets {m[:10]} as {m[10:20]} in the case {m[20:]}.</fact>" for m in marks
    )
    return (
        f"<observation><type>feature</type><title>Greeting {name} added</title>"
        f"<facts>{facts}</facts></observation>"
    )


class Patient(ScriptedOpenAi):
    """Answers when the test is ready to look."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        super().__init__(then=self._answer)

    def _answer(self, body: dict[str, Any]) -> str:
        self.may_answer.wait(60)
        return answer(body)

    def asked_again(self, before: int) -> bool:
        return len(self.requests) > before


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Patient]:
    with Patient() as running:
        use(monkeypatch, running.url)
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def kill_the_worker(home: Paths) -> None:
    pid = rpc.running_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)


def wait_for_the_reply(home: Paths, purpose: str, after: int) -> int:
    """Until the ledger has a newer reply of that kind. Its number."""
    query = "SELECT max(id) FROM requests WHERE purpose = ? AND outcome = 'answered' AND id > ?"
    end = time.monotonic() + 120
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as connection:
        while time.monotonic() < end:
            (found,) = connection.execute(query, (purpose, after)).fetchone()
            if found is not None:
                return int(found)
            time.sleep(0.001)  # the worker needs the core too
    raise AssertionError("no reply came")


def newest_request(home: Paths) -> int:
    ((newest,),) = rows(home.database, "SELECT coalesce(max(id), 0) FROM requests")
    assert isinstance(newest, int)
    return newest


def assert_each_was_stored_once(home: Paths, sessions: int) -> None:
    assert rows(home.database, "SELECT DISTINCT state FROM jobs") == [("done",)]
    assert rows(home.database, "SELECT count(*), count(DISTINCT title) FROM observations") == [
        (sessions * OBSERVATIONS, sessions * OBSERVATIONS)
    ]
    assert rows(home.database, "SELECT count(*), count(DISTINCT session_id) FROM summaries") == [
        (sessions, sessions)
    ]
    assert rows(home.database, "SELECT DISTINCT stored FROM requests") == [(1,)]
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.timeout(60 + 30 * ROUNDS)
@pytest.mark.parametrize("purpose", ["observe", "summarize"])
def test_a_reply_in_the_ledger_is_used_by_the_next_worker(
    home: Paths, project: Path, server: Patient, purpose: str
) -> None:
    """T16: a real worker is killed between the reply and the commit."""
    rpc.start(home)
    before_commit = 0
    for number in range(ROUNDS):
        before = newest_request(home)
        server.may_answer.clear()
        work(project, f"session-{number}", prompt=f"Add greeting number {number} to hello.py")
        server.may_answer.set()
        reply = wait_for_the_reply(home, purpose, before)
        kill_the_worker(home)
        ((stored,),) = rows(home.database, f"SELECT stored FROM requests WHERE id = {reply}")
        before_commit += stored == 0
        rpc.start(home)
        settled(home)
        assert rows(home.database, f"SELECT stored FROM requests WHERE id = {reply}") == [(1,)]
    assert_each_was_stored_once(home, ROUNDS)
    # Nothing was asked twice: two requests for each session, all of them in the ledger.
    assert len(server.requests) == 2 * ROUNDS
    assert rows(home.database, "SELECT outcome, count(*) FROM requests GROUP BY outcome") == [
        ("answered", 2 * ROUNDS)
    ]
    if purpose == "observe":
        assert before_commit > 0, "the moment between the reply and the commit was never hit"


@pytest.mark.timeout(60 + 30 * ROUNDS)
def test_a_kill_at_any_moment_around_the_reply_stores_it_once(
    home: Paths, project: Path, server: Patient
) -> None:
    """T16: the job is leased, and its worker dies."""
    chance = Random(7)
    rpc.start(home)
    for number in range(ROUNDS):
        asked = len(server.requests)
        server.may_answer.clear()
        work(project, f"session-{number}", prompt=f"Add greeting number {number} to hello.py")
        until(partial(server.asked_again, asked))
        server.may_answer.set()
        time.sleep(chance.uniform(0, 0.06))
        kill_the_worker(home)
        rpc.start(home)
        settled(home)
    assert_each_was_stored_once(home, ROUNDS)
    assert rows(home.database, "SELECT count(*) FROM requests") == [(2 * ROUNDS,)]
    # What was under way when the worker died was asked for again, and nothing else.
    assert len(server.requests) <= 3 * ROUNDS
