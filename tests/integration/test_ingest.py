"""From the spool into the store: nothing lost, nothing doubled, nothing half read."""

import json
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.errors import StoreError
from aforesaid.model.events import Arrival, Ingested
from aforesaid.paths import Paths
from aforesaid.store import database
from aforesaid.store.events import Events
from aforesaid.store.store import Store
from aforesaid.worker import spool as spool_module
from aforesaid.worker.ingest import LARGE_AT_ONCE, Ingest
from tests.support import payloads
from tests.support.context import make_context
from tests.support.stored import events_of

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
GOOD = HEADER + payloads.tool("s1", "good")


class Choking(Events):
    """Has a bug: it cannot take one of the events."""

    def add(self, arrivals: Iterable[Arrival], now: int) -> Ingested:
        waiting = list(arrivals)
        if any(b"poison" in arrival.capture.body for arrival in waiting):
            raise ValueError("choked")
        return super().add(waiting, now)


@pytest.fixture
def store(home: Paths) -> Iterator[Store]:
    opened = Store(home.database, writer=True)
    opened.events = Choking(opened.database)
    yield opened
    opened.close()


@pytest.fixture
def spool(home: Paths, store: Store) -> Ingest:
    return Ingest(make_context(home, store, clock.now))


def put(spool: Ingest, name: str, data: bytes, *, at: int | None = None) -> Path:
    file = spool.context.paths.spool_new / name
    file.write_bytes(data)
    if at is not None:
        os.utime(file, (at, at))
    return file


def waiting(spool: Ingest) -> list[str]:
    return sorted(file.name for file in spool.context.paths.spool_new.iterdir())


def quarantined(spool: Ingest) -> dict[str, str]:
    with closing(sqlite3.connect(spool.context.paths.database)) as connection:
        return dict(connection.execute("SELECT name, why FROM quarantine"))


BAD = {
    "the file is empty": b"",
    "the header is cut off": HEADER[:-3],
    "a newer aforesaid": HEADER.replace(b"/1", b"/9") + b"{}",
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
    assert (spool.context.paths.spool_bad / "bad").read_bytes() == BAD[why]
    assert why in quarantined(spool)["bad"]


def test_a_quarantined_file_is_not_lost_when_its_folder_is(spool: Ingest) -> None:
    spool.context.paths.spool_bad.rmdir()
    put(spool, "bad", b"nonsense")
    spool.drain()
    assert (spool.context.paths.spool_bad / "bad").read_bytes() == b"nonsense"


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
    (spool.context.paths.spool_new / "folder").mkdir()
    (spool.context.paths.spool_new / "link").symlink_to(secret)
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
    session = spool.context.store.sessions.find("claude-code", "s1")
    assert session is not None
    events = events_of(spool.context.store, session.id)
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
    copy = shutil.copytree(
        spool.context.paths.spool_new, tmp_path / "copy", copy_function=shutil.copy2
    )
    first = spool.drain()
    before = spool.context.store.health()
    shutil.copytree(
        copy, spool.context.paths.spool_new, dirs_exist_ok=True, copy_function=shutil.copy2
    )
    second = spool.drain()
    assert (first.added, second.added, second.duplicates) == (33, 0, 33)
    assert spool.context.store.health() == before
    assert waiting(spool) == []


def test_boring_tools_are_stored_and_cost_no_work(spool: Ingest) -> None:
    tools = ("Grep", "Glob", "mcp__aforesaid__search", "Bash")
    for number, tool in enumerate(tools):
        put(spool, tool, HEADER + payloads.tool("s1", f"t{number}", name=tool))
    put(spool, "stop", HEADER + payloads.stop("s1", "p1"), at=4_000_000_000)
    assert spool.drain().added == 5
    job = spool.context.store.jobs.claim("test", clock.now(), clock.now() + clock.HOUR)
    assert job is not None
    assert [event.capture.id for event in spool.context.store.events.for_job(job.id)] == ["Bash"]


def test_a_database_that_is_locked_for_a_while_is_waited_for(spool: Ingest) -> None:
    """T23: for a moment."""
    put(spool, "good", GOOD)
    with closing(sqlite3.connect(spool.context.paths.database, isolation_level=None)) as other:
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
        closing(Store(home.database, writer=True)) as store,
        closing(sqlite3.connect(home.database, isolation_level=None)) as other,
    ):
        spool = Ingest(make_context(home, store, clock.now))
        spool.context.projects.of("/home/dev/shop")
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
        with closing(Store(disk / "aforesaid.db", writer=True)) as store:
            spool = Ingest(make_context(home, store, clock.now))
            for name in ("big1", "big2", "big3"):  # prompts, so that they are one batch
                body = payloads.prompt("s1", name, os.urandom(1_000_000).hex())
                put(spool, name, HEADER.replace(b"save", b"new") + body)
            with pytest.raises(StoreError, match="full"):
                spool.drain()
            assert waiting(spool) == ["big1", "big2", "big3"]
            assert list(home.spool_bad.iterdir()) == []
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            assert spool.drain().added == 3
            store.database.check()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


