"""What somebody has typed is not lost without a question."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Watched
from tests.browser.conftest import Visit

MEMORY = "/memories/vat-table-3?project=1"
TYPED = "My long typed text"


def asked(page: Page) -> None:
    expect(page.locator("dialog.ask")).to_contain_text("Unsaved changes")


def keep_writing(page: Page) -> None:
    asked(page)
    page.get_by_role("button", name="Keep editing").click()
    expect(page.locator("dialog.ask")).to_have_count(0)


def throw_away(page: Page) -> None:
    asked(page)
    page.get_by_role("button", name="Discard").click()


def writing(watched: Watched) -> Page:
    """In a memory's editor, with something in it that is nowhere else."""
    page = watched.page
    watched.go("e")
    area = page.get_by_label("The memory as Markdown")
    expect(area).to_be_focused()
    area.fill(f"{area.input_value()}\n{TYPED}\n")
    return page


def still_there(page: Page) -> None:
    assert TYPED in page.get_by_label("The memory as Markdown").input_value()
    assert page.url.endswith(MEMORY)


LEAVING: dict[str, Callable[[Watched], object]] = {
    "a link": lambda w: w.page.get_by_role("link", name="Now", exact=False).first.click(),
    "the way back": lambda w: w.page.evaluate("history.back()"),
    "a key": lambda w: [w.page.evaluate("document.activeElement.blur()"), *map(w.go, "gn")],
    "Esc": lambda w: w.go("Escape"),
    "another project": lambda w: w.page.get_by_label("Project").select_option(label="tide-tables"),
}


@pytest.mark.parametrize("way", LEAVING)
def test_leaving_what_is_not_saved_is_asked_about(visit: Visit, way: str) -> None:
    watched = visit("/cost")
    watched.page.evaluate(f"import('/viewer/router.js').then((it) => it.navigate('{MEMORY}'))")
    watched.page.wait_for_url("**/memories/*")
    watched.settled()
    page = writing(watched)
    LEAVING[way](watched)
    keep_writing(page)
    still_there(page)
    LEAVING[way](watched)
    throw_away(page)
    expect(page.get_by_label("The memory as Markdown")).to_have_count(0)
    assert page.url.endswith(MEMORY) == (way == "Esc")


def test_closing_the_page_is_asked_about(visit: Visit) -> None:
    watched = visit(MEMORY)
    page = writing(watched)
    with page.expect_event("dialog") as asked_by_the_browser:
        page.close(run_before_unload=True)
    assert asked_by_the_browser.value.type == "beforeunload"
    watched.faults.clear()  # a dialog of the browser is one everywhere else


def test_what_was_not_changed_is_left_without_a_question(visit: Visit) -> None:
    watched = visit(MEMORY)
    watched.go("e")
    expect(watched.page.get_by_label("The memory as Markdown")).to_be_focused()
    watched.go("Escape")
    expect(watched.page.get_by_role("button", name="Edit", exact=True)).to_be_focused()
    watched.go("e")
    watched.page.get_by_role("link", name="Cost").click()
    watched.page.wait_for_url("**/cost")


def test_no_letter_acts_on_the_page_under_an_open_form(visit: Visit) -> None:
    watched = visit("/observations/9110")
    page = watched.page
    watched.go("e")
    title = page.get_by_label("Title", exact=True)
    title.fill(TYPED)
    page.locator("h1").click()  # out of the field, which is still open
    page.evaluate("document.activeElement.blur()")
    watched.go("p", "m", "Shift+X")
    expect(title).to_have_value(TYPED)
    assert page.locator("dialog, .toast").count() == 0
    assert page.url.endswith("/observations/9110")
    watched.go("e")
    expect(title).to_be_focused()
    watched.go("Escape")
    keep_writing(page)
    expect(title).to_have_value(TYPED)
    watched.go("Escape")
    throw_away(page)
    expect(title).to_have_count(0)


def test_a_new_memory_and_a_setting_are_asked_about_too(visit: Visit) -> None:
    watched = visit("/memories?project=1")
    page = watched.page
    page.get_by_role("button", name="New memory").click()
    page.get_by_label("What to remember").fill(TYPED)
    watched.go("Escape")
    keep_writing(page)
    expect(page.get_by_label("What to remember")).to_have_value(TYPED)
    page.get_by_role("button", name="Cancel").click()
    throw_away(page)
    watched.open("/settings")
    field = page.get_by_role("form", name="recall.tokens").get_by_role("textbox")
    field.fill("123")
    page.get_by_role("link", name="Cost").click()
    keep_writing(page)
    expect(field).to_have_value("123")
    field.fill("300")  # as it was
    page.get_by_role("link", name="Cost").click()
    page.wait_for_url("**/cost")
