"""Everything can be done without a pointer."""

import pytest
from playwright.sync_api import Route, expect

from tests.browser.browsing import VIEWS, Served
from tests.browser.conftest import Visit

LETTERS = dict(zip(VIEWS, "ntfsmbco", strict=True))
FOCUSED = "document.activeElement.closest('[data-item]')?.getAttribute('href')"


def test_g_and_a_letter_lead_to_every_view(visit: Visit) -> None:
    watched = visit("/settings")
    for view, letter in LETTERS.items():
        watched.go("Escape", "g", letter)  # search has the cursor in its field
        watched.page.wait_for_url(f"**/{view}")
        watched.settled()
        assert watched.page.locator("#nav [aria-current]").get_attribute("href") == f"/{view}"


@pytest.mark.quick
def test_j_k_and_enter_walk_through_a_list_and_open_an_item(visit: Visit) -> None:
    watched = visit("/sessions")
    page = watched.page
    watched.go("j")
    first = page.evaluate(FOCUSED)
    watched.go("j", "j")
    assert page.evaluate(FOCUSED) != first
    watched.go("k", "k")
    assert page.evaluate(FOCUSED) == first
    watched.go("Enter")
    page.wait_for_url(f"**{first}")
    page.go_back()
    page.wait_for_url("**/sessions")


def test_a_slash_begins_a_search_and_its_hits_are_opened_by_keys(visit: Visit) -> None:
    watched = visit("/cost")
    page = watched.page
    watched.go("/")
    page.wait_for_url("**/search")
    watched.settled()
    page.keyboard.type("passkeys")
    page.wait_for_selector("mark")
    watched.go("Escape", "j", "Enter")
    page.wait_for_url("**/*s/*")


def test_keys_do_nothing_while_the_next_page_loads(visit: Visit, big: Served) -> None:
    """The page that is still shown is not the one that the address names."""
    watched = visit("/observations/9140")
    page = watched.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/observations/9141", hold)
    page.evaluate(
        "import('/viewer/router.js').then((all) => { all.navigate('/observations/9141'); })"
    )
    page.wait_for_url("**/observations/9141")
    watched.go("Shift+X", "e", "p")
    page.wait_for_function("() => document.body.classList.contains('busy')")
    while not waiting:
        page.wait_for_timeout(50)
    waiting[0].continue_()
    watched.settled()
    expect(page.locator("#main form")).to_have_count(0)
    for number in (9140, 9141):
        assert not big.ask("GET", f"/api/observations/{number}")["pinned"]


def test_help_opens_with_a_question_mark_and_closes_with_escape(visit: Visit) -> None:
    watched = visit("/now")
    watched.go("?")
    dialog = watched.page.get_by_role("dialog")
    assert "Timeline" in dialog.inner_text()
    watched.go("Escape")
    dialog.wait_for(state="detached")


def test_letters_in_a_field_are_letters(visit: Visit) -> None:
    watched = visit("/search")
    watched.page.keyboard.type("gn?u")
    assert watched.page.get_by_role("searchbox").input_value() == "gn?u"
    assert "/search" in watched.page.url


@pytest.mark.parametrize("path", ["/now", "/timeline", "/memories", "/settings"])
def test_tab_shows_where_it_is(visit: Visit, path: str) -> None:
    watched = visit(path)
    page = watched.page
    for _ in range(12):
        watched.go("Tab")
        outline = page.evaluate(
            "() => { const e = document.activeElement, s = getComputedStyle(e);"
            " return e === document.body || s.outlineStyle !== 'none' || e.matches('.band'); }"
        )
        assert outline, page.evaluate("document.activeElement.outerHTML")


def test_the_skip_link_leads_to_the_content(visit: Visit) -> None:
    watched = visit("/now")
    watched.page.evaluate("document.activeElement.blur()")
    watched.page.locator(".skip").focus()
    watched.go("Enter")
    assert watched.page.evaluate("document.activeElement.id") == "main"
