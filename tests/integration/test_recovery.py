"""A damaged database: noticed, mended from what is left and from backups, and the user told."""

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from aforesaid import clock, wiring
from aforesaid.backups import database_state, recovery_log
from aforesaid.backups.recovery import replacement_path
from aforesaid.backups.recovery_log import FILE, RecoveryRecord
from aforesaid.backups.repository import DAILY, DATABASE, MANIFEST, describe_file
from aforesaid.clock import HOUR, MINUTE
from aforesaid.errors import BackupError, StoreDamaged, WorkerError
from aforesaid.paths import Paths
from aforesaid.store import files
from aforesaid.store.database import newest_version
from aforesaid.store.salvage import create, salvage
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from aforesaid.worker.database import open_database
from tests.support import corruption
from tests.support.arrivals import START, Told, repository
from tests.support.corruption import quiet, rows_of
from tests.support.product import aforesaid, fire, settled, until, work
from tests.support.transcripts import Written

pytestmark = pytest.mark.slow

QUICK = (
    *((0, "50 bits flipped"), (1, "truncated"), (2, "0 bytes"), (3, "64 KB of garbage")),
    *((4, "log lost"), (5, "log truncated"), (6, "-shm lost"), (7, "first page garbled")),
    *((8, "all garbage"), (9, "file lost"), (10, "tables garbled")),
)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("corruption")
    yield corruption.template(folder)
    shutil.rmtree(folder)


@pytest.mark.parametrize(("seed", "damage"), QUICK, ids=[name for _, name in QUICK])
def test_whatever_is_damaged_is_usable_again_and_what_is_lost_is_said(
    killed: Path, seed: int, damage: str
) -> None:
    """T25: a byte flipped, a log cut, a -shm deleted, a file of 0 bytes; all 50 by `make torture`."""
    result = corruption.run(killed, seed, damage, killed.parent / f"case-{seed}")
    assert result.sound
    assert result.usable
    assert result.stated or not result.lost, result
    assert result.is_well


def test_commands_say_what_to_do_about_tables_that_are_no_text(home: Paths) -> None:
    """T25: SQLite quotes them, and Python cannot read the quote."""
    fill(home, "one")
    assert aforesaid("backup").returncode == 0
    rpc.stop(home)
    data = home.database.read_bytes().replace(b"IS NULL", b"IS N\xd5LL")
    home.database.write_bytes(data)
    with pytest.raises(UnicodeDecodeError), closing(sqlite3.connect(home.database)) as plain:
        plain.execute("SELECT count(*) FROM events")
    for command in ("status", "search x", "backup", "doctor --quick"):
        answer = aforesaid(*command.split())
        assert "Traceback" not in answer.stderr, command
        assert "is damaged" in answer.stdout + answer.stderr, command
    assert aforesaid("restore", "--yes").returncode == 0
    assert aforesaid("status").returncode == 0


def test_a_database_that_is_gone_is_no_new_beginning_where_there_is_a_backup(home: Paths) -> None:
    fill(home, "one")
    assert aforesaid("backup").returncode == 0
    for part in home.data.glob("aforesaid.db*"):
        part.unlink()
    told = aforesaid("status")
    assert "is gone or empty, and there is a backup" in told.stdout
    assert told.returncode == 4
    assert "is gone or empty" in aforesaid("doctor", "--quick").stdout


def test_a_look_at_every_page_sees_the_checks_of_tables_and_leaves_the_log(
    home: Paths, tmp_path: Path
) -> None:
    """T25: one letter of a word that only a CHECK knows."""
    fill(home, "one")
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(home.database)) as plain:
        plain.execute("PRAGMA ignore_check_constraints = 1")
        plain.execute("UPDATE jobs SET state = 'dune'")
        plain.commit()
        shutil.copy(home.database, copy)
        shutil.copy(corruption.log_of(home.database), corruption.log_of(copy))
    log = corruption.log_of(copy).read_bytes()
    assert files.check_pages(copy, 60) == ("CHECK constraint failed in jobs", True)
    assert corruption.log_of(copy).read_bytes() == log != b""


