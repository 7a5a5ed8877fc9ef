"""What the contracts run on: every writer of the spool, and every kind of store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid.clock import HOUR
from aforesaid.model.jobs import Job
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository
from tests.support.blank import laid
from tests.support.writers import Writer, start_no_worker, writers


@pytest.fixture(params=writers(), ids=lambda writer: writer.name)
def writer(request: pytest.FixtureRequest) -> Writer:
    found: Writer = request.param
    return found


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of a user whose worker is not to be started."""
    state = tmp_path / "aforesaid"
    start_no_worker(state)
    return state


@pytest.fixture(params=["sqlite"])  # PostgreSQL joins here
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    assert request.param == "sqlite"
    opened = Store(laid(tmp_path / "store" / "aforesaid.db"), writer=True)
    yield opened
    opened.close()


@pytest.fixture
def project(store: Store) -> int:
    return store.projects.resolve(repository("shop"), "/home/dev/shop", START)


@pytest.fixture
def told(project: int) -> Told:
    return Told(project)


@pytest.fixture
def job(store: Store, told: Told) -> Job:
    """Of a turn that is over, and claimed."""
    store.events.add([told.prompt("mend the pump"), told.tool("t1"), told.stop()], START)
    claimed = store.jobs.claim("test", START, START + HOUR)
    assert claimed is not None
    return claimed
