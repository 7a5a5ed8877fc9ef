"""Orders to erase: one at a time, none is overwritten, and what was left is finished first."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recollect.cli.purge import erase
from recollect.clock import now
from recollect.errors import RecollectError
from recollect.model.erasing import Erasure
from recollect.paths import Paths
from recollect.store.sqlite.store import SqliteStore
from recollect.worker import contact, erasing, erasing_plan
from recollect.worker.erasing import Eraser
from recollect.worker.erasing_plan import Plan
from recollect.worker.erasing_run import Run
from tests.support.product import until

FIRST, SECOND = {"what": "session", "id": 1}, {"what": "session", "id": 2}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths.of({"RECOLLECT_HOME": str(tmp_path)})
    found.make()
    return found


@pytest.fixture
def faults() -> list[Exception]:
    return []


@pytest.fixture
def new(paths: Paths, faults: list[Exception]) -> Iterator[Callable[[], Eraser]]:
    """Each as a worker has it at its start."""
    with closing(SqliteStore(paths.database, writer=True)) as store:
        nobody: Any = None

        def eraser() -> Eraser:
            return Eraser(
                *(paths, store, now, threading.Lock(), nobody, nobody, nobody, nobody, nobody),
                *(lambda: None, lambda: True, lambda: None),
                lambda error: faults.append(error) if error else None,
            )

        yield eraser


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, paths: Paths) -> list[Plan]:
    """What was erased, in its order."""
    found: list[Plan] = []

    def erase(self: Eraser, run: Run) -> None:
        found.append(run.plan)
        self.paths.erasing_file.unlink()

    monkeypatch.setattr(Eraser, "_erase", erase)
    return found


def begin(eraser: Eraser, wanted: dict[str, object]) -> dict[str, Any]:
    return eraser.begin({"wanted": wanted, "dry_run": False})


def left_behind(paths: Paths) -> Plan:
    """As a worker leaves it that was killed when it knew what had to go."""
    plan = Plan(Erasure("session", id=1), 5, frozenset({12}), (), frozenset({"a-name"}))
    plan.save(paths)
    return plan


def test_what_is_under_way_is_joined_by_who_wants_the_same_and_others_wait(
    new: Callable[[], Eraser], done: list[Plan]
) -> None:
    eraser = new()
    with eraser.busy:
        name = begin(eraser, FIRST)["name"]
        assert begin(eraser, SECOND) == {"busy": True}
        assert begin(eraser, FIRST) == {"name": name}
        eraser.resume()
    eraser.wait()
    assert [each.wanted.id for each in done] == [1]


def test_an_order_that_is_left_is_finished_before_another_begins(
    paths: Paths, new: Callable[[], Eraser], done: list[Plan]
) -> None:
    """T63: with what had to be known of it."""
    left = left_behind(paths)
    eraser = new()
    assert begin(eraser, SECOND) == {"busy": True}
    eraser.wait()
    assert done == [left]
    assert "name" in begin(eraser, SECOND)
    eraser.wait()
    assert [each.wanted.id for each in done] == [1, 2]


def test_who_asks_again_before_the_new_worker_has_looked_gets_the_order_that_is_left(
    paths: Paths, new: Callable[[], Eraser], done: list[Plan]
) -> None:
    left = left_behind(paths)
    eraser = new()
    with eraser.busy:
        name = begin(eraser, FIRST)["name"]
        assert erasing_plan.load(paths) == left
        eraser.resume()
        assert eraser.progress({"name": name})["step"] == "waiting"
    eraser.wait()
    assert done == [left]


def test_an_order_that_failed_is_tried_again_and_not_lost(
    paths: Paths,
    new: Callable[[], Eraser],
    faults: list[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: Eraser, run: Run) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Eraser, "_erase", fail)
    eraser = new()
    begin(eraser, FIRST)
    until(lambda: not eraser.at_work())
    assert begin(eraser, SECOND) == {"busy": True}
    eraser.wait()
    left = erasing_plan.load(paths)
    assert left is not None
    assert left.wanted.id == 1
    assert len(faults) == 2


def test_an_order_that_cannot_be_read_is_a_fault_that_is_shown(
    paths: Paths, new: Callable[[], Eraser], faults: list[Exception], done: list[Plan]
) -> None:
    paths.erasing_file.write_text("{half an ord")
    eraser = new()
    eraser.resume()
    assert "recollect purge" in str(faults[0])
    assert not paths.erasing_file.exists()
    assert "name" in cast(dict[str, str], begin(eraser, SECOND))
    eraser.wait()
    assert len(done) == 1


def test_a_capture_that_is_stored_while_the_spool_is_looked_at_stops_nothing(
    paths: Paths, new: Callable[[], Eraser], done: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    (paths.spool_new / "one").touch()
    real = os.scandir

    @contextmanager
    def scandir(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
        with real(folder) as entries:
            listed = list(entries)
        (paths.spool_new / "one").unlink(missing_ok=True)
        yield iter(listed)

    monkeypatch.setattr(erasing, "os", SimpleNamespace(scandir=scandir, urandom=os.urandom))
    eraser = new()
    name = begin(eraser, FIRST)["name"]
    eraser.wait()
    assert eraser.progress({"name": name})["error"] is None
    assert len(done) == 1


def test_an_error_names_what_goes_on_with_it(
    paths: Paths, new: Callable[[], Eraser], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Eraser, run: Run) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Eraser, "_erase", fail)
    verbs = new().verbs()
    monkeypatch.setattr(contact, "order", lambda _, verb, **order: verbs[verb](order))
    with pytest.raises(RecollectError) as raised:
        erase(Erasure("session", id=1), dry_run=False, yes=True, as_json=True)
    said = str(raised.value)
    assert said.startswith("The erasure stopped (ZeroDivisionError; see `recollect worker logs`).")
    assert said.endswith("`recollect worker restart` goes on with it.")