def fill(paths: Paths, *sessions: str) -> None:
    with closing(Store(paths.database, writer=True)) as store:
        project = store.projects.resolve(repository("shop"), "/home/dev/shop", START)
        for session in sessions:
            told = Told(project, session=session)
            tools = (told.tool(f"{session}-{n}") for n in range(40))
            store.events.add([told.prompt(f"Begin {session}"), *tools], START)


def back_up(paths: Paths) -> None:
    wiring.backup_repository(wiring.home(), clock.now).make(DAILY, 3)


def garble(paths: Paths) -> None:
    paths.database.write_bytes(b"garbage " * 4096)


def sessions(paths: Paths) -> set[str]:
    with closing(Store(paths.database, writer=False)) as store:
        return {each.ref for each in store.sessions.recent(None, 100)}


def test_the_user_is_informed_at_the_session_s_start_until_somebody_has_looked(
    home: Paths, tmp_path: Path
) -> None:
    """T25: what happened, what is missing, and where the damaged file is."""
    fill(home, "kept")
    back_up(home)
    fill(home, "since")
    garble(home)
    start = {"source": "startup"}
    rpc.start(home)
    for number in range(2):
        begun = start | {"session_id": f"next-{number}"}
        told = json.loads(fire("SessionStart", begun, project=tmp_path).stdout)["systemMessage"]
        assert "was damaged (file is not a database)" in told
        assert "is lost, unless" in told
        assert str(home.damaged) in told
    shown = aforesaid("status")
    assert shown.returncode == 4
    assert "was damaged" in shown.stdout
    assert "was damaged" not in aforesaid("status").stdout
    answer = fire("SessionStart", start | {"session_id": "later"}, project=tmp_path).stdout
    assert "was damaged" not in answer.decode()
    doctor = json.loads(aforesaid("doctor", "--quick", "--json").stdout)["findings"]
    assert [each["level"] for each in doctor if each["what"] == "recovery"] == ["ok"]
    assert {"kept"} <= sessions(home)
    (folder,) = home.damaged.iterdir()
    assert (folder / "aforesaid.db").read_bytes().startswith(b"garbage")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_index_is_made_again_after_a_recovery_and_rebuild_works(
    home: Paths, tmp_path: Path
) -> None:
    work(tmp_path, "one", prompt="Add a zebra to the zoo")
    settled(home).close()
    back_up(home)
    rpc.stop(home)
    garble(home)
    rpc.start(home)
    quiet(home)
    found = aforesaid("search", "zebra", "--all", "--json")
    assert "zebra" in found.stdout
    rebuilt = json.loads(aforesaid("rebuild", "--json").stdout)
    assert rebuilt["waiting"] == 0
    assert rebuilt["documents"] == rebuilt["vectors"] > 0
    assert "zebra" in aforesaid("search", "zebra", "--all", "--json").stdout


def transcript(user: Path, session: str, folder: Path) -> None:
    """Of a session of an hour ago that ended a minute ago, as the client writes it."""
    written = Written(session)
    written.prompt("Please add a giraffe")
    written.call("toolu_1", "Bash", command="ls")
    written.result("toolu_1", "zoo.py", {"stdout": "zoo.py", "stderr": "", "interrupted": False})
    written.says("There is a giraffe now.")
    written.add("system", subtype="turn_duration")
    begin = clock.now() - HOUR
    for number, line in enumerate(written.lines):
        at = datetime.fromtimestamp(begin / 1_000 + number, UTC)
        line |= {"timestamp": at.isoformat(timespec="milliseconds"), "cwd": str(folder)}
    path = written.write(user / ".claude" / "projects" / "p")
    os.utime(path, ((clock.now() - MINUTE) / 1_000,) * 2)


