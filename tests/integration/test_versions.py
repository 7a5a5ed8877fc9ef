"""Two versions of the product at once, and an upgrade with work that waits."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

import aforesaid
from aforesaid.agents.claude_code.install import CONNECTION
from aforesaid.errors import WorkerHung
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support import older, payloads
from tests.support.product import HOOK_DIR, settled, until
from tests.support.writers import start_no_worker

pytestmark = pytest.mark.slow

HEADER = b"aforesaid/1 claude-code %s /home/dev/shop\0\n"
EVENTS, TURNS = 1_000, 50


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """Where the older version is installed."""
    older.installed(tmp_path / "earlier", older.OLDER)
    return tmp_path / "earlier"


@pytest.fixture
def old_worker(earlier: Path, home: Paths) -> Iterator[subprocess.Popen[bytes]]:
    with older.start_worker(earlier) as running:
        until(lambda: rpc.running_pid(home) == running.pid, seconds=120)
        assert rpc.status(home)["version"] == older.OLDER
        yield running
        running.kill()


def hook(folder: Path, name: str, payload: bytes) -> int:
    command = CONNECTION.hook_command(name, folder, Path(sys.executable))
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=payload, capture_output=True, check=False, timeout=60
    )
    assert done.stderr == b""
    return done.returncode


def tool_uses(home: Paths) -> list[str]:
    with closing(sqlite3.connect(home.database)) as connection:
        rows = connection.execute("SELECT body FROM events WHERE kind = 'tool'").fetchall()
    return sorted(json.loads(zlib.decompress(body))["tool_use_id"] for (body,) in rows)


def test_hooks_of_three_versions_at_once_lose_nothing_and_agree_on_one_worker(
    home: Paths, earlier: Path, tmp_path: Path
) -> None:
    """T12: two installations, and one that is being tried out."""
    later = older.installed(tmp_path / "later", older.NEWER)
    folders = (earlier / "aforesaid" / "hook", HOOK_DIR, later)
    names = [f"t{number}" for number in range(24)]

    def one(number: int) -> int:
        payload = payloads.tool("s1", names[number], prompt_id="p1")
        return hook(folders[number % len(folders)], "save", payload)

    for folder in folders:
        assert hook(folder, "new", payloads.prompt("s1", "p1", "Go on")) == 0
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(len(names)))) == {0}
    until(lambda: rpc.running_pid(home))
    settled(home)
    assert tool_uses(home) == sorted(names)
    assert list(home.spool_bad.iterdir()) == []


def test_a_newer_hook_replaces_the_worker_in_the_middle_of_a_session(
    home: Paths, earlier: Path, old_worker: subprocess.Popen[bytes]
) -> None:
    """T12: the older one is told to stop, the newer one goes on where it was."""
    assert (
        hook(earlier / "aforesaid" / "hook", "save", payloads.tool("s1", "before", prompt_id="p1"))
        == 0
    )

    def replaced() -> bool:
        """The old one may be too busy to say in time how old it is: then a later hook hears it."""
        start = {"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}
        told = json.dumps(start | {"at": time.monotonic()}).encode()
        assert hook(HOOK_DIR, "context", told) == 0
        return old_worker.poll() is not None

    until(replaced, seconds=120)
    assert old_worker.returncode == 0
    assert hook(HOOK_DIR, "save", payloads.tool("s1", "after", prompt_id="p1")) == 0
    until(lambda: rpc.running_pid(home) not in (None, old_worker.pid))
    settled(home)
    assert rpc.status(home)["version"] == aforesaid.__version__
    assert tool_uses(home) == ["after", "before"]


def test_a_capture_in_a_form_of_tomorrow_is_kept_and_says_so(home: Paths) -> None:
    """T12: after a downgrade. It is not lost: the newer one can have it back."""
    body = b"aforesaid/2 claude-code save /home/dev/shop\0\n" + payloads.tool("s1", "t1")
    (home.spool_new / "tomorrow").write_bytes(body)
    rpc.start(home)
    settled(home)
    assert (home.spool_bad / "tomorrow").read_bytes() == body
    with closing(sqlite3.connect(home.database)) as connection:
        ((why,),) = connection.execute("SELECT why FROM quarantine")
    assert "a newer aforesaid wrote this" in why


def fill_the_spool(home: Paths) -> None:
    """Sessions of one turn each: a prompt, its tools, a stop, and the end."""
    tools = EVENTS // TURNS - 3
    for turn in range(TURNS):
        session, prompt = f"s{turn}", f"p{turn}"
        told = [
            (b"new", payloads.prompt(session, prompt, f"Write the files of turn {turn}")),
            *(
                (
                    b"save",
                    payloads.write(session, f"t{turn}_{n}", prompt, f"/home/dev/{turn}_{n}.py"),
                )
                for n in range(tools)
            ),
            (b"summary", payloads.stop(session, prompt)),
            (b"end", payloads.end(session)),
        ]
        for number, (name, payload) in enumerate(told):
            file = home.spool_new / f"{turn:03}-{number:03}"
            file.write_bytes(HEADER % name + payload)
            at = 1_800_000_000 + turn * 100 + number
            os.utime(file, (at, at))


@pytest.mark.timeout(600)
def test_a_thousand_events_survive_the_sessions_end_a_kill_and_an_upgrade(
    home: Paths, earlier: Path
) -> None:
    """T30: what waits belongs to nobody's life: not to the session's, not to the worker's."""
    start_no_worker(home.state)
    fill_the_spool(home)
    jobs = "SELECT count(*) FROM jobs WHERE state = 'done'"
    with older.start_worker(earlier) as first:
        until(
            lambda: home.database.exists() and rows(home, "SELECT 1 FROM events LIMIT 1"),
            seconds=120,
        )
        os.kill(first.pid, signal.SIGKILL)
    with older.start_worker(earlier) as second:
        until(lambda: rows(home, jobs) > [(3,)], seconds=240)
        with suppress(WorkerHung):  # a busy machine
            rpc.start(home)  # this version: the older one is replaced
        assert second.wait(120) == 0
    until(lambda: rows(home, jobs) == [(2 * TURNS,)], seconds=400)
    settled(home)
    assert rows(home, "SELECT count(*) FROM events") == [(EVENTS,)]
    assert rows(home, "SELECT count(DISTINCT state) FROM jobs") == [(1,)]
    assert rows(home, "SELECT count(*) FROM summaries") == [(TURNS,)]
    assert rows(home, "SELECT DISTINCT status FROM sessions") == [("completed",)]


def rows(home: Paths, query: str) -> list[tuple[object, ...]]:
    """Nothing while the tables are being made."""
    with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []
