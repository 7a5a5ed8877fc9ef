"""From the spool into the store: nothing lost, nothing doubled, nothing half read."""

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect import clock
from recollect.agents.claude_code import ClaudeCode
from recollect.errors import StoreError
from recollect.model.arrivals import Arrival, Ingested
from recollect.paths import Paths
from recollect.settings import BY_NAME
from recollect.store.sqlite import database
from recollect.store.sqlite.store import SqliteStore
from recollect.worker.ingest import Ingest
from recollect.worker.projects import ProjectFinder
from tests.support import payloads
from tests.support.stored import events_of

HEADER = b"recollect/1 claude-code save /home/dev/shop\0\n"
GOOD = HEADER + payloads.tool("s1", "good")


class Choking(SqliteStore):
    """A store with a bug: it cannot take one of the events."""

    def add_events(self, arrivals: Iterable[Arrival], now: int) -> Ingested:
        waiting = list(arrivals)
        if any(b"poison" in arrival.capture.body for arrival in waiting):
            raise ValueError("choked")
        return super().add_events(waiting, now)


@pytest.fixture
def store(home: Paths) -> Iterator[SqliteStore]:
    opened = Choking(home.database, writer=True)
    yield opened
    opened.close()


@pytest.fixture
def spool(home: Paths, store: SqliteStore) -> Ingest:
    boring = BY_NAME["capture.boring_tools"].default
    assert isinstance(boring, tuple)
    finder = ProjectFinder(store, clock.now)
    return Ingest(home, store, {"claude-code": ClaudeCode()}, finder, boring, clock.now)


def put(spool: Ingest, name: str, data: bytes, *, at: int | None = None) -> Path:
    file = spool.paths.spool_new / name
    file.write_bytes(data)
    if at is not None:
        os.utime(file, (at, at))
    return file


def waiting(spool: Ingest) -> list[str]:
    return sorted(file.name for file in spool.paths.spool_new.iterdir())


def quarantined(spool: Ingest) -> dict[str, str]:
    with closing(sqlite3.connect(spool.paths.database)) as connection:
        return dict(connection.execute("SELECT name, why FROM quarantine"))


BAD = {
    "the file is empty": b"",
    "the header is cut off": HEADER[:-3],
    "a newer recollect": HEADER.replace(b"/1", b"/9") + b"{}",
    "the agent 'aider' is not known": HEADER.replace(b"claude-code", b"aider") + b"{}",
    "the agent sent nothing": HEADER,
    "not JSON": GOOD[:-10],
    "not a JSON object": HEADER + b"[]",
    "names no session_id": HEADER + b'{"hook_event_name":"Stop"}',
    "too much to be kept": HEADER + b"[" * 100_000,
    "cannot be stored: ValueError": HEADER + payloads.tool("s1", "poison"),
}


@pytest.mark.parametrize("why", BAD)
def test_a_capture_that_cannot_be_read_is_quarantined_not_lost(spool: Ingest, why: str) -> None:
    """T2, T9: cut off, empty, not JSON, too deep: to `bad` with the reason, never read in part."""
    put(spool, "bad", BAD[why])
    put(spool, "good", GOOD)
    assert spool.drain().added == 1
    assert waiting(spool) == []
    assert (spool.paths.spool_bad / "bad").read_bytes() == BAD[why]
    assert why in quarantined(spool)["bad"]


def test_a_quarantined_file_is_not_lost_when_its_folder_is(spool: Ingest) -> None:
    spool.paths.spool_bad.rmdir()
    put(spool, "bad", b"nonsense")
    spool.drain()
    assert (spool.paths.spool_bad / "bad").read_bytes() == b"nonsense"


def test_a_file_with_a_name_that_is_not_text_stops_nobody(spool: Ingest) -> None:
    for name, data in ((b"\xff-good", GOOD), (b"\xff-bad", b"nonsense")):
        put(spool, os.fsdecode(name), data)
    assert spool.drain().added == 1
    assert waiting(spool) == []
    assert len(quarantined(spool)) == 1


def test_one_poisonous_file_does_not_hold_up_its_batch(spool: Ingest) -> None:
    for number in range(20):
        put(spool, f"{number:02}", HEADER + payloads.tool("s1", f"t{number}"))
    put(spool, "10-poison", HEADER + payloads.tool("s1", "poison"))
    assert spool.drain().added == 20
    assert list(quarantined(spool)) == ["10-poison"]


def test_a_capture_of_no_interest_is_dropped(spool: Ingest) -> None:
    put(spool, "other", HEADER + b'{"session_id":"s1","hook_event_name":"Notification"}')
    assert spool.drain().added == 0
    assert (waiting(spool), quarantined(spool)) == ([], {})


def test_a_file_of_another_user_is_kept_out(spool: Ingest) -> None:
    """T5: whoever could plant captures could plant memories."""
    if os.geteuid() != 0:
        pytest.skip("needs root: a file is given to another user")
    os.chown(put(spool, "planted", GOOD), 65534, 65534)
    assert spool.drain().added == 0
    assert "belongs to another user" in quarantined(spool)["planted"]


