"""Every view on a home with 10,000 observations: it shows what it is for, in both themes, wide and narrow."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.browsing import VIEWS
from tests.browser.conftest import Visit

PATHS = (
    *(f"/{view}" for view in VIEWS),
    "/search?q=lock",
    "/sessions/200",
    "/observations/9990",
    "/memories/address-form-1?project=1",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing_to_complain_of(visit: Visit, path: str, scheme: str) -> None:
    page = visit(path, scheme=scheme).page
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("path", PATHS)
def test_a_phone_never_scrolls_sideways(visit: Visit, path: str) -> None:
    page = visit(path, width=360, height=740).page
    page.wait_for_load_state("load")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.quick
def test_now_shows_health_and_the_newest_session(visit: Visit) -> None:
    page = visit("/now").page
    assert "healthy" in page.get_by_label("Health").inner_text()
    feed = page.get_by_label("Live feed")
    assert feed.locator("li.entry-observation").count() >= 40
    assert "calls:" in feed.locator("li.entry-fold").first.inner_text()


def test_the_timeline_has_bands_marks_and_heat_and_zooms(visit: Visit) -> None:
    watched = visit("/timeline")
    page = watched.page
    # Other tests fold a few of the ten thousand meanwhile.
    shown = page.get_by_label("Activity", exact=True).inner_text()
    assert re.search(r"observations\n(10,000|9,9\d\d)\n", shown), shown
    bands = page.locator(".band")
    assert bands.count() > 5
    before = bands.first.locator("rect.body").bounding_box()
    watched.go("+", "+")
    after = bands.first.locator("rect.body").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"]
    watched.go("-", "-")
    days = page.locator(".day").first.get_attribute("data-day")
    page.get_by_label("Previous two weeks").click()
    page.wait_for_function("d => document.querySelector('.day')?.dataset.day < d", arg=days)
    page.locator(".heat .can").last.click()
    page.wait_for_function("d => document.querySelector('.day')?.dataset.day >= d", arg=days)
    bands.first.click()
    page.wait_for_url("**/sessions/*")


@pytest.mark.quick
def test_search_finds_as_you_type_and_says_why(visit: Visit) -> None:
    page = visit("/search").page
    page.keyboard.type("voucher codes rounded")
    page.wait_for_selector("mark")
    hit = page.locator(".hit").first
    assert "tok" in hit.inner_text()
    assert hit.locator(".reason").count() > 0
    page.get_by_role("button", name="bugfix").click()
    page.wait_for_url("**type=bugfix*")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.hit .type')].every(e => e.textContent === 'bugfix')"
    )
    assert page.locator(".hit").count() > 0


def test_a_list_of_many_comes_page_by_page(visit: Visit) -> None:
    page = visit("/sessions").page
    rows = page.get_by_label("Sessions", exact=True).locator("li")
    assert 50 <= rows.count() < 200
    while rows.count() < 200:
        page.keyboard.press("End")
        page.wait_for_timeout(50)
    assert rows.count() == 200


@pytest.mark.quick
def test_a_session_shows_its_turns_its_events_its_cost_and_what_was_injected(visit: Visit) -> None:
    page = visit("/sessions/200").page
    assert page.locator(".turn").count() == 5
    assert "$" in page.get_by_label("About this session").inner_text()
    assert "newest of the project" in (page.locator(".injected").first.text_content() or "")
    page.get_by_text("as the agent sent them").click()
    page.locator(".event").first.locator("summary").first.click()
    page.locator(".raw summary").first.click()
    page.wait_for_selector(".raw pre >> text=hook_event_name")


@pytest.mark.quick
def test_the_brief_follows_its_knobs(visit: Visit) -> None:
    page = visit("/brief?project=1").page
    text = page.locator(".brief-text")
    assert "<aforesaid-memory" in text.inner_text()
    page.get_by_role("slider").fill("300")
    page.wait_for_function("() => document.querySelector('.brief-text').textContent.length < 1600")
    before = text.inner_text()
    assert "## Memories" in before
    page.get_by_label("Memories").uncheck()
    page.wait_for_function(
        "() => !document.querySelector('.brief-text').textContent.includes('## Memories')"
    )


def test_cost_is_drawn_by_day_and_by_model(visit: Visit) -> None:
    page = visit("/cost").page
    assert page.locator(".day-bar").count() == 30
    page.get_by_role("button", name="90 days").click()
    page.wait_for_url("**days=90*")
    page.wait_for_function("() => document.querySelectorAll('.day-bar').length === 90")
    assert "claude-haiku-4-5" in page.get_by_role("table").first.inner_text()


def test_the_project_that_is_chosen_holds_everywhere(visit: Visit) -> None:
    page = visit("/sessions").page
    page.get_by_label("Project").select_option(label="tide-tables")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.session-row .sub')]"
        ".every(e => e.textContent.startsWith('tide-tables'))"
    )
    page.get_by_role("link", name="Memories").click()
    page.wait_for_selector("h1 >> text=of tide-tables")


def test_the_theme_goes_from_system_to_light_to_dark_and_back_and_is_kept(visit: Visit) -> None:
    watched = visit("/now", scheme="dark")
    page = watched.page
    colour = "getComputedStyle(document.body).backgroundColor"
    button = page.get_by_label("Theme:")
    system = page.evaluate(colour)
    button.click()
    assert page.evaluate(colour) != system
    watched.open("/cost")
    assert page.evaluate(colour) != system
    button.click()
    assert page.evaluate(colour) == system
    button.click()
    expect(button).to_have_accessible_name("Theme: system. Switch to light")
    page.emulate_media(color_scheme="light")
    assert page.evaluate(colour) != system, "it follows the system again"


def test_every_setting_has_a_heading_and_a_label_in_words(visit: Visit) -> None:
    page = visit("/settings").page
    names = page.locator("section.card > h2").all_inner_texts()
    assert all(name[0].isupper() and "." not in name for name in names), names
    labels = page.locator(".setting label").all_inner_texts()
    assert all(label[0].isupper() and "_" not in label for label in labels), labels


def test_the_timeline_comes_back_as_it_was_left(visit: Visit) -> None:
    watched = visit("/timeline")
    page = watched.page
    watched.go("[", "+", "+", "ArrowRight")
    span = page.locator(".head .number")
    expect(span).to_contain_text(":")
    before = span.inner_text()
    page.reload()
    watched.settled()
    expect(span).to_have_text(before)
    watched.go("g", "c")
    page.wait_for_url("**/cost")
    watched.settled()
    page.go_back()
    expect(span).to_have_text(before)


def test_a_list_keeps_its_pages_its_filters_and_its_place(visit: Visit) -> None:
    watched = visit("/sessions")
    page = watched.page
    rows = page.locator("#main ol.long > li")
    expect(rows).to_have_count(50)
    page.mouse.wheel(0, 100_000)
    expect(rows).not_to_have_count(50)
    page.wait_for_function("() => scrollY > 2000 && history.state.scroll === scrollY")
    count, scroll = rows.count(), page.evaluate("scrollY")
    page.reload()
    watched.settled()
    assert rows.count() >= count
    page.wait_for_function("at => Math.abs(scrollY - at) < 5", arg=scroll)
    page.get_by_role("link", name="Memories").click()
    watched.settled()
    page.get_by_label("Filter memories").fill("vat")
    shown = page.locator("#main ol[aria-label=Memories] > li")
    expect(shown.first).to_contain_text("vat", ignore_case=True)
    memories = shown.count()
    page.reload()
    watched.settled()
    expect(shown).to_have_count(memories)
    expect(page.get_by_label("Filter memories")).to_have_value("vat")
    page.go_back()
    watched.settled()
    page.wait_for_function("at => Math.abs(scrollY - at) < 5", arg=scroll)


def test_a_search_keeps_how_much_was_shown(visit: Visit) -> None:
    watched = visit("/search?q=passkeys")
    page = watched.page
    hits = page.locator("ol.hits > li")
    before = hits.count()
    page.get_by_role("button", name="Show more").click()
    expect(hits).not_to_have_count(before)
    shown = hits.count()
    page.reload()
    watched.settled()
    expect(hits).to_have_count(shown)


def test_what_is_not_there_is_said_to_be_missing(visit: Visit) -> None:
    watched = visit("/observations/999999")
    assert "999999" in watched.page.locator("#main").inner_text()
    assert watched.page.get_by_role("button", name="Try again").is_visible()
    (fault,) = watched.faults  # the browser notes every answer of 404
    assert "404" in fault
    watched.faults.clear()


def test_a_first_visit_transfers_little(visit: Visit) -> None:
    """What there is to look at when the first view is drawn, packed as it travels."""
    watched = visit()
    sizes: list[int] = []
    watched.page.on(
        "requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"])
    )
    watched.open("/sessions")
    assert 0 < sum(sizes) < 200_000