@pytest.mark.quick
@pytest.mark.parametrize("backup", [True, False], ids=["with a backup", "without a backup"])
def test_transcripts_are_read_again_over_what_was_restored(
    home: Paths, tmp_path: Path, backup: bool
) -> None:
    """T25: sessions since the backup come back, also of projects that it does not know."""
    known = tmp_path / "known"
    known.mkdir()
    work(known, "before")
    settled(home).close()
    os.utime(
        home.lock_file, (clock.now() / 1000 - 3600,) * 2
    )  # aforesaid has been here for an hour
    if backup:
        back_up(home)
        (made,) = home.backups.glob("[0-9]*/manifest.json")
        text = json.loads(made.read_text())
        made.write_text(json.dumps(text | {"made_at": text["made_at"] - 10 * MINUTE}))
    rpc.stop(home)
    told = {"known": str(uuid4()), "zoo": str(uuid4())}
    for name, session in told.items():
        (tmp_path / name).mkdir(exist_ok=True)
        transcript(tmp_path / "user", session, tmp_path / name)
    garble(home)
    rpc.start(home)
    until(lambda: set(told.values()) <= sessions(home))
    quiet(home)
    assert ("before" in sessions(home)) is backup
    prompts = rows_of(home.database)["prompts"]
    assert {f"{session}1" for session in told.values()} <= set(prompts)
    assert recovery_log.replay_since(home) is None


@pytest.mark.parametrize("backup", ["none", "before", "after"])
def test_what_was_paused_or_erased_does_not_come_back_from_transcripts_by_accident(
    home: Paths, tmp_path: Path, backup: str
) -> None:
    """T63: the database that knew of it is lost; only a backup that knows it too lets them be read."""
    fill(home, "kept")
    home.lock_file.touch()
    os.utime(home.lock_file, ((clock.now() - 2 * HOUR) / 1_000,) * 2)
    if backup == "before":
        back_up(home)
    database_state.record_exclusion(home)
    if backup == "after":
        back_up(home)
    garble(home)
    open_database(wiring.home(), clock.now).close()
    (account,) = recovery_log.load_all(home)
    assert account.held_back is (backup != "after")
    assert (recovery_log.replay_since(home) is None) is (backup != "after")
    assert ("not read by themselves" in (recovery_log.unseen_message(home) or "")) is (
        backup != "after"
    )


@pytest.mark.quick
def test_what_waits_in_the_spool_is_stored_over_what_was_restored(
    home: Paths, tmp_path: Path
) -> None:
    fill(home, "kept")
    back_up(home)
    garble(home)
    home.starting_file.write_bytes(b"")  # no hook starts a worker
    work(tmp_path, "spooled")
    rpc.start(home)
    quiet(home)
    assert {"kept", "spooled"} <= sessions(home)


@pytest.mark.quick
def test_rows_that_can_be_read_are_kept_and_the_backup_fills_the_gaps(home: Paths) -> None:
    """T25: what was stored, changed and deleted since the backup is as it was; nothing forgotten returns."""
    fill(home, "one", "two")
    back_up(home)
    fill(home, "three")
    with closing(Store(home.database, writer=True)) as store:
        gone = store.sessions.find("claude-code", "one")
        assert gone is not None
        store.sessions.drop(gone.id, gone.project_id)
    with closing(sqlite3.connect(home.database)) as connection:
        root = "SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_content'"
        page = connection.execute(root).fetchone()[0]
    before = rows_of(home.database)
    with home.database.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    open_database(wiring.home(), clock.now).close()
    assert sessions(home) == {"two", "three"}
    assert rows_of(home.database) == before
    told = recovery_log.unseen_message(home)
    assert told is not None
    assert told.count("Nothing was lost.") == 1


