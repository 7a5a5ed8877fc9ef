"""A restore: whatever was here before is in a backup or aside, also when it is killed."""

from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.backups import archive, recovery
from aforesaid.backups.repository import BY_HAND, Backup, BackupRepository
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.database import open_database
from tests.support.arrivals import START, repository

OLD, SINCE = "In the backup.", "Written since."


class Killed(BaseException):
    """In the middle of it."""


@pytest.fixture
def backups(home: Paths) -> BackupRepository:
    with closing(Store(home.database, writer=True)) as store:
        store.projects.resolve(repository("shop"), "/home/dev/shop", START)
    return wiring.backup_repository(wiring.home(), clock.now)


@pytest.fixture
def backup(home: Paths, backups: BackupRepository) -> Backup:
    """With the user's memory; the project's was written since."""
    remember(home.memory / "user", OLD)
    made = backups.make(BY_HAND, 3)
    remember(home.memory / "user", SINCE)
    remember(home.memory / "projects", SINCE)
    return made


def remember(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tabs.md").write_text(text)


def told(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.md")}


def test_memories_go_aside_with_a_database_that_no_backup_can_be_made_of(
    home: Paths, backups: BackupRepository, backup: Backup
) -> None:
    home.database.write_bytes(b"garbage" * 1000)
    aside = recovery.restore(backups, backup, 3)
    assert isinstance(aside, Path)
    assert told(home.memory) == {"user/tabs.md": OLD}
    assert told(aside / "memory") == {"user/tabs.md": SINCE, "projects/tabs.md": SINCE}
    assert (aside / home.database.name).exists()


def test_memories_that_a_backup_has_do_not_stay_beside_them(
    home: Paths, backups: BackupRepository, backup: Backup
) -> None:
    before = recovery.restore(backups, backup, 3)
    assert isinstance(before, Backup)
    assert told(home.memory) == {"user/tabs.md": OLD}
    assert not list(home.data.glob(".memory.*"))
    recovery.restore(backups, before, 3)
    assert told(home.memory) == {"user/tabs.md": SINCE, "projects/tabs.md": SINCE}


def test_the_backup_that_is_restored_stays(
    home: Paths, backups: BackupRepository, backup: Backup
) -> None:
    """Though what is backed up before it would have it go: two are kept of those."""
    first, second = (recovery.restore(backups, backup, 3) for _ in range(2))
    assert isinstance(first, Backup)
    assert isinstance(second, Backup)
    last = recovery.restore(backups, first, 3)
    assert isinstance(last, Backup)
    assert {first.name, second.name, last.name} <= {each.name for each in backups.all()}


def test_a_restore_that_was_killed_between_the_databases_leaves_what_was_there(
    home: Paths, backups: BackupRepository, backup: Backup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backup of it is the newest, and the next start takes that."""
    with closing(Store(home.database, writer=True)) as store:
        store.projects.resolve(repository("since"), "/home/dev/since", START)

    def killed(_: Path, database: Path) -> None:
        recovery.remove_database(database)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(recovery, "replace_database", killed)
        with pytest.raises(Killed):
            recovery.restore(backups, backup, 3)
    with closing(open_database(wiring.home(), clock.now)) as found:
        assert {each.name for each in found.projects.all()} == {"shop", "since"}


def kill_among_memories(patched: pytest.MonkeyPatch, renames: int) -> None:
    """After so many of them, or when all are replaced and nothing else is done."""
    replace, rename, left = archive.replace, Path.rename, [renames]

    def killed(path: Path, target: Path) -> Path:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return rename(path, target)

    def half(root: Path, source: Path, old: Path) -> None:
        patched.setattr(Path, "rename", killed)
        replace(root, source, old)
        raise Killed

    patched.setattr(archive, "replace", half)


@pytest.mark.parametrize("renames", range(4))
@pytest.mark.parametrize("damaged", [False, True], ids=["sound", "damaged"])
def test_a_restore_that_was_killed_among_the_memories_loses_none(
    home: Paths,
    backups: BackupRepository,
    backup: Backup,
    monkeypatch: pytest.MonkeyPatch,
    renames: int,
    damaged: bool,
) -> None:
    """T25: what was taken away comes back at the next start; what has no place any more is kept aside."""
    if damaged:
        home.database.write_bytes(b"garbage" * 1000)
    with monkeypatch.context() as patched:
        kill_among_memories(patched, renames)
        with pytest.raises(Killed):
            recovery.restore(backups, backup, 3)
    open_database(wiring.home(), clock.now).close()
    aside = [told(path) for path in home.damaged.glob("*/memory")]
    kept = [*told(home.memory).items(), *(each for found in aside for each in found.items())]
    assert {("user/tabs.md", SINCE), ("projects/tabs.md", SINCE)} <= {*kept}
    assert set(told(home.memory)) == {"user/tabs.md", "projects/tabs.md"}
    assert bool(aside) is (renames == 3)
    assert not (home.data / recovery.REPLACED).exists()
    recovery.restore(backups, backup, 3)
    assert told(home.memory) == {"user/tabs.md": OLD}
