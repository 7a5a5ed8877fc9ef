"""What the page says is for people: what was done, whose it is, and what to do next."""

from playwright.sync_api import expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit
from tests.browser.test_tabs import opened


def test_what_stands_between_backticks_is_code_in_lists_too(visit: Visit, big: Served) -> None:
    words = {"title": "Use `make`", "subtitle": "Run `make check` first. See http://127.0.0.1/x."}
    big.ask("PATCH", "/api/observations/9130", words)
    watched = visit("/observations/9130")
    page = watched.page
    expect(page.locator(".subtitle code")).to_have_text("make check")
    expect(page.locator(".subtitle a")).to_have_text("http://127.0.0.1/x")
    expect(page.locator("h1 code")).to_have_text("make")
    session = big.ask("GET", "/api/observations/9130")["session_id"]
    watched.open(f"/sessions/{session}")
    row = page.locator("a[href='/observations/9130']")
    expect(row.locator(".sub code")).to_have_text("make check")
    watched.open("/search?q=make+check+first")
    expect(page.locator("a.hit[href='/observations/9130']")).not_to_contain_text("`")


def test_what_is_not_there_is_told_without_routes_of_the_api(visit: Visit) -> None:
    for path in ("/observations/999999", "/sessions/999999", "/memories/none?project=1"):
        watched = visit()
        page = watched.open(path)
        expect(page.locator("h1")).to_have_text("Not found")
        expect(page.locator("#main p").first).not_to_be_empty()
        expect(page.locator("#main")).not_to_contain_text("/api/")
        watched.faults.clear()  # the browser notes the answer 404


def test_a_project_that_there_is_not_is_named(visit: Visit) -> None:
    for view in ("memories", "brief", "sessions"):
        page = visit(f"/{view}?project=99").page
        expect(page.locator("h1")).to_have_text("There is no project 99")


def test_under_all_projects_a_view_of_one_says_which_and_why(visit: Visit) -> None:
    watched = visit("/brief")
    page = watched.page
    expect(page.locator("h1")).to_contain_text("the project worked on last")
    watched.open("/memories")
    expect(page.locator("h1")).to_contain_text("the project worked on last")
    named = page.locator("h1 .quiet").inner_text().strip().removeprefix("of ").split(",")[0]
    watched.go("c")
    expect(page.get_by_role("dialog")).to_contain_text(f"New memory of {named}")
    watched.go("Escape")
    watched.open("/memories?project=1")
    expect(page.locator("h1")).not_to_contain_text("worked on last")


def test_the_key_for_undoing_says_what_it_did(visit: Visit) -> None:
    watched = visit("/observations/9131")
    page = watched.page
    watched.go("u")
    expect(page.locator(".toast")).to_contain_text("Nothing to undo")
    watched.go("p")
    expect(page.locator(".toast").last).to_contain_text("Pinned")
    watched.go("u")
    expect(page.locator(".toast").last).to_contain_text("Undone: Pinned")


def test_what_cannot_be_kept_of_the_brief_is_said(visit: Visit, big: Served) -> None:
    page = visit("/brief?project=1").page
    page.get_by_label("Memories").uncheck()
    page.get_by_role("button", name="Save the token limit").click()
    expect(page.locator(".toast")).to_contain_text("The checkboxes only affect")
    big.ask("DELETE", "/api/settings/brief.tokens")


def test_merging_with_what_is_not_found_says_so(visit: Visit) -> None:
    watched = visit("/observations/9132")
    watched.page.route("**/api/search?*", lambda sent: sent.fulfill(json={"hits": []}))
    watched.go("m")
    dialog = watched.page.get_by_role("dialog")
    dialog.get_by_role("searchbox").fill("zzzqqqxxx")
    expect(dialog).to_contain_text("Nothing found in this project")


def test_the_name_stands_on_one_line_on_a_narrow_page(visit: Visit) -> None:
    page = visit("/now", width=345).page
    assert page.locator(".brand").bounding_box()["height"] < 30  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_setting_that_was_changed_elsewhere_is_seen_on_coming_back(
    visit: Visit, big: Served
) -> None:
    page = visit("/settings").page
    big.ask("PUT", "/api/settings/recall.tokens", {"value": 260})
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    field = page.get_by_role("form", name="recall.tokens").get_by_role("textbox")
    expect(field).to_have_value("260")
    big.ask("DELETE", "/api/settings/recall.tokens")


def test_a_worker_that_is_stopped_is_said_until_it_is_back(visit: Visit) -> None:
    watched = visit()
    page = watched.page
    for address in ("**/api/stream", "**/health", "**/pin"):
        page.route(address, lambda sent: sent.abort())
    watched.open("/observations/9133")
    expect(page.locator(".status")).to_contain_text("stopped: run aforesaid open")
    watched.go("p")
    expect(page.locator(".toast.bad code")).to_have_text("aforesaid open")
    page.unroute_all()
    expect(page.locator(".toast.bad")).to_have_count(0, timeout=15_000)
    expect(page.locator(".status")).not_to_contain_text("stopped")
    watched.faults.clear()  # the browser notes the requests that failed


def test_a_view_that_fails_does_not_keep_other_tabs_from_hearing(visit: Visit, big: Served) -> None:
    first = visit("/cost")
    expect(first.page.locator(".dot.good")).to_have_count(1)
    first.page.evaluate(
        "import('/viewer/stream.js').then((it) => it.onHappening(() => { throw new Error('ill'); }))"
    )
    second = opened(first.page, big.root, "/observations/9134")
    expect(second.locator(".dot.good")).to_have_count(1)
    big.ask("POST", "/api/observations/9134/pin", {"pinned": True})
    expect(second.locator(".pill")).to_contain_text("Changed")
    first.faults.clear()  # it is reported, as it should be