def test_a_backup_of_an_older_version_fills_gaps_from_a_copy_on_the_disk(
    home: Paths, tmp_path: Path, later_schema: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be larger than memory."""
    backup, target = tmp_path / "backup.db", tmp_path / "target.db"
    with closing(create(backup, newest_version() - 1)) as connection:
        connection.execute("INSERT INTO projects VALUES (1, 'shop', '/shop', 1)")
    with closing(create(home.database, newest_version())) as connection:
        connection.execute("INSERT INTO projects VALUES (1, x'00', '/shop', 1)")
        connection.execute("INSERT INTO projects VALUES (2, 'zoo', '/zoo', 1)")
    opened_files: list[object] = []
    connect: Any = sqlite3.connect

    def noted(place: object, **options: Any) -> Any:
        opened_files.append(place)
        return connect(place, **options)

    monkeypatch.setattr(sqlite3, "connect", noted)
    found = salvage(home.database, backup, target)
    assert found is not None
    assert found.filled["projects"] == 1
    assert ":memory:" not in opened_files
    assert {path.name for path in tmp_path.glob("*.db*")} == {"backup.db", "target.db"}


def test_damage_that_shows_at_work_is_repaired_by_a_new_worker(home: Paths, tmp_path: Path) -> None:
    """T25: an event whose bytes are not what was packed passes every check of pages."""
    work(tmp_path, "one")
    settled(home).close()
    back_up(home)
    pid = rpc.running_pid(home)
    with closing(sqlite3.connect(home.database, timeout=30)) as connection:
        connection.execute("UPDATE events SET body = x'00112233' WHERE id = 2")
        connection.commit()
    assert files.check_pages(home.database, 10) == (None, True)
    with closing(Store(home.database, writer=False)) as store, pytest.raises(StoreDamaged):
        store.events.body(2)
    rpc.ask(home, b"rebuild {}")
    until(lambda: recovery_log.load_all(home) and recovery_log.load_all(home)[0].done)
    quiet(home)
    assert rpc.running_pid(home) == pid  # the same process, begun again
    assert files.check_rows(home.database) is None
    (account,) = recovery_log.load_all(home)
    assert "1 event came from the backup of" in account.message
    assert "The last events may be missing." in account.message
    assert "Nothing was lost" not in account.message


def test_a_suspicion_that_is_none_costs_one_new_start_and_no_more(
    home: Paths, tmp_path: Path
) -> None:
    work(tmp_path, "one")
    settled(home).close()
    rpc.stop(home)
    known = database_state.load(home)
    assert known is not None
    database_state.save(home, database_state.DatabaseState(suspected="somebody stumbled"))
    open_database(wiring.home(), clock.now).close()
    assert recovery_log.load_all(home) == []
    cleared = database_state.load(home)
    assert cleared is not None
    assert cleared.suspected is None
    assert cleared.cleared_at > 0


def test_a_lost_log_keeps_no_newer_version_from_starting(home: Paths, later_schema: None) -> None:
    """T25: events are counted before the tables are brought up to date."""
    with closing(create(home.database, newest_version() - 1)) as connection:
        connection.execute("INSERT INTO projects VALUES (1, 'shop', '/shop', 1)")
    database_state.save(home, database_state.DatabaseState(events=7))
    open_database(wiring.home(), clock.now).close()
    (account,) = recovery_log.load_all(home)
    assert account.what == recovery_log.LOG
    assert "At least 7 events may be missing" in account.message


def test_damage_that_comes_back_at_once_ends_in_a_clear_error(home: Paths, tmp_path: Path) -> None:
    fill(home, "kept")
    back_up(home)
    garble(home)
    rpc.start(home)
    rpc.stop(home)
    garble(home)
    with pytest.raises(WorkerError, match="damaged again"):
        rpc.start(home)
    start = {"session_id": "next", "source": "startup"}
    told = json.loads(fire("SessionStart", start, project=tmp_path).stdout)["systemMessage"]
    assert "Its disk may be failing" in told
    assert len(list(home.damaged.iterdir())) == 1
    assert aforesaid("restore", "--yes").returncode == 0
    assert "kept" in sessions(home)


@pytest.mark.quick
@pytest.mark.parametrize("moved", [0, 1, 4], ids=["nothing moved", "in part", "all moved"])
def test_a_recovery_that_was_killed_is_finished_at_the_next_start(home: Paths, moved: int) -> None:
    fill(home, "kept")
    back_up(home)
    garble(home)
    for end in ("-wal", "-shm", "-journal"):
        Path(f"{home.database}{end}").write_bytes(b"left")
    begun = recovery_log.begin(home, RecoveryRecord(clock.now(), FILE, "killed"))
    folder = home.damaged / begun.folder
    parts = [*reversed(files.parts(home.database))]
    for part in parts[:moved]:
        part.rename(folder / part.name)
    replacement_path(home.database).write_bytes(b"half of one")
    open_database(wiring.home(), clock.now).close()
    assert sessions(home) == {"kept"}
    assert {path.name for path in folder.iterdir()} >= {part.name for part in parts}
    (account,) = recovery_log.load_all(home)
    assert account.done
    assert not replacement_path(home.database).exists()


def test_a_backup_that_is_damaged_too_is_passed_over(home: Paths) -> None:
    fill(home, "oldest")
    back_up(home)
    fill(home, "newer")
    back_up(home)
    bad = wiring.backup_repository(wiring.home(), clock.now).all()[0]
    bad.database.write_bytes(bad.database.read_bytes()[:5000])
    garble(home)
    open_database(wiring.home(), clock.now).close()
    assert sessions(home) == {"oldest"}
    assert bad.path.exists()


def test_a_backup_of_a_newer_version_is_passed_over_and_named(home: Paths) -> None:
    """T25: after a downgrade; the fault is the backup's, not the database's."""
    fill(home, "older")
    back_up(home)
    fill(home, "newer")
    back_up(home)
    backups = wiring.backup_repository(wiring.home(), clock.now)
    newer = backups.all()[0]
    with closing(sqlite3.connect(newer.database)) as connection:
        connection.execute(f"PRAGMA user_version = {newest_version() + 1}")
    said = json.loads((newer.path / MANIFEST).read_text())
    said["schema"] = newest_version() + 1
    said["files"][DATABASE] = asdict(describe_file(newer.database))
    (newer.path / MANIFEST).write_text(json.dumps(said))
    with pytest.raises(BackupError, match=rf"{newer.name}.*newer aforesaid"):
        backups.check(backups.all()[0])
    garble(home)
    open_database(wiring.home(), clock.now).close()
    assert sessions(home) == {"older"}


def test_a_database_that_was_closed_well_is_not_checked(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    for name in ("check_pages", "check_rows"):
        real = getattr(files, name)

        def look(*given: object, name: str = name, real: object = real) -> object:
            looks.append(name)
            assert callable(real)
            return real(*given)

        monkeypatch.setattr(files, name, look)
    work(tmp_path, "one")
    settled(home).close()
    rpc.stop(home)
    open_database(wiring.home(), clock.now).close()  # and is not noted as closed
    open_database(wiring.home(), clock.now).close()
    assert looks == ["check_pages"]


def test_a_check_that_takes_too_long_is_cut_short(home: Paths) -> None:
    fill(home, *(f"session-{n}" for n in range(30)))
    assert files.check_pages(home.database, 0.0) in ((None, False), (None, True))
    assert files.check_pages(home.database, 60.0) == (None, True)


def test_commits_that_are_gone_with_the_log_are_noticed_and_counted(
    home: Paths, tmp_path: Path
) -> None:
    """T25: SQLite takes what is left of a log without a word."""
    work(tmp_path, "one")
    quiet(home)
    pid = rpc.running_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)
    with closing(sqlite3.connect(f"{home.database.as_uri()}?immutable=1", uri=True)) as connection:
        there = connection.execute("SELECT name FROM sqlite_schema").fetchall()
    corruption.log_of(home.database).unlink()
    open_database(wiring.home(), clock.now).close()
    (account,) = recovery_log.load_all(home)
    if there:
        assert account.what == recovery_log.LOG
        assert "At least 5 events may be missing" in account.message
    else:  # all of it was in the log
        assert account.what == FILE
    assert recovery_log.unseen_message(home)
