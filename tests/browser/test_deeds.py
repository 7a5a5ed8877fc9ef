"""What readers do to what is remembered, and take back."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Served, Watched
from tests.browser.conftest import Visit


def toast(page: Page) -> str:
    page.wait_for_selector(".toast")
    return page.locator(".toast").last.inner_text()


def shown(watched: Watched, title: str) -> None:
    expect(watched.page.locator("h1")).to_have_text(title)


def words(it: dict[str, Any]) -> list[Any]:
    return [it[name] for name in ("title", "subtitle", "facts", "doubts", "edited", "edits")]


@pytest.mark.quick
def test_an_observation_is_edited_and_the_edit_undone(visit: Visit, big: Served) -> None:
    as_it_was = words(big.ask("GET", "/api/observations/9001"))
    watched = visit("/observations/9001")
    page = watched.page
    before = page.locator("h1").inner_text()
    watched.go("e")
    page.get_by_label("Title", exact=True).fill("A better title")
    page.get_by_label("Facts, one per line").fill("One fact\nAnother `fact`")
    watched.go("Control+Enter")
    shown(watched, "A better title")
    expect(page.locator(".facts li")).to_have_text(["One fact", "Another fact"])
    expect(page.locator(".crumbs")).to_contain_text("edited")
    watched.go("u")
    shown(watched, before)
    expect(page.locator(".crumbs")).not_to_contain_text("edited")
    assert words(big.ask("GET", "/api/observations/9001")) == as_it_was


def test_an_edit_is_taken_back_later(visit: Visit, big: Served) -> None:
    before = big.ask("GET", "/api/observations/9005")["title"]
    big.ask("PATCH", "/api/observations/9005", {"title": "Not what I meant"})
    watched = visit("/observations/9005")
    watched.page.get_by_role("button", name="undo edit").click()
    shown(watched, before)


def test_an_observation_is_pinned_and_let_go(visit: Visit) -> None:
    watched = visit("/observations/9002")
    button = watched.page.locator("button[aria-pressed]")
    watched.go("p")
    expect(button).to_have_attribute("aria-pressed", "true")
    watched.go("u")
    expect(button).to_have_attribute("aria-pressed", "false")


def test_two_observations_are_merged_and_parted_again(visit: Visit) -> None:
    watched = visit("/observations/9003")
    page = watched.page
    title = page.locator("h1").inner_text()
    watched.go("m")
    picks = page.get_by_label("Merge into", exact=True).locator("button")
    target = picks.first.locator(".title").inner_text()
    picks.first.click()
    shown(watched, target)
    expect(page.get_by_label("About this observation")).to_contain_text("#9003")
    watched.go("u")
    shown(watched, title)
    expect(page.locator(".crumbs")).not_to_contain_text("merged")


@pytest.mark.quick
def test_an_observation_is_forgotten_and_comes_back(visit: Visit) -> None:
    watched = visit("/observations/9004")
    page = watched.page
    title = page.locator("h1").inner_text()
    watched.go("Shift+X")
    page.wait_for_url("**/sessions/*")
    assert "Hidden" in toast(page)
    assert page.locator('a[href="/observations/9004"]').count() == 0
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url("**/observations/9004")
    shown(watched, title)


def test_what_is_forgotten_with_it_is_counted(visit: Visit, big: Served) -> None:
    for number in (9007, 9008):
        big.ask("POST", f"/api/observations/{number}/merge", {"into": 9006})
    watched = visit("/observations/9006")
    watched.go("Shift+X")
    assert "2 duplicates" in toast(watched.page)


def test_a_memory_is_written_changed_looked_back_at_and_retired(visit: Visit) -> None:
    watched = visit("/memories?project=1")
    page = watched.page
    page.get_by_role("button", name="New memory").click()
    page.get_by_label("What to remember").fill("The harbour master calls on Fridays.")
    page.get_by_label("Type", exact=True).last.select_option("reference")
    page.get_by_role("button", name="Remember").click()
    page.wait_for_url("**/memories/*")
    watched.settled()
    address = page.url
    watched.go("e")
    area = page.get_by_label("The memory as Markdown")
    area.fill(area.input_value().rstrip() + "\n\n## When\n\n- at **noon**\n")
    expect(page.locator(".preview strong")).to_have_text("noon")
    watched.go("Control+Enter")
    expect(area).to_have_count(0)
    expect(page.locator(".prose strong")).to_have_text("noon")
    page.locator(".history button").first.click()
    expect(page.locator(".diff .added").filter(has_text="noon")).to_have_count(1)
    page.get_by_role("button", name="Undo this change").click()
    expect(page.locator(".prose strong")).to_have_count(0)
    page.wait_for_timeout(1_000)  # the page looks once more at what it is told has changed
    watched.go("Shift+X")
    page.wait_for_url("**/memories")
    watched.go("u")
    page.wait_for_url(address)
    watched.settled()


@pytest.mark.quick
def test_who_saved_meanwhile_is_not_overwritten(visit: Visit, big: Served) -> None:
    watched = visit("/memories/voucher-codes-5?project=1")
    page = watched.page
    path = page.evaluate(
        "async () => (await (await fetch('/api/memories/voucher-codes-5?project=1')).json()).path"
    )
    watched.go("e")
    area = page.get_by_label("The memory as Markdown")
    area.fill(area.input_value() + "\nMine.\n")
    with open(path, "a") as file:  # noqa: PTH123
        file.write("\nTheirs.\n")
    watched.go("Control+Enter")
    expect(page.get_by_role("alert").first).to_contain_text("changed meanwhile")
    assert "Mine." in area.input_value()
    watched.faults.clear()  # the browser notes the answer 409
    page.get_by_role("button", name="Use theirs").click()
    assert "Theirs." in area.input_value()
    area.fill(area.input_value() + "\nBoth.\n")
    watched.go("Control+Enter")
    expect(page.locator(".prose")).to_contain_text("Both.")
    expect(page.locator(".prose")).to_contain_text("Theirs.")


def test_who_edited_an_observation_meanwhile_is_not_overwritten(visit: Visit, big: Served) -> None:
    path = "/api/observations/9120"
    watched = visit("/observations/9120")
    page = watched.page
    for button, title in (("Overwrite with mine", "Mine"), ("Use theirs", "Theirs")):
        watched.go("e")
        page.get_by_label("Title", exact=True).fill("Mine")
        page.get_by_label("Narrative").fill(f"Mine, {button}")
        big.ask("PATCH", path, {"title": "Theirs"})
        page.get_by_role("button", name="Save").first.click()
        note = page.locator(".note.bad")
        expect(note).to_contain_text("changed meanwhile")
        note.get_by_text("Show the other version").click()
        expect(note.locator("pre")).to_contain_text("Theirs")
        watched.faults.clear()  # the browser notes the answer 409
        page.get_by_role("button", name=button).click()
        expect(page.locator("h1")).to_have_text(title)
        expect(page.get_by_role("form")).to_have_count(0)


def test_white_space_alone_is_no_edit(visit: Visit) -> None:
    watched = visit("/observations/9121")
    watched.go("e")
    title = watched.page.get_by_label("Title", exact=True)
    title.fill(f"{title.input_value()}  ")
    watched.page.get_by_role("button", name="Save").click()
    expect(title).to_have_count(0)
    expect(watched.page.locator("dialog")).to_have_count(0)


def test_a_dream_is_tried_without_changing_anything(visit: Visit) -> None:
    page = visit("/memories?project=1").page
    before = page.locator(".history li").count()
    page.get_by_role("button", name="Dry run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("What a dream would change")
    dialog.get_by_role("button", name="Close").click()
    assert page.locator(".history li").count() == before


def test_a_setting_is_checked_kept_and_given_back(visit: Visit) -> None:
    watched = visit("/settings")
    page = watched.page
    row = page.get_by_role("form", name="recall.tokens")
    field = row.get_by_role("textbox")
    field.fill("many")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("status")).to_contain_text("number")
    expect(field).to_have_attribute("aria-invalid", "true")
    watched.faults.clear()  # the browser notes the answer 400
    field.fill("250")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("changed")
    row.get_by_role("button", name="Reset to default").click()
    expect(row.get_by_role("textbox")).to_have_value("300")


def test_a_secret_goes_in_and_never_comes_out(visit: Visit) -> None:
    watched = visit("/settings")
    page = watched.page
    answers: list[str] = []
    page.on("response", lambda answer: answers.append(answer.url))
    row = page.get_by_role("form", name="synthesis.api_key")
    row.locator("input").fill("sk-very-secret")
    row.get_by_role("button", name="Save").click()
    expect(row.locator("input")).to_have_attribute("placeholder", "set; type to replace it")
    assert row.locator("input").input_value() == ""
    told = page.evaluate("async () => (await fetch('/api/settings')).text()")
    assert "sk-very-secret" not in told
    assert "sk-very-secret" not in page.content()
    row.get_by_role("button", name="Reset to default").click()
    expect(row.locator("input")).to_have_attribute("placeholder", "not set")
