"""What is read at a glance is right: days, badges, rings around what has the focus, code within a line."""

from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visit


def made(page: Page, module: str, call: str, *given: Any) -> Any:
    """The words that a function of the viewer makes an element or a text of."""
    return page.evaluate(
        "async ([module, call, given]) => {"
        "  const found = (await import(`/viewer/${module}`))[call](...given);"
        "  return found.textContent ?? found; }",
        [module, call, given],
    )


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2026-11-14T08:02:00+00:00", "2 days ago"),
        ("2026-11-15T21:00:00+00:00", "1 day ago"),
        ("2026-11-15T23:00:00+00:00", "23 h ago"),
        ("2026-11-10T01:00:00+00:00", "6 days ago"),
        ("2026-11-09T23:00:00+00:00", "9 Nov"),
    ],
)
def test_days_are_those_of_the_calendar(visit: Visit, then: str, said: str) -> None:
    page = visit("/cost").page
    page.clock.set_fixed_time("2026-11-16T22:00:00Z")
    at = int(datetime.fromisoformat(then).timestamp() * 1000)
    assert made(page, "format.js", "when", at) == said


@pytest.mark.parametrize("width", [1280, 360])
def test_a_badge_stays_on_one_line_beside_what_it_is_about(visit: Visit, width: int) -> None:
    def healed(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        for each in found["evidence"]:
            each["from_transcript"] = True
        route.fulfill(response=answer, json=found)

    watched = visit(width=width)
    page = watched.page
    page.route("**/api/observations/9120", healed)
    watched.open("/observations/9120")
    chip = page.locator(".event .chip", has_text="from the transcript").first
    box = chip.bounding_box()
    assert box is not None
    assert box["height"] <= 20
    row = page.locator(".event > summary").first
    assert row.evaluate("each => each.scrollWidth <= each.clientWidth")
    title = row.locator(".clip").bounding_box()
    assert title is not None
    assert title["width"] >= 100


@pytest.mark.parametrize("width", [1280, 360])
def test_the_ring_around_a_line_is_not_cut_off(visit: Visit, width: int) -> None:
    watched = visit("/search?q=lock", width=width)
    page = watched.page
    expect(page.locator(".hit").first).to_be_visible()
    page.locator(".search-field input").blur()
    watched.go("j")
    beyond = page.locator(".hit:focus-visible").evaluate(
        "row => { const [style, own, line] = [getComputedStyle(row), row.getBoundingClientRect(),"
        "  row.parentElement.getBoundingClientRect()];"
        "  const ring = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);"
        "  return Math.max(line.left - own.left, own.right - line.right) + ring; }"
    )
    shown = page.locator(".long > li").first.evaluate(
        "line => parseFloat(getComputedStyle(line).overflowClipMargin)"
    )
    assert beyond <= shown


def test_a_text_that_is_cut_within_code_ends_its_code_there(visit: Visit) -> None:
    page = visit("/cost").page
    assert made(page, "format.js", "short", "Run `make all` now", 9) == "Run `make…`"
    assert made(page, "format.js", "short", "Run `make` and wait", 13) == "Run `make` an…"


def test_a_backtick_without_its_pair_turns_nothing_around(visit: Visit) -> None:
    page = visit("/cost").page
    code = page.evaluate(
        "async (text) => { const { code, h } = await import('/viewer/dom.js');"
        "  return [...h('p', {}, code(text)).querySelectorAll('code')].map((e) => e.textContent); }",
        "`It ends here… · the `pump` and the `valve`",
    )
    assert code == ["pump", "valve"]
