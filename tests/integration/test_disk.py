"""What happens when the home grows, and when the disk is full: what may go goes, in order, and nothing
else."""

import errno
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect import clock, wiring
from recollect.agents.claude_code import ClaudeCode
from recollect.backups.shelf import Shelf
from recollect.errors import StoreDamaged, StoreError
from recollect.model.events import ToolUsed
from recollect.paths import Paths
from recollect.payload.cutting import MARK
from recollect.store.sqlite.store import SqliteStore
from recollect.worker import chores, contact, sweeping
from recollect.worker.disk import MB, Room, measure
from recollect.worker.health import capture_failures
from recollect.worker.ingest import Ingest
from recollect.worker.making_room import Housekeeper
from recollect.worker.projects import ProjectFinder
from tests.support import payloads
from tests.support.product import close_stores, fire, recollect, settled, until
from tests.support.stored import events_of
from tests.support.transcripts import Written

HEADER = b"recollect/1 claude-code save /home/dev/shop\0\n"
Mount = Callable[[str], None]


def room(used: int, *, allowed: int = 100, free: int = 1000, kept: int = 10) -> Room:
    return Room(used * MB, allowed * MB, free * MB, kept * MB)


@pytest.mark.parametrize(
    ("found", "thrift", "said"),
    [
        (room(79), 0, None),
        (room(80), 0, "takes 80 MB of the 100 MB"),
        (room(100), 1, "cut short"),
        (room(110), 2, "cut short"),
        (room(1, free=9), 2, "the disk has 9 MB left"),
        (room(9_999, allowed=0), 0, None),
        (room(1, free=0, kept=0), 0, None),
    ],
)
def test_what_is_said_and_done_depends_on_how_much_is_taken(
    found: Room, thrift: int, said: str | None
) -> None:
    assert found.thrift == thrift
    assert (found.warning is None) if said is None else (said in str(found.warning))