LONG_TEXT = "a line of a very long output\n" * 20_000


def put_turn(spool: Ingest, *, large: int, at: int = 1_800_000_000) -> None:
    """A prompt, four tool events and the end; one of them is large."""
    sent = [
        payloads.prompt("s1", "p1", "Print everything"),
        *(payloads.tool("s1", f"t{n}", output=LONG_TEXT if n == large else "ok") for n in range(4)),
        payloads.stop("s1", "p1"),
    ]
    hooks = [b"new", *[b"save"] * 4, b"summary"]
    for seconds, (hook, body) in enumerate(zip(hooks, sent, strict=True)):
        data = HEADER.replace(b"save", hook) + body
        put(spool, f"{hook.decode()}-{seconds}", data, at=at + seconds)


def jobs_of(spool: Ingest) -> list[tuple[str, list[str]]]:
    """Runs all pending jobs: their kind and the captures of their events."""
    done = []
    while job := spool.context.store.jobs.claim("test", clock.now(), clock.now() + clock.HOUR):
        found = [event.capture.id for event in spool.context.store.events.for_job(job.id)]
        done.append((job.kind, found))
        spool.context.store.jobs.skip(job, "seen", clock.now())
    return done


@pytest.mark.parametrize("large", range(4))
def test_a_large_event_that_is_stored_after_its_stop_is_in_its_turn(
    spool: Ingest, large: int
) -> None:
    """T7: large captures come last, and their turn is processed with them, once."""
    put_turn(spool, large=large)
    order: list[str] = []
    spool.on_stored = lambda arrivals: order.extend(a.capture.id for a in arrivals)
    assert spool.drain().added == 6
    assert order[-2:] == ["summary-5", f"save-{large + 1}"]
    session = spool.context.store.sessions.find("claude-code", "s1")
    assert session is not None
    events = events_of(spool.context.store, session.id)
    assert [e.capture.id[-1] for e in events] == ["0", "1", "2", "3", "4", "5"]
    assert {e.prompt_number for e in events} == {1}
    assert jobs_of(spool) == [("observe", [f"save-{n}" for n in range(1, 5)]), ("summarize", [])]


def test_a_large_event_is_processed_by_itself_if_its_turn_already_was(spool: Ingest) -> None:
    """T7: nothing is processed twice, and the turn gets a new summary."""
    put_turn(spool, large=2)
    large = (spool.context.paths.spool_new / "save-3").rename(
        spool.context.paths.spool_tmp / "save-3"
    )
    assert spool.drain().added == 5
    assert jobs_of(spool) == [("observe", ["save-1", "save-2", "save-4"]), ("summarize", [])]
    following = HEADER.replace(b"save", b"new") + payloads.prompt("s1", "p2", "Go on")
    put(spool, "next", following, at=1_800_000_100)
    spool.drain()
    large.rename(spool.context.paths.spool_new / "save-3")
    assert spool.drain().added == 1
    assert jobs_of(spool) == [("observe", ["save-3"]), ("summarize", [])]
    session = spool.context.store.sessions.find("claude-code", "s1")
    assert session is not None
    numbers = {e.capture.id: e.prompt_number for e in events_of(spool.context.store, session.id)}
    assert (numbers["save-3"], numbers["next"]) == (1, 2)


def test_a_large_prompt_keeps_its_place(spool: Ingest) -> None:
    """T7: prompts number the turns."""
    sent = [
        (b"new", payloads.prompt("s1", "p1", LONG_TEXT)),
        (b"save", payloads.tool("s1", "t1")),
        (b"summary", payloads.stop("s1", "p1")),
    ]
    for seconds, (hook, body) in enumerate(sent):
        put(spool, f"{seconds}", HEADER.replace(b"save", hook) + body, at=1_800_000_000 + seconds)
    assert spool.drain().closed_turns == 1
    session = spool.context.store.sessions.find("claude-code", "s1")
    assert session is not None
    assert [e.prompt_number for e in events_of(spool.context.store, session.id)] == [1, 1, 1]


