"""What happens when the home grows, and when the disk is full: what may go goes, in order, and nothing
else."""

import errno
import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.backups.repository import BackupRepository
from aforesaid.errors import StoreDamaged, StoreError
from aforesaid.model.events import Arrival, Capture, Event, ToolUsed
from aforesaid.paths import Paths
from aforesaid.payload.shorten import MARK
from aforesaid.store.store import Store
from aforesaid.worker import health, rpc
from aforesaid.worker import maintenance as sweeping
from aforesaid.worker.disk import MB, Room
from aforesaid.worker.health import describe_lost_events, lost_events
from aforesaid.worker.ingest import Ingest
from aforesaid.worker.maintenance import Housekeeper
from aforesaid.worker.projects import ProjectFinder
from tests.support import payloads
from tests.support.context import make_context
from tests.support.product import aforesaid, close_stores, fire, settled, until
from tests.support.stored import events_of
from tests.support.tables import loop_over
from tests.support.transcripts import Written

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
Mount = Callable[[str], None]


def room(used: int, *, allowed: int = 100, free: int = 1000, kept: int = 10) -> Room:
    return Room(used * MB, allowed * MB, free * MB, kept * MB)


@loop_over(
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


@pytest.fixture
def keeper(home: Paths) -> Iterator[Housekeeper]:
    with closing(Store(home.database, writer=True)) as store:
        yield Housekeeper(make_context(home, store, clock.now))


def look(keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch, found: Room) -> None:
    """There is as much room as the test says."""
    monkeypatch.setattr(keeper, "_measure", lambda: found)
    keeper.make_room()


def backups_in(home: Paths, number: int) -> list[Path]:
    """Oldest first."""
    day = iter(range(number))
    backups = wiring.backup_repository(
        wiring.home(), lambda: 1_800_000_000_000 + next(day, number) * clock.DAY
    )
    return [backups.make("daily", 99).path for _ in range(number)]


def test_room_is_made_in_the_order_that_is_promised(
    home: Paths, keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = b"x" * MB
    bad = [old(home.spool_bad / f"b{n}", days=9 - n, data=large) for n in range(2)]
    brief = old(home.briefs / "brief", days=1, data=large)
    waiting = old(home.spool_new / "waits", days=99, data=large)
    backups = backups_in(home, 4)
    making = old(home.backups / ".making-1" / "aforesaid.db", days=0)
    asked: list[int] = []

    def age_out(missing: int) -> int:
        asked.append(missing)
        return 7

    def there() -> list[bool]:
        return [path.exists() for path in (*bad, brief, *backups, waiting, making)]

    monkeypatch.setattr(keeper, "free_space", age_out)
    look(keeper, monkeypatch, room(100))
    assert all(there())
    look(keeper, monkeypatch, room(101))
    assert there() == [False, True, True, True, True, True, True, True, True]
    look(keeper, monkeypatch, room(102))
    assert there() == [False, False, False, True, True, True, True, True, True]
    assert asked == []
    look(keeper, monkeypatch, room(105))
    assert there() == [False, False, False, False, False, True, True, True, True]
    assert len(asked) == 1
    assert 0 < asked[0] < 5 * MB


def test_the_newest_good_backup_stays_with_the_two_newest(
    home: Paths, keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups = backups_in(home, 4)
    for backup in backups[2:]:
        (backup / "aforesaid.db").write_bytes(b"nonsense")
    look(keeper, monkeypatch, room(999))
    assert [path.exists() for path in backups] == [False, True, True, True]


def test_where_none_can_go_no_backup_is_read(
    home: Paths, keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    backups_in(home, 2)
    checked: list[object] = []
    monkeypatch.setattr(BackupRepository, "check", lambda _, backup: checked.append(backup))
    look(keeper, monkeypatch, room(999))
    assert checked == []


@pytest.mark.parametrize(
    ("error", "looks"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (StoreError("aforesaid.db cannot be used: database or disk is full."), True),
        (StoreDamaged("aforesaid.db is damaged (disk I/O error)."), True),
        (StoreError("aforesaid.db is locked by another program."), False),
        (PermissionError(errno.EACCES, "Permission denied"), False),
        (ValueError(), False),
    ],
)
def test_after_a_fault_room_is_made_only_if_it_is_about_space(
    keeper: Housekeeper, error: Exception, looks: bool
) -> None:
    keeper.room = room(999)
    keeper.make_room_after(error)
    assert (keeper.room != room(999)) is looks


def test_events_are_not_given_up_because_others_fill_the_disk(
    keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(keeper, "free_space", asked.append)
    look(keeper, monkeypatch, room(1, free=0))
    assert asked == []


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
        old(home.state / ".config.abc.tmp", days=0.05),
    ]
    stays = [
        old(home.spool_tmp / "being-written", days=0),
        old(home.spool_new / "waits", days=400),
        old(home.spool_bad / "newer", days=1, data=b"x" * 10),
        old(home.spool_bad / "newest", days=0, data=b"x" * 10),
        old(home.briefs / "here", days=8, data=bytes(home.state) + b"\0\n{}"),
    ]
    with closing(Store(home.database, writer=True)) as store:
        for number in range(5):
            store.events.quarantine(f"q{number}", "why", 1, clock.now() - number)
        store.events.quarantine("old", "why", 1, clock.now() - 91 * clock.DAY)
        Housekeeper(make_context(home, store, clock.now)).run()
        assert store.health().quarantined == 3
    assert [path.name for path in gone if path.exists()] == []
    assert [path.name for path in stays if not path.exists()] == []


def test_lost_events_count_until_the_last_one_is_old(home: Paths) -> None:
    now = clock.now() // clock.SECOND
    home.capture_failures.write_text(f"save {now - 5} full\n" * 2000 + f"new {now} full\n" * 1000)
    health.mark_reported(home, 2000)
    with closing(Store(home.database, writer=True)) as store:
        Housekeeper(make_context(home, store, clock.now)).run()
        described = describe_lost_events(home, store, unreported_only=True)
        assert "1,000 events could not be recorded on" in str(described)
        assert (len(lost_events(home)), health.count_unreported(home)) == (3000, 1000)
        Housekeeper(make_context(home, store, lambda: clock.now() + 31 * clock.DAY)).run()
    assert not home.capture_failures.exists()


@pytest.mark.parametrize(("thrift", "cut"), [(0, ""), (1, "Grep"), (2, "Grep Bash")])
def test_without_room_the_outputs_of_tools_are_cut_boring_ones_first(
    home: Paths, thrift: int, cut: str
) -> None:
    with closing(Store(home.database, writer=True)) as store:
        context = make_context(home, store, clock.now)
        spool = Ingest(context, thrift=lambda: thrift)
        for name in ("Grep", "Bash"):
            body = payloads.tool("s1", name, name=name, output="x" * 50_000)
            (home.spool_new / name).write_bytes(HEADER + body)
        prompt = payloads.prompt("s1", "p1", "y" * 50_000)
        (home.spool_new / "prompt").write_bytes(HEADER + prompt)
        assert spool.drain().added == 3
        session = store.sessions.find("claude-code", "s1")
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
    monkeypatch.setenv("AFORESAID_LIMITS_HOME_MB", "20")
    (home.data / "heavy").write_bytes(os.urandom(18 * MB))
    rpc.start(home)
    until(lambda: rpc.status(home)["problem"])
    done = fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
    assert "of the 20 MB that it may" in json.loads(done.stdout)["systemMessage"]
    shown = aforesaid("status")
    assert shown.returncode == 4
    assert "limits.home_mb" in shown.stdout
    found = json.loads(aforesaid("doctor", "--quick", "--json").stdout)["findings"]
    (disk,) = [each for each in found if each["what"] == "disk"]
    assert (disk["level"], "heavy 18.0 MB" in disk["detail"]) == ("warning", True)


def test_a_housekeeper_measures_again_what_it_has_made(
    home: Paths, keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    old(home.spool_bad / "bad", days=1, data=b"x" * 8 * MB)
    monkeypatch.setenv("AFORESAID_LIMITS_HOME_MB", "4")
    keeper.context.settings = wiring.home().settings
    assert keeper._measure().thrift == 2
    keeper.make_room()
    assert (keeper.room.thrift, keeper.room.share < 1) == (0, True)


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), StoreError("full")])
def test_a_disk_or_a_store_that_refuses_stops_nobody(
    home: Paths, keeper: Housekeeper, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """T26: it is asked for room when they have just refused something."""
    monkeypatch.setenv("AFORESAID_LIMITS_HOME_MB", "1")
    (home.data / "heavy").write_bytes(os.urandom(2 * MB))
    keeper.context.settings = wiring.home().settings

    def refuse(_: int) -> int:
        raise error

    monkeypatch.setattr(keeper, "free_space", refuse)
    keeper.make_room()
    assert keeper.room.thrift == 2


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Paths, Mount]]:
    """The whole home on a file system of a few megabytes, and how to make it another size."""
    disk = tmp_path / "aforesaid"
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
        rpc.stop(paths)
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged_and_says_what_was_not(
    small_disk: tuple[Paths, Mount], tmp_path: Path
) -> None:
    """T4, T26: hooks end with 0 and say nothing; what they could write waits; `doctor` tells of the gap;
    once there is room, what waited is stored and the gap is healed from the transcript."""
    home, resize = small_disk
    rpc.start(home)
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
    (home.state / "filling").write_bytes(b"x" * (os.statvfs(home.state).f_bavail * 4096 - 700_000))
    for number in range(1, 9):
        capture(number, os.urandom(200_000).hex())
    until(lambda: len(lost_events(home)) > 0 or rpc.status(home)["fault"])
    lost = len(lost_events(home))
    assert lost > 0
    told = aforesaid("doctor", "--quick").stdout
    assert f"{lost} events could not be recorded on" in told or lost == 1
    assert "because the disk was full" in told
    (home.state / "filling").unlink()
    resize("64m")
    until(lambda: not list(home.spool_new.iterdir()), seconds=90)
    until(lambda: rpc.status(home)["fault"] is None, seconds=90)
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
    store.database.check()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("fault", "running"), [("full", True), ("full", False), ("read-only", False)]
)
def test_status_says_that_nothing_can_be_written(
    small_disk: tuple[Paths, Mount], monkeypatch: pytest.MonkeyPatch, fault: str, running: bool
) -> None:
    home, resize = small_disk
    monkeypatch.setenv("AFORESAID_LIMITS_FREE_MB", "0")  # no warning about space comes before
    rpc.start(home)
    if not running:
        rpc.stop(home)
    if fault == "full":
        with suppress(OSError), (home.state / "filling").open("wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
    else:
        resize("12m,ro")
    told = aforesaid("status")
    assert "nothing can be recorded" in told.stdout or "disk is full" in told.stdout, told
    assert "All is well" not in told.stdout
    assert told.returncode == 4
    if fault == "full":
        (home.state / "filling").unlink()
    else:
        resize("12m,rw")


def tools_in(home: Paths) -> set[str]:
    with closing(sqlite3.connect(home.database)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM events WHERE kind = 'tool'")}


def test_events_that_could_not_be_recorded_are_reported_at_one_session_start(
    home: Paths, tmp_path: Path
) -> None:
    """T4: once; `status` and `doctor` show them for longer, and how many a transcript has given back."""
    home.make()
    at = clock.now() - clock.HOUR
    home.capture_failures.write_text(f"save {at // 1000} full\n" * 28)
    day = clock.local(at).strftime("%Y-%m-%d")
    sentence = f"28 events could not be recorded on {day} because the disk was full"

    sessions = (f"s{number}" for number in range(1000))

    def start() -> str:
        told = {"session_id": next(sessions), "source": "startup"}
        return fire("SessionStart", told, project=tmp_path).stdout.decode()

    rpc.start(home)
    until(lambda: sentence in start())  # a hook that got no answer in time was told nothing
    until(lambda: health.count_unreported(home) == 0)
    assert sentence not in start()
    assert sentence in aforesaid("status").stdout
    assert sentence in aforesaid("doctor", "--quick").stdout
    with home.capture_failures.open("a") as file:
        file.write(f"new {clock.now() // 1000} other\n")
    until(lambda: "1 event could not be recorded" in start())


def test_events_that_a_transcript_gave_back_are_distinguished(home: Paths) -> None:
    """T4: what is lost is the rest; nothing is said at session start if that is none."""
    at = clock.now() - clock.HOUR
    home.capture_failures.write_text(f"save {at // 1000} full\n" * 3)
    with closing(Store(home.database, writer=True)) as store:
        project = ProjectFinder(store, clock.now).of("/home/dev/shop")
        told = [
            Arrival(capture, event, project, boring=False, healed=True)
            for number in range(3)
            if isinstance(
                event := ClaudeCode().parse(
                    capture := Capture(
                        f"c{number}",
                        "claude-code",
                        "save",
                        "/home/dev/shop",
                        payloads.tool("s1", f"t{number}"),
                        at + number,
                    )
                ),
                Event,
            )
        ]
        store.events.heal(told[:2], clock.now())
        assert str(describe_lost_events(home, store)).endswith(
            "full; 2 of them restored from transcripts"
        )
        assert describe_lost_events(home, store, unreported_only=True) == describe_lost_events(
            home, store
        )
        store.events.heal(told, clock.now())
        assert str(describe_lost_events(home, store)).endswith(
            "full; 3 of them restored from transcripts"
        )
        assert describe_lost_events(home, store, unreported_only=True) is None
