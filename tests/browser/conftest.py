"""A browser for each module, a big home for the whole run, and a worker for each process of the run."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.browsing import CHROMIUM, MISSING, Served, Watched, serving, visiting
from tests.support import big_home

Visit = Callable[..., Watched]
expect.set_options(timeout=30_000)  # it ends early; a machine that is shared needs it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if CHROMIUM is None and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason=MISSING))


# A module at a time: while it is open, an event loop runs in this thread, and others need theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once for all processes of the run. BIG_HOME names one that was made before."""
    if given := os.environ.get("BIG_HOME"):
        return Path(given)
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "big-home"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "made").exists():
            big_home.make(shared / "home")
            (shared / "made").touch()
    return shared / "home"


@pytest.fixture(scope="session")
def big(kept_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A worker with the viewer over a copy of the big home."""
    folder = tmp_path_factory.mktemp("big")
    with serving(big_home.copied(kept_home, folder / "home"), folder / "log") as served:
        yield served


@pytest.fixture
def visit(browser: Browser, big: Served) -> Iterator[Visit]:
    """A page at the big home; when the test ends nothing may have gone wrong in it."""
    with ExitStack() as stack:
        watched: list[Watched] = []

        def opened(path: str | None = None, **how: object) -> Watched:
            manager: AbstractContextManager[Watched] = visiting(browser, big, **how)  # type: ignore[arg-type]
            watched.append(stack.enter_context(manager))
            if path is not None:
                watched[-1].open(path)
            return watched[-1]

        yield opened
        for each in watched:
            each.check()