def test_what_is_no_file_is_left_alone(spool: Ingest, tmp_path: Path) -> None:
    """T5: a link may lead anywhere."""
    secret = tmp_path / "secret"
    secret.write_bytes(GOOD)
    (spool.paths.spool_new / "folder").mkdir()
    (spool.paths.spool_new / "link").symlink_to(secret)
    assert spool.drain().added == 0
    assert waiting(spool) == ["folder", "link"]


def test_the_order_is_that_of_the_last_byte_not_of_the_names(spool: Ingest) -> None:
    sent = [
        ("c", payloads.prompt("s1", "p1", "First")),
        ("a", payloads.tool("s1", "t1")),
        ("d", payloads.stop("s1", "p1")),
        ("b", payloads.prompt("s1", "p2", "Second")),
    ]
    for seconds, (name, body) in enumerate(sent):
        put(spool, name, HEADER + body, at=1_800_000_000 + seconds)
    assert spool.drain().closed_turns == 1
    session = spool.store.session_by_ref("claude-code", "s1")
    assert session is not None
    events = events_of(spool.store, session.id)
    assert [e.capture.id for e in events] == ["c", "a", "d", "b"]
    assert [e.prompt_number for e in events] == [1, 1, 1, 2]
    assert events[0].at == 1_800_000_000_000


def test_a_kill_between_commit_and_unlink_doubles_nothing(spool: Ingest, tmp_path: Path) -> None:
    """T15: every file of the batch is read a second time."""
    for number in range(30):
        put(spool, f"t{number}", HEADER + payloads.tool("s1", f"t{number}"))
    put(spool, "prompt", HEADER + payloads.prompt("s1", "p1", "Do it"))
    put(spool, "stop", HEADER + payloads.stop("s1", "p1"))
    put(spool, "end", HEADER + payloads.end("s1"))
    put(spool, "bad", b"nonsense")
    copy = shutil.copytree(spool.paths.spool_new, tmp_path / "copy", copy_function=shutil.copy2)
    first = spool.drain()
    before = spool.store.health()
    shutil.copytree(copy, spool.paths.spool_new, dirs_exist_ok=True, copy_function=shutil.copy2)
    second = spool.drain()
    assert (first.added, second.added, second.duplicates) == (33, 0, 33)
    assert spool.store.health() == before
    assert waiting(spool) == []


def test_boring_tools_are_stored_and_cost_no_work(spool: Ingest) -> None:
    tools = ("Grep", "Glob", "mcp__recollect__search", "Bash")
    for number, tool in enumerate(tools):
        put(spool, tool, HEADER + payloads.tool("s1", f"t{number}", name=tool))
    put(spool, "stop", HEADER + payloads.stop("s1", "p1"), at=4_000_000_000)
    assert spool.drain().added == 5
    job = spool.store.claim_job("test", clock.now(), clock.now() + clock.HOUR)
    assert job is not None
    assert [event.capture.id for event in spool.store.events_of_job(job.id)] == ["Bash"]


def test_a_database_that_is_locked_for_a_while_is_waited_for(spool: Ingest) -> None:
    """T23: for a moment."""
    put(spool, "good", GOOD)
    with closing(sqlite3.connect(spool.paths.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        drained: list[Ingested] = []
        thread = threading.Thread(target=lambda: drained.append(spool.drain()))
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        assert waiting(spool) == ["good"]
        other.execute("COMMIT")
        thread.join(30)
    assert [result.added for result in drained] == [1]
    assert waiting(spool) == []


def test_a_database_that_stays_locked_costs_nothing_but_time(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T23: for longer than the worker waits; it tries again."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with (
        closing(SqliteStore(home.database, writer=True)) as store,
        closing(sqlite3.connect(home.database, isolation_level=None)) as other,
    ):
        agents = {"claude-code": ClaudeCode()}
        spool = Ingest(home, store, agents, ProjectFinder(store, clock.now), (), clock.now)
        spool.finder.of("/home/dev/shop")
        for number in range(3):
            put(spool, f"t{number}", HEADER + payloads.tool("s1", f"t{number}"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            spool.drain()
        assert len(waiting(spool)) == 3
        other.execute("COMMIT")
        assert spool.drain().added == 3
        assert quarantined(spool) == {}


def test_a_full_disk_keeps_the_spool_until_there_is_room(home: Paths, tmp_path: Path) -> None:
    """T26: the transaction is rolled back, the spool file kept."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root: a file system of its own is mounted")
    try:
        with closing(SqliteStore(disk / "recollect.db", writer=True)) as store:
            agents = {"claude-code": ClaudeCode()}
            spool = Ingest(home, store, agents, ProjectFinder(store, clock.now), (), clock.now)
            body = payloads.tool("s1", "big", output=os.urandom(4 << 20).hex())
            put(spool, "big", HEADER + body)
            with pytest.raises(StoreError, match="full"):
                spool.drain()
            assert waiting(spool) == ["big"]
            assert list(home.spool_bad.iterdir()) == []
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            assert spool.drain().added == 1
            store.check()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
