"""What comes late, twice or only in part: the page shows what was asked for last."""

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.test_unsaved import MEMORY, asked, still_there, throw_away, writing


def held(page: Page, address: str) -> list[Route]:
    """Requests that wait until they are let go, in the order in which they came."""
    waiting: list[Route] = []

    def hold(sent: Route) -> None:
        waiting.append(sent)

    page.route(address, hold)
    return waiting


def come(page: Page, waiting: list[Route], count: int) -> None:
    for _ in range(200):
        if len(waiting) >= count:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(waiting)} of {count} were asked for")


def test_what_is_typed_last_does_not_change_the_address_of_the_next_view(visit: Visit) -> None:
    watched = visit("/search")
    page = watched.page
    page.evaluate(
        """async () => {
            const field = document.querySelector("#main input[type=search]");
            field.value = "tide";
            field.dispatchEvent(new Event("input"));
            document.querySelector("#nav a[href='/cost']").click();
        }"""
    )
    page.wait_for_function("() => document.title.startsWith('Cost')")
    page.wait_for_timeout(200)  # more than a search waits for the next letter
    assert page.url.endswith("/cost")


def test_show_more_pressed_twice_shows_each_once(visit: Visit) -> None:
    page = visit("/search").page
    waiting = held(page, "**/api/observations?*before=*")
    more = page.get_by_role("button", name="Show more")
    more.click()
    more.click(force=True)
    come(page, waiting, 1)
    page.wait_for_timeout(100)
    for each in waiting:
        each.continue_()
    rows = page.get_by_label("Hits", exact=True).locator("a.hit")
    expect(rows.nth(59)).to_be_attached()
    page.wait_for_timeout(300)  # a second page would have come by now
    expect(rows).to_have_count(60)
    addresses = rows.evaluate_all("all => all.map((each) => each.getAttribute('href'))")
    assert len(set(addresses)) == 60


def test_more_of_the_newest_does_not_mix_with_what_is_searched_for_meanwhile(visit: Visit) -> None:
    page = visit("/search").page
    waiting = held(page, "**/api/observations?*before=*")
    page.get_by_role("button", name="Show more").click()
    come(page, waiting, 1)
    page.get_by_role("searchbox").fill("vat table")
    expect(page.locator(".count")).to_contain_text("tokens in total")
    before = page.locator("a.hit").count()
    waiting[0].continue_()
    page.wait_for_timeout(300)
    assert page.locator("a.hit").count() == before


def test_an_answer_that_was_cut_off_is_not_taken_for_an_empty_one(visit: Visit) -> None:
    watched = visit()
    watched.page.route(
        "**/api/settings",
        lambda sent: sent.fulfill(status=200, content_type="application/json", body='{"items": ['),
    )
    page = watched.open("/settings")
    expect(page.locator("#main")).to_contain_text("The worker does not answer")


def test_the_brief_shows_what_was_asked_for_last(visit: Visit) -> None:
    page = visit("/brief?project=1").page
    total = page.get_by_label("The brief").first.locator(".card-head .number")
    waiting = held(page, "**/api/brief?*")
    slider = page.get_by_role("slider")
    slider.fill("300")
    come(page, waiting, 1)
    slider.fill("900")
    come(page, waiting, 2)
    waiting[1].continue_()
    expect(total).to_contain_text("of 900 tokens")
    waiting[0].continue_()
    page.wait_for_timeout(300)
    expect(total).to_contain_text("of 900 tokens")


def test_the_timeline_shows_the_days_that_were_asked_for_last(visit: Visit) -> None:
    watched = visit("/timeline")
    page = watched.page
    waiting = held(page, "**/api/timeline?*")
    watched.go("[")
    come(page, waiting, 1)
    watched.go("[")
    come(page, waiting, 2)
    waiting[1].continue_()
    page.wait_for_timeout(300)
    days = page.locator("[data-day]").evaluate_all("all => all.map((each) => each.dataset.day)")
    waiting[0].continue_()
    page.wait_for_timeout(300)
    now = page.locator("[data-day]").evaluate_all("all => all.map((each) => each.dataset.day)")
    assert now == days


def test_the_timeline_zooms_around_the_band_that_is_selected(visit: Visit) -> None:
    watched = visit("/timeline")
    page = watched.page
    watched.go("j", "j")
    chosen = page.evaluate("document.activeElement.getAttribute('href')")
    assert chosen.startswith("/sessions/")
    for _ in range(5):
        watched.go("+")
        assert page.evaluate("document.activeElement.getAttribute('href')") == chosen
    expect(page.locator(".head .number")).to_contain_text(":")  # the hours that are shown
    box = page.locator(f"a.band[href='{chosen}'] rect.body").first.bounding_box()
    picture = page.locator("svg.bands").first.bounding_box()
    assert box is not None
    assert picture is not None
    # A session that goes past midnight is drawn to the end of its first day.
    end = min(box["x"] + box["width"], picture["x"] + picture["width"])
    assert (
        picture["x"] <= (max(box["x"], picture["x"]) + end) / 2 <= picture["x"] + picture["width"]
    )
    assert box["x"] < end


def test_the_timeline_zooms_to_where_something_is(visit: Visit) -> None:
    def at_night(sent: Route) -> None:
        found = sent.fetch().json()
        for each in found["sessions"]:
            begin = each["from"] - each["from"] % 86_400_000 + 3 * 3_600_000
            each |= {"from": begin, "to": begin + 600_000, "marks": []}
        sent.fulfill(json=found)

    watched = visit()
    watched.page.route("**/api/timeline?*", at_night)
    watched.open("/timeline")
    for _ in range(7):
        watched.go("+")
    assert watched.page.locator("a.band").count() > 0


def test_back_pressed_twice_asks_once(visit: Visit) -> None:
    watched = visit("/cost")
    page = watched.page
    for address in ("/settings", MEMORY):
        page.evaluate(f"import('/viewer/router.js').then((it) => it.navigate('{address}'))")
        page.wait_for_url(f"**{address}")
        watched.settled()
    writing(watched)
    page.evaluate("history.back()")
    asked(page)
    page.evaluate("history.back()")
    page.wait_for_timeout(300)
    expect(page.locator("dialog.ask")).to_have_count(1)
    still_there(page)
    throw_away(page)
    page.wait_for_url("**/settings")
    expect(page.locator("dialog.ask")).to_have_count(0)


def test_a_day_of_25_hours_is_one_day_and_its_evening_is_in_the_picture(visit: Visit) -> None:
    found = visit("/timeline").page.evaluate(
        """async () => {
            const [format, bands] = [await import("/viewer/format.js"), await import("/viewer/bands.js")];
            const day = "2026-10-25", next = format.midnight(day, 1);
            return [
                (next - format.midnight(day)) / 3_600_000,
                format.localDay(next),
                bands.hourOf(next - 1_800_000, day),
            ];
        }"""
    )
    assert found == [25, "2026-10-26", 23.5]
