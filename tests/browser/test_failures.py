"""What could not be read is not shown as if there were nothing."""

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit

PLACES = {
    "what a session was told": ("**/injected", "/sessions/200", "About this session"),
    "the history of a memory": (
        "**/api/memories-log**",
        "/memories/vat-table-3?project=1",
        "About this memory",
    ),
    "the history of all memories": (
        "**/api/memories-log**",
        "/memories?project=1",
        "Dreams and history",
    ),
}


@pytest.mark.parametrize("what", PLACES)
def test_what_could_not_be_read_is_said(visit: Visit, what: str) -> None:
    route, path, place = PLACES[what]
    watched = visit()
    watched.page.route(route, lambda sent: sent.abort())
    page = watched.open(path)
    expect(page.get_by_label(place)).to_contain_text("This could not be loaded.")
    watched.faults.clear()  # the browser notes the request that failed


def test_what_today_costs_is_unknown_then_and_not_nothing(visit: Visit) -> None:
    watched = visit()
    watched.page.route("**/api/cost**", lambda sent: sent.abort())
    page = watched.open("/now")
    expect(page.get_by_label("Health")).to_contain_text("unknown")
    expect(page.get_by_label("Health")).not_to_contain_text("$0")
    watched.faults.clear()


def test_a_worker_that_does_not_answer_is_not_up_to_date(visit: Visit) -> None:
    watched = visit()
    watched.page.route("**/health", lambda sent: sent.abort())
    page = watched.open("/cost")
    expect(page.locator(".status")).to_contain_text("not responding")
    watched.faults.clear()


def test_a_page_of_a_list_that_is_missing_can_be_tried_again(visit: Visit) -> None:
    watched = visit()
    page = watched.page
    page.route("**/api/sessions?*before=*", lambda sent: sent.abort())
    watched.open("/sessions")
    page.keyboard.press("End")
    expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
    page.unroute("**/api/sessions?*before=*")
    rows = page.get_by_label("Sessions", exact=True).locator("li")
    before = rows.count()
    page.get_by_role("button", name="Try again").click()
    page.wait_for_function("n => document.querySelectorAll('.session-row').length > n", arg=before)
    watched.faults.clear()


def test_the_history_of_a_memory_is_its_own_and_comes_page_by_page(
    visit: Visit, big: Served
) -> None:
    name = "stock-reservation-4"
    for number in range(14):
        one = big.ask("GET", f"/api/memories/{name}?project=1")
        body = {"checksum": one["checksum"], "body": f"{one['body']}\nChange {number}."}
        big.ask("PUT", f"/api/memories/{name}?project=1", body)
    page = visit(f"/memories/{name}?project=1").page
    changes = page.get_by_label("Changes", exact=True).locator("li")
    assert changes.count() == 12
    page.get_by_role("button", name="Show more").click()
    page.wait_for_function("() => document.querySelectorAll('.history li').length >= 14")
    expect(page.locator(".history")).to_contain_text("extracted from a session")


def test_what_is_kept_from_the_brief_says_from_when_it_holds(visit: Visit, big: Served) -> None:
    page = visit("/brief?project=1").page
    page.get_by_role("slider").fill("700")
    page.get_by_role("button", name="Save the token limit").click()
    said = page.locator(".toast")
    expect(said).to_contain_text("brief.tokens is 700")
    (kept,) = [
        each for each in big.ask("GET", "/api/settings")["items"] if each["key"] == "brief.tokens"
    ]
    holds = big.ask("GET", "/api/brief?project=1")["options"]["tokens"] == 700
    assert kept["restart"] == (not holds)
    assert ("from now on" in said.inner_text()) == holds
    big.ask("DELETE", "/api/settings/brief.tokens")