def test_small_captures_that_arrive_meanwhile_come_before_the_next_large_ones(
    spool: Ingest,
) -> None:
    """T7: large captures hold nobody up for longer than a few of them take."""
    for number in range(10):
        body = payloads.tool("s1", f"large{number}", output=LONG_TEXT)
        put(spool, f"large{number}", HEADER + body, at=1_800_000_000 + number)
    order: list[str] = []

    def stored(arrivals: list[Arrival]) -> None:
        order.extend(a.capture.id for a in arrivals)
        if len(order) == 1:
            put(spool, "small", GOOD)

    spool.on_stored = stored
    assert spool.drain().added == 11
    assert order.index("small") <= LARGE_AT_ONCE


def test_a_large_capture_that_is_read_again_is_not_doubled(spool: Ingest) -> None:
    """T15: as a small one."""
    put_turn(spool, large=1)
    data = (spool.context.paths.spool_new / "save-2").read_bytes()
    spool.drain()
    before = spool.context.store.health()
    put(spool, "save-2", data, at=1_800_000_002)
    again = spool.drain()
    assert (again.added, again.duplicates) == (0, 1)
    assert spool.context.store.health() == before


def test_a_file_of_gigabytes_that_is_no_capture_is_put_aside_without_its_content(
    spool: Ingest,
) -> None:
    """T7: it is not read to its end."""
    for name, start in (("no-header", b""), ("cut-off", GOOD[:-20])):
        with put(spool, name, start).open("r+b") as file:
            file.truncate(3 << 30)
    put(spool, "good", GOOD)
    assert spool.drain().added == 1
    assert waiting(spool) == []
    assert set(quarantined(spool)) == {"no-header", "cut-off"}
    kept = [
        (spool.context.paths.spool_bad / name).read_bytes() for name in ("no-header", "cut-off")
    ]
    assert kept == [b"[left out: 3221225472 bytes]"] * 2


def test_of_a_large_file_that_cannot_be_read_the_beginning_is_kept(spool: Ingest) -> None:
    """T2: nothing if it has private parts."""
    rest = b"words " * 200_000
    put(spool, "bad", b"begins password=hunter2Secret9x " + rest + b"ends")
    put(spool, "private", b"begins " + rest + b"</private> ends")
    spool.drain()
    kept = (spool.context.paths.spool_bad / "bad").read_bytes()
    assert kept.startswith(b"begins password=")
    assert kept.endswith(b" bytes left out]")
    assert b"hunter2" not in kept
    assert (spool.context.paths.spool_bad / "private").read_bytes().startswith(b"[left out: ")


def test_a_shortened_payload_with_private_parts_is_not_kept(spool: Ingest) -> None:
    """T7: whatever it was shortened for."""
    for name, output in (("large", "x" * 3_000_000), ("values", json.dumps([[]] * 30_000))):
        body = payloads.tool("s1", name, output="OUTPUT").replace(
            b'"OUTPUT"', json.dumps(output).encode()
        )
        if name == "values":
            body = body.replace(json.dumps(output).encode(), output.encode())
        put(spool, name, HEADER + body.replace(b"echo", b"<private>echo</private>"))
    assert spool.drain().added == 0
    assert all("private" in why for why in quarantined(spool).values())
    assert len(quarantined(spool)) == 2


def test_files_are_listed_in_pages_and_stored_in_order(
    spool: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T11: the number of files that wait does not matter to memory."""
    monkeypatch.setattr(spool_module, "PAGE", 10)
    names = [f"{number * 7919 % 100:02}" for number in range(100)]
    for seconds, name in enumerate(names):
        put(spool, name, HEADER + payloads.tool("s1", name), at=1_800_000_000 + seconds)
    put(spool, "large", HEADER + payloads.tool("s1", "large", output=LONG_TEXT), at=1_700_000_000)
    order: list[str] = []
    spool.on_stored = lambda arrivals: order.extend(a.capture.id for a in arrivals)
    assert spool.drain().added == 101
    assert order == [*names, "large"]
