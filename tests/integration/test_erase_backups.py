"""Erasing for good drops every backup that there was, once a new one is made; and not before."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from recollect import clock, wiring
from recollect.backups import shelf
from recollect.backups.rotation import BY_HAND
from recollect.errors import StoreDamaged, StoreError
from recollect.paths import Paths
from recollect.settings import Settings
from recollect.store.sqlite.store import SqliteStore
from recollect.worker import erasing_backups
from recollect.worker.erasing_run import Ends
from recollect.worker.safekeeping import Safekeeping
from tests.support.arrivals import START, repository


@pytest.fixture
def store(home: Paths) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home.database, writer=True)) as store:
        store.resolve_project(repository("shop"), "/home/dev/shop", START)
        wiring.shelf(wiring.home(), clock.now).make(BY_HAND, 3)
        (home.damaged / "20261101T000000Z").mkdir(parents=True)
        yield store


def keeping(home: wiring.Home, store: SqliteStore) -> Safekeeping:
    return Safekeeping(home, store, clock.now, lambda: None, lambda: None)


def test_a_new_backup_takes_the_place_of_all_others(home: Paths, store: SqliteStore) -> None:
    erasing_backups.replace(home, keeping(wiring.home(), store).anew)
    (left,) = erasing_backups.every(home)
    assert left.name.endswith("-daily")


def test_a_worker_that_ends_leaves_them_to_the_next_one(home: Paths, store: SqliteStore) -> None:
    """T63: the erasure ends with it; its order stays, and so does every backup."""
    before = erasing_backups.every(home)
    care = keeping(wiring.home(), store)
    care.stop()
    with pytest.raises(Ends):
        erasing_backups.replace(home, care.anew)
    assert {*before} == {*erasing_backups.every(home)}


@pytest.mark.parametrize("error", [StoreDamaged(), StoreError(), PermissionError(13, "no")])
def test_a_backup_that_fails_is_no_reason_to_drop_the_others(
    home: Paths, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> None:
        raise error

    before = erasing_backups.every(home)
    care = keeping(wiring.home(), store)
    monkeypatch.setattr(care._shelf.files, "copy", fails, raising=False)
    with pytest.raises(Exception, match=r"."):
        erasing_backups.replace(home, care.anew)
    assert {*before} == {*erasing_backups.every(home)}


@pytest.mark.parametrize("why", ["no room", "turned off"])
def test_where_there_can_be_none_all_go(
    home: Paths, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    found = wiring.home()
    if why == "turned off":
        off = dict(found.settings.values) | {"backup.every_hours": 0}
        found = wiring.Home(home, Settings(off, found.settings.origins))
    else:
        usage = shutil.disk_usage(home.data)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5 << 20))
    erasing_backups.replace(home, keeping(found, store).anew)
    assert erasing_backups.every(home) == []


def test_nothing_is_taken_from_under_somebody_who_makes_a_backup(
    home: Paths, store: SqliteStore
) -> None:
    making = home.backups / f"{shelf.MAKING}{os.getpid()}"
    with shelf.alone(home):
        making.mkdir()
        dropping = threading.Thread(target=erasing_backups.replace, args=(home, lambda: None))
        dropping.start()
        dropping.join(0.2)
        assert dropping.is_alive()
        assert making.exists()
    dropping.join()
    assert erasing_backups.every(home) == []
