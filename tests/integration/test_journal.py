"""Where the file system is shared, a rollback journal takes the place of the log. A writer that is killed
leaves it beside the database, and it belongs to no other."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.backups import recovery, recovery_log
from aforesaid.backups.repository import BY_HAND, Backup
from aforesaid.cli import doctor
from aforesaid.paths import Paths
from aforesaid.store import files
from aforesaid.store.store import Store
from aforesaid.worker.database import open_database
from tests.support.arrivals import START, Told, repository

# Pages go to the file before the end, as they do in any transaction that is large enough.
WRITER = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = DELETE")
connection.execute("PRAGMA cache_size = 2")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE events SET body = zeroblob(20000)")
os.kill(os.getpid(), signal.SIGKILL)
"""


def journal_of(database: Path) -> Path:
    return Path(f"{database}-journal")


@pytest.fixture
def killed(home: Paths) -> Path:
    """A database with the journal of a transaction that never ended."""
    with closing(Store(home.database, writer=True)) as store:
        project = store.projects.resolve(repository("shop"), "/home/dev/shop", START)
        told = Told(project, session="kept")
        store.events.add([told.prompt("Begin"), *(told.tool(f"{n}") for n in range(40))], START)
    command = [sys.executable, "-c", WRITER, str(home.database)]
    wiring.backup_repository(wiring.home(), clock.now).make(BY_HAND, 3)
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert journal_of(home.database).stat().st_size
    return home.database


def is_whole(database: Path) -> bool:
    with closing(sqlite3.connect(database)) as connection:
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        altered = "SELECT count(*) FROM events WHERE body = zeroblob(20000)"
        return bool(sound == "ok" and not connection.execute(altered).fetchone()[0])


def test_a_writer_that_was_killed_leaves_no_damage_behind(home: Paths, killed: Path) -> None:
    """T25: its journal is rolled back before anybody looks; nothing is recovered."""
    assert files.check_pages(killed, 60.0)[0], "readers may not roll it back"
    open_database(wiring.home(), clock.now).close()
    assert recovery_log.load_all(home) == []
    assert not journal_of(killed).exists()
    assert is_whole(killed)


def test_a_database_is_moved_with_its_journal(killed: Path, tmp_path: Path) -> None:
    recovery.move_database(killed, tmp_path / "aside")
    assert not journal_of(killed).exists()
    assert is_whole(tmp_path / "aside" / killed.name)


def test_a_journal_is_not_rolled_back_into_the_database_that_comes(
    killed: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    Store(other, writer=True).close()
    expected = other.read_bytes()
    recovery.replace_database(other, killed)
    assert is_whole(killed)
    assert killed.read_bytes() == expected


def test_a_restore_after_a_kill_backs_up_what_was_there(home: Paths, killed: Path) -> None:
    backups = wiring.backup_repository(wiring.home(), clock.now)
    before = recovery.restore(backups, backups.get(None), 3)
    assert isinstance(before, Backup)
    assert before.manifest.rows["events"] == 41
    assert is_whole(home.database)


def test_the_journal_is_the_databases_for_the_doctor(
    home: Paths, killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda file, _: file != journal_of(killed))
    (finding,) = doctor.check_database()
    assert str(journal_of(killed)) in finding.detail
