"""Where SQLite's write-ahead log may be used, and where it may not."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import filesystems
from aforesaid.errors import StoreError
from aforesaid.store.store import Store

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /proc rw - proc proc rw
40 22 0:50 / /home/dev/nfs rw shared:1 - nfs4 server:/home rw
41 22 0:51 / /home/dev/nfs/local rw - ext4 /dev/vdb rw
42 22 0:52 / /mnt/c rw - 9p C:\134 rw
43 22 0:53 / /home/dev/two\040words rw - cifs //host/share rw
44 22 0:54 / /twice rw - ext4 /dev/vdc rw
45 22 0:55 / /twice rw - fuse.sshfs host: rw
nonsense
"""


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    told = tmp_path / "mountinfo"
    told.write_text(MOUNTS)
    monkeypatch.setattr(filesystems, "MOUNTS", told)
    return told


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/dev/.local/share", "ext4"),
        ("/home/dev/nfs", "nfs4"),
        ("/home/dev/nfs/deep/below", "nfs4"),
        ("/home/dev/nfs-not", "ext4"),
        ("/home/dev/nfs/local/x", "ext4"),
        ("/mnt/c/Users/dev", "9p"),
        ("/home/dev/two words/x", "cifs"),
        ("/twice/x", "fuse.sshfs"),
    ],
)
def test_a_folder_has_the_kind_of_the_nearest_mount(mounts: Path, folder: str, kind: str) -> None:
    """T28: as the kernel tells it."""
    assert filesystems.kind_of(Path(folder)) == kind
    assert (filesystems.why_shared(Path(folder)) is not None) is (kind != "ext4")


@pytest.mark.parametrize("service", ["Dropbox", "OneDrive - Work", "Library/Mobile Documents/x"])
def test_a_folder_that_a_cloud_service_copies_is_shared(tmp_path: Path, service: str) -> None:
    """T28: iCloud, Dropbox and their like."""
    assert "cloud service" in str(filesystems.why_shared(tmp_path / service / "aforesaid"))
    assert filesystems.why_shared(tmp_path / "aforesaid") is None


def test_where_the_system_does_not_tell_the_disk_is_taken_for_a_local_one(
    mounts: Path, tmp_path: Path
) -> None:
    mounts.unlink()
    assert filesystems.kind_of(tmp_path) is None
    assert filesystems.why_shared(tmp_path) is None


@pytest.mark.parametrize(("kind", "journal"), [("ext4", "wal"), ("nfs4", "delete")])
def test_the_journal_is_the_one_that_is_safe_there(
    mounts: Path, tmp_path: Path, kind: str, journal: str
) -> None:
    """T28: a database that had a write-ahead log gets a rollback journal once it is moved to such a place."""
    Store(tmp_path / "aforesaid.db", writer=True).close()
    mounts.write_text(f"22 1 254:0 / / rw - {kind} /dev/vda rw\n")
    with closing(Store(tmp_path / "aforesaid.db", writer=True)) as store:
        store.events.quarantine("name", "why", 1, 1)
        with closing(sqlite3.connect(tmp_path / "aforesaid.db")) as other:
            assert other.execute("PRAGMA journal_mode").fetchone() == (journal,)
        with closing(Store(tmp_path / "aforesaid.db", writer=False)) as reader:
            assert reader.health().quarantined == 1


def test_a_sqlite_that_is_too_old_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T29: before 3.35 there is no RETURNING."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match="newer Python"):
        Store(tmp_path / "aforesaid.db", writer=True)


def test_who_only_reads_cannot_write(tmp_path: Path) -> None:
    """T29: before 3.51.3 two processes that write can damage the log; one alone holds a writing
    connection."""
    Store(tmp_path / "aforesaid.db", writer=True).close()
    with closing(Store(tmp_path / "aforesaid.db", writer=False)) as reader:
        with pytest.raises(AssertionError, match="opened for reading"):
            reader.events.quarantine("name", "why", 1, 1)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.database.reader().execute("DELETE FROM events")
