"""Backups: made while work goes on, checked, rotated, private; and brought back."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.backups import archive
from aforesaid.backups.repository import (
    BY_HAND,
    DAILY,
    DATABASE,
    MEMORIES,
    MIGRATION,
    BackupRepository,
)
from aforesaid.clock import DAY, HOUR
from aforesaid.errors import BackupError
from aforesaid.paths import Paths
from aforesaid.settings import Settings
from aforesaid.store import files
from aforesaid.store.database import newest_version
from aforesaid.store.salvage import create, kept_tables
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from aforesaid.worker.context import Context
from aforesaid.worker.database import BackupThread, open_database
from tests.support.arrivals import START, Told, repository
from tests.support.product import aforesaid, settled, until, work

ROOT = Path(__file__).parents[2]
WRITER = """
import itertools, pathlib, sys
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository
store = Store(pathlib.Path(sys.argv[1]), writer=True)
project = store.projects.resolve(repository("shop"), "/home/dev/shop", START)
for number in itertools.count():
    told = Told(project, session=f"session-{number}")
    events = [told.prompt("p", id="p"), *(told.tool(f"{number}-{n}") for n in range(8)), told.stop()]
    store.events.add(events, START)
    print(number, flush=True)
"""
KILLED = """
import os, pathlib, signal, sys
from aforesaid import clock, wiring
from aforesaid.backups.repository import DAILY
def kill(done, total):
    if done:
        os.kill(os.getpid(), signal.SIGKILL)
wiring.backup_repository(wiring.home(), clock.now).make(DAILY, 3, kill)
"""


@pytest.fixture
def backups(home: Paths) -> BackupRepository:
    return wiring.backup_repository(wiring.home(), clock.now)


def fill(home: Paths, sessions: int = 3) -> None:
    with closing(Store(home.database, writer=True)) as store:
        project = store.projects.resolve(repository("shop"), "/home/dev/shop", START)
        for number in range(sessions):
            told = Told(project, session=f"session-{number}")
            store.events.add(
                [told.prompt("Mend it"), *(told.tool(f"{number}-{n}") for n in range(20))], START
            )


def remember(home: Paths, name: str, text: str) -> Path:
    file = home.memory / "user" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: {text}\ntype: user\n---\n\n{text}\n")
    return file


def been_here(home: Paths) -> None:
    """For two hours."""
    home.lock_file.touch()
    os.utime(home.lock_file, (clock.now() / 1000 - 7200,) * 2)


def everything(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that is kept."""
    with closing(sqlite3.connect(database)) as connection:
        return {
            table.name: connection.execute(f'SELECT {table.listed} FROM "{table.name}"').fetchall()
            for table in kept_tables(connection)
        }


def test_a_backup_made_while_a_process_writes_is_whole(
    home: Paths, backups: BackupRepository
) -> None:
    """T31: the copy is one moment of the database; every row of it is there, and every session whole."""
    command = [sys.executable, "-c", WRITER, str(home.database)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        try:
            while int(writer.stdout.readline()) < 20:
                pass
            made = [backups.make(BY_HAND, 3) for _ in range(3)]
        finally:
            writer.kill()
    counts = [one.manifest.rows["events"] for one in made]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1], "nobody wrote meanwhile"
    for one in made:
        assert backups.check(one).rows == one.manifest.rows
        assert one.manifest.rows["events"] == 10 * one.manifest.rows["sessions"]
        with closing(sqlite3.connect(one.database)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_restored_backup_has_every_row(home: Paths, backups: BackupRepository) -> None:
    """T31: through the command, with the worker's own rows, ids and numbers."""
    project = home.data / "shop"
    project.mkdir()
    work(project, "one")
    settled(home).close()
    assert aforesaid("backup").returncode == 0
    rpc.stop(home)
    before = everything(home.database)
    work(project, "two")
    settled(home).close()
    assert aforesaid("restore", "--yes").returncode == 0
    rpc.stop(home)
    after = everything(home.database)
    untouched = set(before) - {"jobs", "transcript_marks", "injections"}
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    with closing(Store(home.database, writer=False)) as store:
        store.database.check()


def test_a_copy_keeps_given_ids_and_leaves_no_file_beside_it(
    home: Paths, backups: BackupRepository
) -> None:
    fill(home)
    with (
        closing(Store(home.database, writer=True)) as store,
        store.database.transaction() as connection,
    ):
        connection.execute("INSERT INTO sqlite_sequence VALUES ('observations', 41)")
    made = backups.make(BY_HAND, 3)
    with closing(sqlite3.connect(made.database)) as connection:
        number = "SELECT seq FROM sqlite_sequence WHERE name = 'observations'"
        assert connection.execute(number).fetchone() == (41,)
    assert everything(made.database) == everything(home.database)


def test_every_file_of_a_backup_is_for_its_owner_alone(
    home: Paths, backups: BackupRepository
) -> None:
    """T45: the backups' part."""
    fill(home)
    before = os.umask(0)
    try:
        made = backups.make(BY_HAND, 3)
    finally:
        os.umask(before)
    assert home.backups.stat().st_mode & 0o777 == 0o700
    assert made.path.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in made.path.iterdir()}
    assert modes == dict.fromkeys((DATABASE, MEMORIES, "manifest.json"), 0o600)


