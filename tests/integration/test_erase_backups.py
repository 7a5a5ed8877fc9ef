"""Erasing for good drops every backup that there was, once a new one is made; and not before."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from aforesaid import clock, wiring
from aforesaid.backups.repository import BY_HAND, TEMPORARY, lock_repository
from aforesaid.errors import StoreDamaged, StoreError
from aforesaid.paths import Paths
from aforesaid.settings import Settings
from aforesaid.store import files
from aforesaid.store.store import Store
from aforesaid.worker import purge
from aforesaid.worker.context import Context
from aforesaid.worker.database import BackupStopped, BackupThread
from tests.support.arrivals import START, repository
from tests.support.product import aforesaid


@pytest.fixture
def store(home: Paths) -> Iterator[Store]:
    with closing(Store(home.database, writer=True)) as store:
        store.projects.resolve(repository("shop"), "/home/dev/shop", START)
        wiring.backup_repository(wiring.home(), clock.now).make(BY_HAND, 3)
        (home.damaged / "20261101T000000Z").mkdir(parents=True)
        yield store


def keeping(home: wiring.Home, store: Store) -> BackupThread:
    return BackupThread(Context(home, store, clock.now))


def test_a_new_backup_takes_the_place_of_all_others(home: Paths, store: Store) -> None:
    purge.replace_backups(home, keeping(wiring.home(), store).make_replacement)
    (left,) = purge.every(home)
    assert left.name.endswith("-daily")


@pytest.mark.parametrize("what", ["987654", "prompt:99999"])
def test_what_is_not_there_is_refused_and_costs_no_backup(
    home: Paths, store: Store, what: str
) -> None:
    store.close()
    before = purge.every(home)
    done = aforesaid("purge", what, "--yes")
    assert done.returncode != 0
    assert "There is no" in done.stderr
    assert purge.every(home) == before


def test_a_worker_that_ends_leaves_them_to_the_next_one(home: Paths, store: Store) -> None:
    """T63: the erasure ends with it; its order stays, and so does every backup."""
    before = purge.every(home)
    care = keeping(wiring.home(), store)
    care.stop()
    with pytest.raises(BackupStopped):
        purge.replace_backups(home, care.make_replacement)
    assert {*before} == {*purge.every(home)}


@pytest.mark.parametrize("error", [StoreDamaged(), StoreError(), PermissionError(13, "no")])
def test_a_backup_that_fails_is_no_reason_to_drop_the_others(
    home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> None:
        raise error

    before = purge.every(home)
    care = keeping(wiring.home(), store)
    monkeypatch.setattr(files, "copy", fails)
    with pytest.raises(Exception, match=r"."):
        purge.replace_backups(home, care.make_replacement)
    assert {*before} == {*purge.every(home)}


@pytest.mark.parametrize("why", ["no room", "turned off"])
def test_where_there_can_be_none_all_go(
    home: Paths, store: Store, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    found = wiring.home()
    if why == "turned off":
        off = dict(found.settings.values) | {"backup.every_hours": 0}
        found = wiring.Home(home, Settings(off, found.settings.origins))
    else:
        usage = shutil.disk_usage(home.data)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5 << 20))
    purge.replace_backups(home, keeping(found, store).make_replacement)
    assert purge.every(home) == []


def test_nothing_is_taken_from_under_somebody_who_makes_a_backup(home: Paths, store: Store) -> None:
    making = home.backups / f"{TEMPORARY}{os.getpid()}"
    with lock_repository(home):
        making.mkdir()
        dropping = threading.Thread(target=purge.replace_backups, args=(home, lambda: None))
        dropping.start()
        dropping.join(0.2)
        assert dropping.is_alive()
        assert making.exists()
    dropping.join()
    assert purge.every(home) == []
