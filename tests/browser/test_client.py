"""A session of the real client, watched in the viewer while it runs."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.conftest import api, installed, new_client, prepared
from tests.acceptance.product import Installation, bash, write
from tests.browser.browsing import Served, serving, visiting
from tests.support.scripted_api import ScriptedApi, Text

__all__ = ["api", "installed", "new_client", "prepared"]  # fixtures of the acceptance tests
pytestmark = pytest.mark.client
ASKED = "Write a tide table for the harbour"


@pytest.fixture
def watched_home(installed: Installation, tmp_path: Path) -> Iterator[Served]:
    installed.cli("worker", "stop")
    with serving(installed.paths.data, tmp_path / "log") as served:
        yield served


def test_a_real_session_is_followed_live(
    api: ScriptedApi, installed: Installation, watched_home: Served, browser: Browser
) -> None:
    api.when(
        ASKED,
        write("tides.py", "HIGH = '06:12'\n"),
        bash("python3 -c 'import tides; print(tides.HIGH)'"),
        Text("High water is at 06:12.\n\nNext step: add low water."),
    )
    with visiting(browser, watched_home) as watched:
        page = watched.open("/now")
        page.mouse.move(5, 400)
        expect(page.locator("#main")).to_contain_text("No activity yet")
        session = threading.Thread(target=installed.client.run, args=(ASKED,))
        session.start()
        feed = page.get_by_label("Live feed")
        expect(feed).to_contain_text(ASKED, timeout=60_000)
        expect(feed).to_contain_text("Write 1", timeout=60_000)
        session.join()
        expect(feed.locator("li.entry-observation").first).to_contain_text(
            "Write a tide table", timeout=60_000
        )
        watched.check()