def test_a_backup_that_was_killed_counts_for_nothing_and_is_swept(
    home: Paths, backups: BackupRepository
) -> None:
    fill(home)
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert backups.all() == []
    assert [path for path in home.backups.iterdir() if path.name.startswith(".making")]
    made = backups.make(BY_HAND, 3)
    assert {path.name for path in home.backups.iterdir()} == {".lock", made.name}


def test_without_room_there_is_no_backup_and_the_error_says_so(
    home: Paths, backups: BackupRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    usage = shutil.disk_usage(home.data)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5 << 20))
    with pytest.raises(BackupError, match="no room for a backup"):
        backups.make(BY_HAND, 3)
    assert backups.all() == []


@pytest.mark.parametrize("part", [DATABASE, MEMORIES, "manifest.json"])
def test_a_backup_that_has_changed_is_found_out(
    home: Paths, backups: BackupRepository, part: str
) -> None:
    fill(home)
    remember(home, "tabs", "Prefers tabs.")
    good, bad = backups.make(BY_HAND, 3), backups.make(DAILY, 3)
    file = bad.path / part
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    checked = aforesaid("backup", "check", "--json")
    if part == "manifest.json" and bad.name not in checked.stdout:
        assert [each.name for each in backups.all()] == [good.name]
        return
    assert checked.returncode == 4
    faults = {each["name"]: each["fault"] for each in json.loads(checked.stdout)}
    assert faults[good.name] is None
    assert faults[bad.name]
    found = backups.newest_good()
    assert found is not None
    assert found.name == good.name
    refused = aforesaid("restore", bad.name, "--yes")
    assert refused.returncode == 1
    assert bad.name in refused.stderr


def test_the_memories_come_back_with_their_history(home: Paths) -> None:
    fill(home)
    assert aforesaid("remember", "Prefers tabs over spaces").returncode == 0
    before = {path: path.read_bytes() for path in home.memory.rglob("*") if path.is_file()}
    assert "files of memories and their history" in aforesaid("backup").stdout
    assert aforesaid("remember", "Runs the tests with make").returncode == 0
    assert aforesaid("restore", "--yes", "--without-memories").returncode == 0
    assert "make" in aforesaid("memory", "list").stdout
    names = [each["name"] for each in json.loads(aforesaid("backup", "list", "--json").stdout)]
    by_hand = next(name for name in names if BY_HAND in name)
    assert aforesaid("restore", by_hand, "--yes").returncode == 0
    after = {path: path.read_bytes() for path in home.memory.rglob("*") if path.is_file()}
    locks = {home.memory / name for name in archive.LOCKS}
    assert {p for p in before if p not in locks} == {p for p in after if p not in locks}
    assert "make" not in aforesaid("memory", "list").stdout


def test_a_second_restore_undoes_the_first(home: Paths) -> None:
    fill(home, sessions=1)
    assert aforesaid("backup").returncode == 0
    fill(home, sessions=5)
    told = json.loads(aforesaid("restore", "--yes", "--json").stdout)
    assert len(json.loads(aforesaid("sessions", "--all", "--json").stdout)) == 1
    assert aforesaid("restore", told["before"], "--yes").returncode == 0
    assert len(json.loads(aforesaid("sessions", "--all", "--json").stdout)) == 5


