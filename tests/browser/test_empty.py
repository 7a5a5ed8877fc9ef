"""A home where nothing has happened yet: every view says what to do next."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.browser.browsing import Served, serving, visiting

NEXT = {
    "now": "aforesaid install",
    "timeline": "aforesaid install",
    "search": "after the first session",
    "sessions": "aforesaid install",
    "memories": "aforesaid remember",
    "brief": "aforesaid install",
    "cost": "aforesaid config set",
}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("empty")
    with serving(folder / "home", folder / "log") as served:
        yield served


@pytest.mark.parametrize("view", NEXT)
def test_an_empty_view_teaches_the_next_step(browser: Browser, empty: Served, view: str) -> None:
    with visiting(browser, empty) as watched:
        page = watched.open(f"/{view}")
        assert NEXT[view] in page.locator("#main").inner_text()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        watched.check()
