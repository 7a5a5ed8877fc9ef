"""A store for what reads one. It is quick enough for a unit test, and it is the real one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid.store.store import Store
from tests.support.blank import laid
from tests.support.memory import Memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(laid(tmp_path / "store" / "aforesaid.db"), writer=True)
    yield opened
    opened.close()


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")