def test_a_restore_asks_first(home: Paths) -> None:
    fill(home)
    assert "no backup yet" in aforesaid("restore").stderr
    assert aforesaid("backup").returncode == 0
    refused = aforesaid("restore")
    assert refused.returncode == 1
    assert "aforesaid restore --yes" in refused.stderr
    assert "no backup 'nonsense'" in aforesaid("restore", "nonsense", "--yes").stderr


def test_a_database_that_is_too_damaged_for_a_backup_is_moved_aside_by_a_restore(
    home: Paths,
) -> None:
    fill(home)
    assert aforesaid("backup").returncode == 0
    home.database.write_bytes(b"garbage" * 1000)
    told = json.loads(aforesaid("restore", "--yes", "--json").stdout)
    assert told["before"] is None
    assert Path(told["aside"], "aforesaid.db").read_bytes() == b"garbage" * 1000
    assert len(json.loads(aforesaid("sessions", "--all", "--json").stdout)) == 3


def test_an_archive_cannot_write_outside_of_its_folder(tmp_path: Path) -> None:
    import io
    import tarfile

    evil = tmp_path / "evil.tar.gz"
    with tarfile.open(evil, "w:gz") as packed:
        member = tarfile.TarInfo("../outside")
        member.size = 1
        packed.addfile(member, io.BytesIO(b"x"))
    for use in (archive.check, lambda path: archive.unpack(path, tmp_path / "in")):
        with pytest.raises(BackupError, match="leads out of it"):
            use(evil)
    assert not (tmp_path / "outside").exists()


def test_before_a_migration_there_is_a_backup(
    home: Paths, backups: BackupRepository, later_schema: None
) -> None:
    version = newest_version() - 1
    with closing(create(home.database, version)) as connection:
        connection.execute("INSERT INTO projects VALUES (1, 'shop', '/shop', 1)")
    home.database.chmod(0o600)
    open_database(wiring.home(), clock.now).close()
    (made,) = backups.all()
    assert (made.manifest.reason, made.manifest.schema) == (MIGRATION, version)
    assert made.manifest.rows["projects"] == 1
    assert files.read_version(home.database) == version + 1
    open_database(wiring.home(), clock.now).close()
    assert len(backups.all()) == 1


class Time:
    def __init__(self) -> None:
        self.now = clock.now()

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def keeper(home: Paths) -> "tuple[BackupThread, Time, Store]":
    fill(home)
    been_here(home)
    store = Store(home.database, writer=True)
    time = Time()
    return BackupThread(Context(wiring.home(), store, time)), time, store


def test_backups_are_due_once_a_day_while_there_is_work(
    keeper: "tuple[BackupThread, Time, Store]", backups: BackupRepository
) -> None:
    keeping, time, store = keeper
    with closing(store):
        for _ in range(2):
            keeping.turn()
            assert [each.manifest.reason for each in backups.all()] == [DAILY]
        time.now += DAY
        keeping.turn()
        assert len(backups.all()) == 1, "nothing was written since"
        os.utime(store.database.path, (time.now / 1000, time.now / 1000))
        keeping.turn()
        assert len(backups.all()) == 2


def test_before_a_dream_there_is_a_backup_unless_one_is_fresh(
    keeper: "tuple[BackupThread, Time, Store]", backups: BackupRepository
) -> None:
    keeping, time, store = keeper
    with closing(store):
        for _ in range(2):
            keeping.make_before_dream()
        assert len(backups.all()) == 1
        time.now += HOUR
        os.utime(store.database.path, (time.now / 1000, time.now / 1000))
        keeping.make_before_dream()
    assert len(backups.all()) == 2


def test_backups_can_be_turned_off(home: Paths) -> None:
    fill(home)
    settings = wiring.home().settings
    off = Settings(dict(settings.values) | {"backup.every_hours": 0}, settings.origins)
    with closing(Store(home.database, writer=True)) as store:
        keeping = BackupThread(Context(wiring.Home(home, off), store, clock.now))
        keeping.turn()
    assert not home.backups.exists()


def test_the_worker_makes_one_by_itself_and_status_says_so(home: Paths) -> None:
    fill(home)
    assert "none yet" in json.loads(aforesaid("status", "--json").stdout)["backup"]
    been_here(home)
    rpc.start(home)
    until(lambda: wiring.backup_repository(wiring.home(), clock.now).all())
    assert "(daily); 1 in all" in json.loads(aforesaid("status", "--json").stdout)["backup"]
