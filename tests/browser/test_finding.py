"""A search says how much it leaves out, and a filter holds with or without words."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit


def count(page: Page) -> str:
    return page.locator(".count").inner_text()


def test_filters_hold_without_words(visit: Visit, big: Served) -> None:
    watched = visit("/search?file=nothing-like-this.py&agent=nobody")
    expect(watched.page.locator(".results")).to_contain_text("No results")
    fixes = big.ask("GET", "/api/observations?type=bugfix&project=1&limit=50")["items"]
    told = (big.ask("GET", f"/api/observations/{each['id']}") for each in fixes)
    file = next(each["files_modified"][0] for each in told if each["files_modified"])
    page = watched.open(f"/search?file={quote(file)}&type=bugfix&project=1")
    rows = page.locator(".hit")
    expect(rows.first).to_be_visible()
    assert set(page.locator(".hit .type").all_text_contents()) == {"bugfix"}
    assert "with these filters" in count(page)
    first = rows.first.get_attribute("href")
    assert first is not None
    found = big.ask("GET", f"/api{first}")
    assert file in [*found["files_modified"], *found["files_read"]]


def test_a_page_of_results_shows_its_share_of_all_and_more_can_be_loaded(visit: Visit) -> None:
    page = visit("/search?q=why was stock reserved twice").page
    rows = page.locator(".hit")
    before = rows.count()
    assert f"{before} of " in count(page)
    more = page.get_by_role("button", name="Show more")
    more.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("n => document.querySelectorAll('.hit').length >= n + 20", arg=before)
    expect(page.get_by_role("button", name="Show more")).to_be_focused()


def test_the_newest_go_on_page_by_page(visit: Visit) -> None:
    page = visit("/search?type=decision").page
    assert page.locator(".hit").count() == 30
    page.get_by_role("button", name="Show more").click()
    page.wait_for_function("() => document.querySelectorAll('.hit').length === 60")
    assert len(set(page.locator(".hit").evaluate_all("all => all.map(e => e.href)"))) == 60


def test_a_search_that_fails_says_so_and_nothing_else(visit: Visit) -> None:
    watched = visit("/search?q=lock")
    page = watched.page
    page.route("**/api/search**", lambda route: route.abort())
    page.get_by_role("searchbox").fill("lock order")
    expect(page.locator(".results .note.bad")).to_contain_text("does not answer")
    assert count(page) == ""
    watched.faults.clear()  # the browser notes the request that failed


def test_words_for_a_time_are_taken_and_can_be_taken_away(visit: Visit) -> None:
    page = visit("/search?q=lock&since=last+year").page
    expect(page.locator(".hit").first).to_be_visible()
    page.get_by_role("button", name="Without since last year").click()
    expect(page.locator(".chip", has_text="since last year")).to_have_count(0)
    assert "since" not in page.url
    page = visit("/search?q=lock&until=today").page
    expect(page.get_by_role("button", name="Without until today")).to_be_visible()


@pytest.mark.parametrize("wrong", ["type=poem", "since=whenever", "until=whenever"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_filter_that_is_refused_can_be_taken_away(visit: Visit, wrong: str, width: int) -> None:
    watched = visit(f"/search?q=lock&{wrong}", width=width)
    page = watched.page
    value = wrong.partition("=")[2]
    expect(page.locator(".results .note")).to_contain_text(value)
    page.get_by_role("button", name=value).click()
    expect(page.locator(".hit").first).to_be_visible()
    watched.faults.clear()  # the browser notes the answer of 400
