"""A browser has few connections to one host; however many tabs are open, each works and is live."""

from playwright.sync_api import Page, expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit

TABS = 8


def opened(page: Page, root: str, path: str) -> Page:
    tab = page.context.new_page()
    tab.goto(f"{root}{path}", wait_until="commit")
    tab.wait_for_selector("#main:not([aria-busy]) h1", state="attached")
    return tab


def test_eight_tabs_share_one_stream(visit: Visit, big: Served) -> None:
    first = visit("/now").page
    tabs = [first, *(opened(first, big.root, "/observations/9100") for _ in range(TABS - 1))]
    for tab in tabs:
        expect(tab.locator(".dot.good")).to_have_count(1)
    big.ask("POST", "/api/observations/9100/pin", {"pinned": True})
    for tab in tabs[1:]:
        expect(tab.locator(".pill")).to_contain_text("Changed")


def test_another_tab_listens_when_the_one_that_did_is_closed(visit: Visit, big: Served) -> None:
    first = visit("/cost").page
    second, third = (opened(first, big.root, "/observations/9101") for _ in range(2))
    expect(third.locator(".dot.good")).to_have_count(1)
    first.close()
    big.ask("POST", "/api/observations/9101/pin", {"pinned": True})
    for tab in (second, third):
        expect(tab.locator(".pill")).to_contain_text("Changed")
