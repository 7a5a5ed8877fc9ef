"""The MCP server's store: while the database is replaced or fails; and connections of threads."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aforesaid.errors import Misused, NotFound, StoreError, WorkerHung
from aforesaid.mcp import calls
from aforesaid.mcp.context import Context, call
from aforesaid.model.observations import ObservationDraft
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
def context(env: dict[str, str]) -> Iterator[Context]:
    made = Context(env, lambda: START)
    yield made
    made.close()


def fill(database: Path) -> None:
    store = Store(database, writer=True)
    memory = Memory.of(store, "shop")
    for number in range(30):
        memory.turn(f"p{number}", ObservationDraft("bugfix", TITLE, narrative=f"lease {number}"))
    store.close()


def test_a_database_that_was_replaced_is_opened_again(
    context: Context, env: dict[str, str]
) -> None:
    database = Paths.of(env).database
    assert not call(context, "search", {"query": "lease"}).is_error
    before = context.store
    assert not call(context, "search", {"query": "lease"}).is_error
    assert context.store is before
    fill(database.with_suffix(".new"))
    database.with_suffix(".new").replace(database)
    assert TITLE in call(context, "search", {"query": "lease"}).text
    assert context.store is not before


@pytest.mark.parametrize(
    ("error", "stays_open"),
    [
        (WorkerHung(), True),
        (NotFound(), True),
        (Misused("what?"), True),
        (StoreError(), False),
        (RuntimeError(), False),
    ],
)
def test_after_an_error_of_the_database_it_is_opened_again(
    context: Context, monkeypatch: pytest.MonkeyPatch, error: Exception, stays_open: bool
) -> None:
    call(context, "search", {"query": "lease"})
    before = context.store

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(calls, "search", fail)
    assert call(context, "search", {"query": "lease"}).is_error
    assert (context.store is before) is stays_open


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
