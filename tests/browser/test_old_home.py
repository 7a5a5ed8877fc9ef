"""A home in which nothing has happened for months still has all of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from aforesaid import clock
from aforesaid.clock import DAY
from tests.browser.browsing import Served, serving, visiting
from tests.support import big_home

AGO = 500 * DAY


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    now = clock.now
    with monkeypatch.context() as then:
        then.setattr(clock, "now", lambda: now() - AGO)
        home = big_home.make(tmp_path / "home", sessions=12, per_session=60)
    with serving(home, tmp_path / "log") as served:
        yield served


def test_the_timeline_says_when_the_last_session_was_and_leads_there(
    browser: Browser, old: Served
) -> None:
    with visiting(browser, old) as watched:
        page = watched.open("/timeline")
        main = page.locator("#main")
        expect(main).to_contain_text("No sessions in this period. The last one was on")
        expect(main).not_to_contain_text("aforesaid install")
        page.get_by_role("button", name="Go there").click()
        expect(page.locator(".band").first).to_be_visible()
        watched.check()
