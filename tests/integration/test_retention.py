"""What is old loses its content and nothing else; where space is short, in the order that was promised."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.clock import DAY
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from aforesaid.worker.maintenance import Housekeeper
from tests.support.context import make_context
from tests.support.product import aforesaid, settled, work


def stored(paths: Paths, query: str) -> int:
    with closing(sqlite3.connect(paths.database)) as db:
        return int(db.execute(query).fetchone()[0])


KEPT = "SELECT count(*) FROM events WHERE size > 0"
TEXTS = "SELECT count(*) FROM event_texts"


def worked(home: Paths, project: Path) -> Store:
    project.mkdir()
    work(project, "s")
    settled(home)
    rpc.stop(home)
    return Store(home.database, writer=True)


def test_old_events_lose_their_content_and_what_was_made_of_them_stays(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = worked(home, tmp_path / "shop")
    before = store.health()
    monkeypatch.setenv("AFORESAID_RETENTION_DAYS", "30")
    later = clock.now() + 31 * DAY
    assert stored(home, KEPT) == before.events
    Housekeeper(make_context(home, store, lambda: later - 2 * DAY)).age_out()
    assert stored(home, KEPT) == before.events
    Housekeeper(make_context(home, store, lambda: later)).age_out()
    assert (stored(home, KEPT), stored(home, TEXTS)) == (0, 0)
    assert store.health() == before
    assert [each.text for each in store.sessions.prompts(1)] == ["Add a greeting to hello.py"]
    store.database.check()
    store.close()


@pytest.mark.parametrize("kind", ["observe", "summarize"])
@pytest.mark.parametrize("state", ["pending", "skipped"])
def test_a_turn_that_waits_to_be_worked_up_is_never_too_old(
    home: Paths, tmp_path: Path, kind: str, state: str
) -> None:
    """Not its prompt and its end either, which no job names; also one that was put aside."""
    store = worked(home, tmp_path / "shop")
    with closing(sqlite3.connect(home.database)) as db, db:
        db.execute("UPDATE jobs SET state = ? WHERE kind = ?", (state, kind))
    turn = stored(home, "SELECT count(*) FROM events WHERE prompt_number = 1")
    assert turn > stored(home, "SELECT count(*) FROM events WHERE job_id IS NOT NULL")
    store.maintenance.age_out(clock.now() + DAY, 1000)
    assert stored(home, KEPT) == turn
    store.close()


def test_room_is_made_by_contents_first_and_then_by_what_search_finds_of_them(
    home: Paths, tmp_path: Path
) -> None:
    store = worked(home, tmp_path / "shop")
    texts = stored(home, TEXTS)
    housekeeper = Housekeeper(make_context(home, store, lambda: clock.now() + 2 * DAY))
    housekeeper.free_space(1)
    assert (stored(home, KEPT), stored(home, TEXTS)) == (0, texts)
    housekeeper.free_space(10**9)
    assert stored(home, TEXTS) == 0
    assert store.health().observations == 1
    store.close()


def test_by_default_nothing_grows_too_old(home: Paths, tmp_path: Path) -> None:
    store = worked(home, tmp_path / "shop")
    Housekeeper(make_context(home, store, lambda: clock.now() + 9999 * DAY)).age_out()
    assert stored(home, KEPT) == store.health().events
    store.close()


def test_aged_events_are_exported_and_imported_as_what_they_are(
    home: Paths, tmp_path: Path
) -> None:
    store = worked(home, tmp_path / "shop")
    store.maintenance.age_out(clock.now() + DAY, 1000)
    store.close()
    file = tmp_path / "all.jsonl"
    assert aforesaid("export", "-o", str(file)).returncode == 0
    other = {"AFORESAID_HOME": str(tmp_path / "user/.local/state/aforesaid")}
    taken = aforesaid("import", "file", str(file), env=other)
    assert taken.returncode == 0, taken.stderr
    assert "event" in taken.stdout
