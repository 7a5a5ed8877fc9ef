"""Calls in many threads, while some of them fail and the database is replaced: SQLite does not survive that a
connection is closed while it is asked, so a crash here would take the test's process with it."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from aforesaid.errors import ConfigError, NotFound, StoreError, WorkerHung
from aforesaid.mcp import context as calls
from aforesaid.mcp.context import Context, StorePool
from aforesaid.model.observations import ObservationDraft
from aforesaid.parameters import Misused
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.memory import Memory

TITLE = "Lease race fixed"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A home with one observation."""
    env = {
        "AFORESAID_HOME": str(tmp_path / "aforesaid"),
        "AFORESAID_RECALL_ENCODER": "none",
        "CLAUDE_PROJECT_DIR": "/home/dev/shop",
        "HOME": str(tmp_path),
    }
    fill(Paths.of(env).database)
    return env


@pytest.fixture
def place(env: dict[str, str]) -> Iterator[Context]:
    made = Context(env, lambda: START)
    yield made
    made.close()


def fill(database: Path) -> None:
    store = Store(database, writer=True)
    memory = Memory.of(store, "shop")
    for number in range(30):
        memory.turn(f"p{number}", ObservationDraft("bugfix", TITLE, narrative=f"lease {number}"))
    store.close()


STRESS = """
import os, sys, threading, time
from pathlib import Path
from aforesaid.errors import StoreError
from aforesaid.paths import Paths
from aforesaid.mcp.context import call
from aforesaid.mcp.context import Context
from aforesaid.worker import rpc

def fail(*_, **__):
    raise StoreError

rpc.order = fail
place = Context(os.environ, lambda: 2_000_000_000_000)
database = Paths.of(os.environ).database
other = Path(sys.argv[1])
end = time.monotonic() + 1.5
wrong = []

def look():
    while time.monotonic() < end:
        reply = call(place, "search", {"query": "lease race", "project": "all"})
        if reply.is_error:
            wrong.append(reply.text)

def break_():
    while time.monotonic() < end:
        with place.open() as visit:  # it holds the database, and fails with it
            visit.store
            call(place, "remember", {"text": "x"})
        try:
            with place.open() as visit:
                visit.store
                raise StoreError
        except StoreError:
            pass

def swap():
    number = 0
    while time.monotonic() < end:
        number += 1
        copy = database.with_suffix(f".{number}")
        copy.write_bytes(other.read_bytes())
        copy.replace(database)
        time.sleep(0.01)

threads = [threading.Thread(target=each) for each in (look, look, look, break_, swap)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong[:3]
"""


def test_searches_survive_failing_calls_and_a_database_that_is_replaced(
    env: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    fill(other)
    done = subprocess.run(
        [sys.executable, "-c", STRESS, str(other)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_a_store_that_is_given_up_is_closed_by_the_last_who_uses_it(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []

    def close(store: Store) -> None:
        closed.append(store)

    monkeypatch.setattr(Store, "close", close)
    pool = StorePool(env, lambda: START)
    first, second = pool.get(), pool.get()
    assert first is second
    given_up = first.store
    pool.drop(first)
    third = pool.get()
    assert third is not second
    pool.drop(second)  # no longer the current one
    assert pool.get() is third
    del first
    assert closed == []
    del second
    assert closed == [given_up]


def test_a_call_works_with_one_store_to_its_end(place: Context, env: dict[str, str]) -> None:
    database = Paths.of(env).database
    with place.open() as visit:
        before = visit.store
        fill(database.with_suffix(".new"))
        database.with_suffix(".new").replace(database)
        with place.open() as other:
            assert other.store is not before
        assert visit.store is before
        assert visit.store.projects.all()


@pytest.mark.parametrize("error", [WorkerHung(), ConfigError(), NotFound(), Misused("what?")])
def test_what_is_not_the_databases_fault_leaves_it_open(place: Context, error: Exception) -> None:
    assert failing_with(place, error) is store_of(place)


@pytest.mark.parametrize("error", [StoreError(), RuntimeError()])
def test_what_may_be_the_databases_fault_has_it_opened_anew(
    place: Context, error: Exception
) -> None:
    assert failing_with(place, error) is not store_of(place)


def failing_with(place: Context, error: Exception) -> object:
    used: object = None
    with suppress(type(error)), place.open() as visit:
        used = visit.store
        raise error
    return used


def store_of(place: Context) -> object:
    with place.open() as visit:
        return visit.store


def test_connections_of_threads_that_have_ended_are_closed(env: dict[str, str]) -> None:
    store = Store(Paths.of(env).database, writer=False)

    def in_a_thread(work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    before = descriptors()
    for _ in range(20):
        in_a_thread(store.projects.all)
    assert descriptors() <= before + 4
    assert store.projects.all()
    store.close()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_calls_at_once_are_all_answered(place: Context) -> None:
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(calls.call, place, "search", {"query": "lease"}) for _ in range(40)]
        assert all(TITLE in each.result().text for each in asked)
