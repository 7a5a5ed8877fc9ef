"""Links say which project they mean, and one that was followed does not change the reader's choice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit


def picked(page: Page) -> str:
    return page.get_by_label("Project").evaluate("e => e.selectedOptions[0].textContent")  # type: ignore[no-any-return]


@pytest.fixture
def filed(big: Served) -> Iterator[Path]:
    """A memory of the second project: it names files and other memories."""
    folder = Path(big.ask("GET", "/api/memories?project=2")["items"][0]["name"])
    one = big.ask("GET", f"/api/memories/{folder}?project=2")
    file = Path(one["path"]).parent / "filed.md"
    file.write_text(
        "---\nname: filed\ndescription: It names files\ntype: project\n"
        "files:\n  src/app.py: abc\n  docs/x.md: def\n---\n\n"
        f"See [[{one['name']}]]. A quokka smiles.\n"
    )
    yield file
    file.unlink()


def test_a_memory_shows_its_files_and_links_stay_in_its_project(visit: Visit, filed: Path) -> None:
    page = visit("/memories/filed?project=2").page
    files = page.get_by_label("About this memory").locator("li.mono")
    expect(files).to_have_text(["src/app.py", "docs/x.md"])
    link = page.locator(".prose a")
    assert "project=2" in (link.get_attribute("href") or "")
    link.click()
    page.wait_for_url("**project=2")
    expect(page.locator("h1")).not_to_have_text("Not found")


def test_a_memory_that_is_found_is_opened_in_its_project(visit: Visit, filed: Path) -> None:
    page = visit("/search?q=quokka+smiles&project=2").page
    hit = page.locator(".hit", has_text="It names files")
    assert hit.get_attribute("href") == "/memories/filed?project=2"


def test_what_was_injected_is_opened_in_its_project(visit: Visit, big: Served) -> None:
    sessions = big.ask("GET", "/api/sessions?limit=50&project=2")["items"]
    injected = {
        each["id"]: [
            item
            for item in big.ask("GET", f"/api/sessions/{each['id']}/injected")["items"]
            if item["kind"] == "memory"
        ]
        for each in sessions
    }
    number, items = next((number, items) for number, items in injected.items() if items)
    page = visit(f"/sessions/{number}").page
    hrefs = page.locator(".injected a").evaluate_all("all => all.map(e => e.getAttribute('href'))")
    assert f"/memories/{items[0]['name']}?project={items[0]['project_id'] or 0}" in hrefs


def test_a_project_in_the_address_holds_for_that_view_only(visit: Visit) -> None:
    page = visit("/brief?project=2").page
    assert picked(page) == "tide-tables"
    page.get_by_role("link", name="Sessions").click()
    page.wait_for_url("**/sessions")
    expect(page.locator("h1")).to_have_text("Sessions")
    assert picked(page) == "All projects"
    names = page.locator(".session-row .sub").all_inner_texts()
    assert len({name.split(" · ")[0] for name in names}) > 1


def test_who_chooses_a_project_leaves_the_one_in_the_address(visit: Visit) -> None:
    page = visit("/brief?project=2").page
    page.get_by_label("Project").select_option(label="field-notes")
    expect(page.locator("h1")).to_contain_text("field-notes")
    assert page.url.endswith("/brief")
    page.get_by_role("link", name="Memories").click()
    expect(page.locator("h1")).to_contain_text("field-notes")
