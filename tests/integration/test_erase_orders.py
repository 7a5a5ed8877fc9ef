"""Orders to erase: one at a time, none is overwritten, and what was left is finished first."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aforesaid.cli import arguments
from aforesaid.cli.curate import run_purge
from aforesaid.clock import now
from aforesaid.errors import AforesaidError
from aforesaid.model.purge import Erasure
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import purge, spool
from aforesaid.worker.purge import Plan, Purger, Run
from tests.support.context import make_context
from tests.support.product import until

FIRST, SECOND = {"what": "session", "id": 1}, {"what": "session", "id": 2}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths.of({"AFORESAID_HOME": str(tmp_path)})
    found.make()
    return found


@pytest.fixture
def new(paths: Paths) -> Iterator[Callable[[], Purger]]:
    """Each as a worker has it at its start."""
    with closing(Store(paths.database, writer=True)) as store:
        nobody: Any = None

        def eraser() -> Purger:
            return Purger(
                make_context(paths, store, now),
                answers=nobody,
                memories=nobody,
                new_backup=lambda: None,
            )

        yield eraser


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, paths: Paths) -> list[Plan]:
    """What was erased, in its order."""
    found: list[Plan] = []

    def erase(self: Purger, run: Run) -> None:
        found.append(run.plan)
        self.context.paths.erasing_file.unlink()

    monkeypatch.setattr(Purger, "_purge", erase)
    return found


def begin(eraser: Purger, wanted: dict[str, object]) -> dict[str, Any]:
    return eraser.begin({"wanted": wanted, "dry_run": False})


def left_behind(paths: Paths) -> Plan:
    """As a worker leaves it that was killed when it knew what had to go."""
    plan = Plan(Erasure("session", id=1), 5, (12,), (), ("a-name",))
    plan.save(paths)
    return plan


def test_what_is_under_way_is_joined_by_who_wants_the_same_and_others_wait(
    new: Callable[[], Purger], done: list[Plan]
) -> None:
    eraser = new()
    with eraser.context.busy:
        name = begin(eraser, FIRST)["name"]
        with pytest.raises(AforesaidError, match="Another purge is running"):
            begin(eraser, SECOND)
        assert begin(eraser, FIRST) == {"name": name}
        eraser.resume()
    eraser.wait()
    assert [each.wanted.id for each in done] == [1]


def test_a_worker_that_is_ending_begins_none(
    paths: Paths, new: Callable[[], Purger], done: list[Plan]
) -> None:
    eraser = new()
    eraser.context.stopping.set()
    assert begin(eraser, FIRST) == {"lost": True}
    eraser.wait()
    assert not eraser.at_work()
    assert not done
    assert not paths.erasing_file.exists()


def test_an_order_that_is_left_is_finished_before_another_begins(
    paths: Paths, new: Callable[[], Purger], done: list[Plan]
) -> None:
    """T63: with what had to be known of it."""
    left = left_behind(paths)
    eraser = new()
    with pytest.raises(AforesaidError, match="Another purge is running"):
        begin(eraser, SECOND)
    eraser.wait()
    assert done == [left]
    assert "name" in begin(eraser, SECOND)
    eraser.wait()
    assert [each.wanted.id for each in done] == [1, 2]


def test_who_asks_again_before_the_new_worker_has_looked_gets_the_order_that_is_left(
    paths: Paths, new: Callable[[], Purger], done: list[Plan]
) -> None:
    left = left_behind(paths)
    eraser = new()
    with eraser.context.busy:
        name = begin(eraser, FIRST)["name"]
        assert purge.load(paths) == left
        eraser.resume()
        assert eraser.progress({"name": name})["step"] == "waiting"
    eraser.wait()
    assert done == [left]


def test_an_order_that_failed_is_tried_again_and_not_lost(
    paths: Paths,
    new: Callable[[], Purger],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: Purger, run: Run) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Purger, "_purge", fail)
    eraser = new()
    begin(eraser, FIRST)
    until(lambda: not eraser.at_work())
    with pytest.raises(AforesaidError, match="Another purge is running"):
        begin(eraser, SECOND)
    eraser.wait()
    left = purge.load(paths)
    assert left is not None
    assert left.wanted.id == 1
    assert "no room" in eraser.context.faults["purge"]


def test_an_order_that_cannot_be_read_is_a_fault_that_is_shown(
    paths: Paths, new: Callable[[], Purger], done: list[Plan]
) -> None:
    paths.erasing_file.write_text("{half an ord")
    eraser = new()
    eraser.resume()
    assert "aforesaid purge" in eraser.context.faults["purge"]
    assert not paths.erasing_file.exists()
    assert "name" in cast(dict[str, str], begin(eraser, SECOND))
    eraser.wait()
    assert len(done) == 1


def test_a_capture_that_is_stored_while_the_spool_is_looked_at_stops_nothing(
    paths: Paths, new: Callable[[], Purger], done: list[Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    (paths.spool_new / "one").touch()
    real = os.scandir

    @contextmanager
    def scandir(folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
        with real(folder) as entries:
            listed = list(entries)
        (paths.spool_new / "one").unlink(missing_ok=True)
        yield iter(listed)

    monkeypatch.setattr(spool, "os", SimpleNamespace(scandir=scandir))
    eraser = new()
    name = begin(eraser, FIRST)["name"]
    eraser.wait()
    assert eraser.progress({"name": name})["over"]
    assert len(done) == 1


def test_an_error_names_what_goes_on_with_it(
    paths: Paths, new: Callable[[], Purger], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Purger, run: Run) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Purger, "_purge", fail)
    eraser = new()
    commands = {"erase-begin": eraser.begin, "erase-progress": eraser.progress}
    monkeypatch.setattr(
        arguments, "call_worker", lambda command, **request: commands[command](request)
    )
    with pytest.raises(AforesaidError) as raised:
        run_purge(Erasure("session", id=1), dry_run=False, yes=True)
    said = str(raised.value)
    assert said.startswith("The erasure stopped (ZeroDivisionError; see `aforesaid worker logs`).")
    assert said.endswith("`aforesaid worker restart` resumes it.")


@pytest.mark.parametrize(
    ("counts", "question"),
    [
        ({"events": 2, "backups": 1}, "Erase all of it for good?"),
        ({"events": 0, "backups": 0}, None),
    ],
)
def test_nothing_is_erased_where_nothing_matches(
    counts: dict[str, int], question: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    runs: list[bool] = []

    def run(_: Erasure, *, dry_run: bool) -> dict[str, int]:
        runs.append(dry_run)
        return counts

    monkeypatch.setattr("aforesaid.cli.curate._run", run)
    monkeypatch.setattr("click.confirm", lambda text, abort: asked.append(text))
    run_purge(Erasure("text", text="some text"), "all of it", dry_run=False, yes=False)
    assert asked == ([question] if question else [])
    assert runs == ([True, False] if question else [True])
