"""Imports run one after the other, each reports to its own client, and the worker ends after them."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.transfer.importer import Block
from aforesaid.worker import imports
from aforesaid.worker.context import Context
from aforesaid.worker.imports import Imports
from tests.support.context import make_context
from tests.support.product import until


class Gated:
    """A source that waits for its gate before each block."""

    total = 3

    def __init__(self) -> None:
        self.gate, self.reached = threading.Semaphore(0), threading.Event()
        self.done = 0

    def blocks(self) -> Iterator[Block]:
        for _ in range(self.total):
            self.done += 1
            self.reached.set()
            assert self.gate.acquire(timeout=60)
            yield Block(())

    def close(self) -> None:
        pass

    def open(self) -> None:
        self.gate.release(self.total)


@pytest.fixture
def context(home: Paths, store: Store) -> Context:
    return make_context(home, store, clock.now)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> dict[str, Gated]:
    """By the path that is asked for."""
    found = {"a": Gated(), "b": Gated()}
    monkeypatch.setattr(Imports, "_source", lambda _, request: found[request["path"]])
    return found


def begin(importing: Imports, path: str) -> dict[str, Any]:
    return importing.begin({"what": "file", "path": path, "dry_run": False})


def test_an_import_is_reported_though_the_next_has_begun(
    context: Context, sources: dict[str, Gated]
) -> None:
    importing = Imports(context, lambda _: None)
    first, second = begin(importing, "a"), begin(importing, "b")
    assert sources["a"].reached.wait(60)
    assert not sources["b"].reached.is_set()
    assert importing.progress(second) == {}
    sources["a"].open()
    assert sources["b"].reached.wait(60)
    assert importing.progress(first)["over"]
    assert "over" not in importing.progress(second)
    sources["b"].open()
    until(lambda: importing.progress(second).get("over"))
    importing.wait()
    assert not importing.at_work()
    assert importing.progress({"name": "unheard"}) == {"lost": True}


def test_the_worker_ends_after_the_step_that_is_under_way_and_no_other_begins(
    context: Context, sources: dict[str, Gated]
) -> None:
    importing = Imports(context, lambda _: None)
    first, second = begin(importing, "a"), begin(importing, "b")
    assert sources["a"].reached.wait(60)
    context.stopping.set()
    ending = threading.Thread(target=importing.wait)
    ending.start()
    assert importing.at_work()
    assert begin(importing, "b") == {"lost": True}
    sources["a"].gate.release()  # one step
    ending.join(60)
    assert not ending.is_alive()
    assert not importing.at_work()
    assert importing.progress(first) == importing.progress(second) == {"lost": True}
    assert sources["a"].done == 1
    assert not sources["b"].reached.is_set()


@pytest.mark.parametrize(("others", "lost"), [(False, False), (True, True)])
def test_an_import_that_nobody_asks_for_goes_on_for_a_while_unless_another_waits(
    context: Context,
    sources: dict[str, Gated],
    others: bool,
    lost: bool,
) -> None:
    importing = Imports(context, lambda _: None)
    first = begin(importing, "a")
    assert sources["a"].reached.wait(60)
    if others:
        begin(importing, "b")
    importing._imports[first["name"]].asked_at = time.monotonic() - imports.OTHERS_SECONDS
    for source in sources.values():
        source.open()
    importing.wait()
    assert importing.progress(first).get("lost", False) is lost


def test_an_import_whose_client_is_gone_ends(context: Context, sources: dict[str, Gated]) -> None:
    importing = Imports(context, lambda _: None)
    first = begin(importing, "a")
    assert sources["a"].reached.wait(60)
    importing._imports[first["name"]].asked_at = time.monotonic() - imports.PATIENCE_SECONDS
    sources["a"].open()
    importing.wait()
    assert sources["a"].done == 1
    assert importing.progress(first) == {"lost": True}


def test_an_import_that_fails_lets_the_next_begin(context: Context, tmp_path: Path) -> None:
    importing = Imports(context, lambda _: None)
    first = begin(importing, str(tmp_path / "missing"))
    second = begin(importing, str(tmp_path))
    importing.wait()
    assert importing.progress(first)["raised"] == "TransferError"
    assert "Not a regular file" in importing.progress(second)["message"]