def old(path: Path, *, days: float, data: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    at = time.time() - days * 86_400
    os.utime(path, (at, at))
    return path


def keeper_of(home: Paths, found: Room) -> Housekeeper:
    """One for whom there is as much room as the test says."""
    keeper = Housekeeper(home, wiring.home().settings, wiring.shelf(wiring.home(), clock.now))
    keeper.room = found
    return keeper


def backups_in(home: Paths, number: int) -> list[Path]:
    """Oldest first."""
    day = iter(range(number))
    shelf = wiring.shelf(wiring.home(), lambda: 1_800_000_000_000 + next(day, number) * clock.DAY)
    SqliteStore(home.database, writer=True).close()
    return [shelf.make("daily", 99).path for _ in range(number)]


def test_room_is_made_in_the_order_that_is_promised(home: Paths) -> None:
    large = b"x" * MB
    bad = [old(home.spool_bad / f"b{n}", days=9 - n, data=large) for n in range(2)]
    brief = old(home.briefs / "brief", days=1, data=large)
    waiting = old(home.spool_new / "waits", days=99, data=large)
    backups = backups_in(home, 4)
    making = old(home.backups / ".making-1" / "recollect.db", days=0)
    asked: list[int] = []

    def age_out(missing: int) -> int:
        asked.append(missing)
        return 7

    def there() -> list[bool]:
        return [path.exists() for path in (*bad, brief, *backups, waiting, making)]

    assert keeper_of(home, room(100))._make_room() == 0
    keeper_of(home, room(101))._make_room()
    assert there() == [False, True, True, True, True, True, True, True, True]
    keeper_of(home, room(102))._make_room()
    assert there() == [False, False, False, True, True, True, True, True, True]
    keeper = keeper_of(home, room(105))
    keeper.age_out = age_out
    keeper._make_room()
    assert there() == [False, False, False, False, False, True, True, True, True]
    assert len(asked) == 1
    assert 0 < asked[0] < 5 * MB


def test_a_backup_that_is_damaged_does_not_count_as_one_that_is_kept(home: Paths) -> None:
    backups = backups_in(home, 4)
    (backups[3] / "recollect.db").write_bytes(b"nonsense")
    keeper_of(home, room(999))._make_room()
    assert [path.exists() for path in backups] == [False, True, True, True]


def test_where_none_can_go_no_backup_is_read(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    backups_in(home, 2)
    checked: list[object] = []
    monkeypatch.setattr(Shelf, "check", lambda _, backup: checked.append(backup))
    keeper_of(home, room(999))._make_room()
    assert checked == []


@pytest.mark.parametrize(
    ("error", "looks"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (StoreError("recollect.db cannot be used: database or disk is full."), True),
        (StoreDamaged("recollect.db is damaged (disk I/O error)."), True),
        (StoreError("recollect.db is locked by another program."), False),
        (PermissionError(errno.EACCES, "Permission denied"), False),
        (ValueError(), False),
    ],
)
def test_after_a_fault_room_is_made_only_if_it_is_about_space(
    home: Paths, error: Exception, looks: bool
) -> None:
    keeper = keeper_of(home, room(999))
    keeper.look_after(error)
    assert (keeper.room != room(999)) is looks


def test_events_are_not_given_up_because_others_fill_the_disk(home: Paths) -> None:
    keeper = keeper_of(home, room(1, free=0))
    keeper.age_out = lambda missing: missing  # would give all that it is asked for
    assert keeper._make_room() == 0


def test_files_that_only_grow_are_bounded(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """T1: what a killed writer left in `tmp` goes after an hour; what could not be read after 30 days, or
    when it is too much."""
    monkeypatch.setattr(sweeping, "BAD_BYTES", 25)
    monkeypatch.setattr(sweeping, "MOST_REASONS", 3)
    gone = [
        old(home.spool_tmp / "orphan", days=0.05),
        old(home.run / "claims" / "claim", days=0.05),
        old(home.spool_bad / "ancient", days=31),
        old(home.spool_bad / "too-much", days=3, data=b"x" * 10),
        old(home.briefs / "nobody", days=91),
        old(home.briefs / "gone", days=8, data=b"/no/such/directory\0\n{}"),
        old(home.state / ".config.abc.tmp", days=0.05),
    ]
    stays = [
        old(home.spool_tmp / "being-written", days=0),
        old(home.spool_new / "waits", days=400),
        old(home.spool_bad / "newer", days=1, data=b"x" * 10),
        old(home.spool_bad / "newest", days=0, data=b"x" * 10),
        old(home.briefs / "here", days=8, data=bytes(home.state) + b"\0\n{}"),
    ]
    with closing(SqliteStore(home.database, writer=True)) as store:
        for number in range(5):
            store.add_quarantine(f"q{number}", "why", 1, clock.now() - number)
        store.add_quarantine("old", "why", 1, clock.now() - 91 * clock.DAY)
        chores.run(home, store, clock.now)
        assert store.health().quarantined == 3
    assert [path.name for path in gone if path.exists()] == []
    assert [path.name for path in stays if not path.exists()] == []


def test_the_list_of_failures_is_folded_and_still_counts(home: Paths) -> None:
    home.capture_failures.write_bytes(b"save\n" * 3000)
    with closing(SqliteStore(home.database, writer=True)) as store:
        chores.run(home, store, clock.now)
        assert home.capture_failures.read_bytes() == b"+3000\n"
        with home.capture_failures.open("ab") as file:
            file.write(b"new\nsave\n")
        chores.run(home, store, clock.now)
    assert capture_failures(home) == 3002


@pytest.mark.parametrize(("thrift", "cut"), [(0, ""), (1, "Grep"), (2, "Grep Bash")])
def test_without_room_the_outputs_of_tools_are_cut_boring_ones_first(
    home: Paths, thrift: int, cut: str
) -> None:
    with closing(SqliteStore(home.database, writer=True)) as store:
        agents, finder = {"claude-code": ClaudeCode()}, ProjectFinder(store, clock.now)
        spool = Ingest(home, store, agents, finder, ("Grep",), clock.now, thrift=lambda: thrift)
        for name in ("Grep", "Bash"):
            body = payloads.tool("s1", name, name=name, output="x" * 50_000)
            (home.spool_new / name).write_bytes(HEADER + body)
        prompt = payloads.prompt("s1", "p1", "y" * 50_000)
        (home.spool_new / "prompt").write_bytes(HEADER + prompt)
        assert spool.drain().added == 3
        session = store.session_by_ref("claude-code", "s1")
        assert session is not None
        stored = {each.capture.id: each.capture for each in events_of(store, session.id)}
    assert stored["prompt"].body == prompt
    assert [name for name in ("Grep", "Bash") if MARK.encode() in stored[name].body] == cut.split()
    for name in ("Grep", "Bash"):
        event = ClaudeCode().parse(stored[name])
        assert event is not None
        assert isinstance(getattr(event, "what", None), ToolUsed)
        assert getattr(event, "key", "") == f"tool:{name}"


def test_a_home_that_is_nearly_full_is_told_at_the_next_session(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_LIMITS_HOME_MB", "20")
    (home.data / "heavy").write_bytes(os.urandom(18 * MB))
    contact.start(home)
    until(lambda: contact.status(home)["problem"])
    done = fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
    assert "of the 20 MB that it may" in json.loads(done.stdout)["systemMessage"]
    shown = recollect("status")
    assert shown.returncode == 4
    assert "limits.home_mb" in shown.stdout
    found = json.loads(recollect("doctor", "--quick", "--json").stdout)["findings"]
    (disk,) = [each for each in found if each["what"] == "disk"]
    assert (disk["level"], "heavy 18 MB" in disk["detail"]) == ("warning", True)


def test_a_housekeeper_measures_again_what_it_has_made(home: Paths) -> None:
    old(home.spool_bad / "bad", days=1, data=b"x" * 4 * MB)
    settings = wiring.home(
        {"RECOLLECT_LIMITS_HOME_MB": "1", "RECOLLECT_HOME": str(home.state)}
    ).settings
    keeper = Housekeeper(home, settings, wiring.shelf(wiring.home(), clock.now))
    assert keeper.thrift() == 2
    keeper.look()
    assert (keeper.thrift(), measure(home, settings).share < 1) == (0, True)


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), StoreError("full")])
def test_a_disk_or_a_store_that_refuses_stops_nobody(home: Paths, error: Exception) -> None:
    """T26: it is asked for room when they have just refused something."""
    keeper = keeper_of(home, room(1))
    keeper.settings = wiring.home(os.environ | {"RECOLLECT_LIMITS_HOME_MB": "1"}).settings
    (home.data / "heavy").write_bytes(os.urandom(2 * MB))

    def refuse(_: int) -> int:
        raise error

    keeper.age_out = refuse
    keeper.look()
    assert keeper.thrift() == 2


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Paths, Mount]]:
    """The whole home on a file system of a few megabytes, and how to make it another size."""
    disk = tmp_path / "recollect"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=12m,mode=700", "none", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root: a file system of its own is mounted")

    def resize(size: str) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)

    paths = Paths.of(os.environ)
    paths.make()
    try:
        yield paths, resize
    finally:
        close_stores()
        contact.stop(paths)
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged_and_says_what_was_not(
    small_disk: tuple[Paths, Mount], tmp_path: Path
) -> None:
    """T4, T26: hooks end with 0 and say nothing; what they could write waits; `doctor` tells of the gap;
    once there is room, what waited is stored and the gap is healed from the transcript."""
    home, resize = small_disk
    contact.start(home)
    project = tmp_path / "shop"
    project.mkdir()
    (tmp_path / "user/.claude/projects/-shop").mkdir(parents=True)
    transcript = tmp_path / "user/.claude/projects/-shop/s1.jsonl"
    common = {"session_id": "s1", "transcript_path": str(transcript)}
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}}

    def capture(number: int, output: str) -> None:
        told = {"tool_use_id": f"t{number}", "tool_response": {"stdout": output, "stderr": ""}}
        done = fire("PostToolUse", common | tool | told, project=project)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    capture(0, "small")
    assert settled(home).health().events == 1
    close_stores()
    (home.state / "filling").write_bytes(
        b"x" * (os.statvfs(home.state).f_bavail * 4096 - 1_500_000)
    )
    for number in range(1, 9):
        capture(number, os.urandom(200_000).hex())
    until(lambda: capture_failures(home) > 0 or contact.status(home)["fault"])
    lost = capture_failures(home)
    assert lost > 0
    assert "could not be written" in recollect("doctor", "--quick").stdout
    (home.state / "filling").unlink()
    resize("64m")
    until(lambda: not list(home.spool_new.iterdir()), seconds=90)
    until(lambda: contact.status(home)["fault"] is None, seconds=90)
    assert settled(home).health().events == 9 - lost
    written = Written(session="s1")
    written.prompt("List everything")
    for number in range(9):
        written.call(f"t{number}", command="ls")
        written.result(f"t{number}", "listed")
    written.write(transcript.parent)
    fire("Stop", common | {"last_assistant_message": "Done."}, project=project)
    until(lambda: tools_in(home) == {f"tool:t{number}" for number in range(9)})
    store = settled(home)
    assert store.health().quarantined == 0
    store.check()


def tools_in(home: Paths) -> set[str]:
    with closing(sqlite3.connect(home.database)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM events WHERE kind = 'tool'")}
