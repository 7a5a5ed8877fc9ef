"""Whatever somebody has stored, a page shows it and goes on answering."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from aforesaid.web.markdown import parse_line, parse_markdown
from tests.browser.browsing import Served
from tests.browser.conftest import Visit

LONG = 300_000  # characters
REPEATED = ("[", "[[", "*", "`", "<", "_", "[](", "`a", "**a", "# #", "```\n", "> \n", "- a\n")


@pytest.fixture(scope="module")
def folder(big: Served) -> Path:
    """Where the memories of the first project are."""
    return Path(big.ask("GET", "/api/memories/vat-table-3?project=1")["path"]).parent


def test_any_text_is_drawn(visit: Visit) -> None:
    page = visit("/settings").page
    for part in REPEATED:
        text = part * (LONG // len(part)) + "x"
        drawn = page.evaluate(
            """async ([block, line]) => {
              const { markdown } = await import("/viewer/markdown.js");
              const { h, replace } = await import("/viewer/dom.js");
              const main = document.getElementById("main");
              replace(main, h("div", { class: "prose" }, markdown(block, 1)), h("p", {}, markdown(line, 1)));
              return main.lastChild.textContent.length;
            }""",
            [parse_markdown(text), parse_line(text)],
        )
        assert drawn > 0, part


def test_a_memory_as_large_as_may_be_is_read_and_edited(visit: Visit, folder: Path) -> None:
    head = "---\nname: large\ndescription: Large\ntype: project\n---\n\n"
    file = folder / "large.md"
    file.write_text(f"{head}{'[[' * 60_000}\n\n{'- a `b`' * 15_000}\n\nThe end.\n")
    try:
        watched = visit("/memories/large?project=1")
        page = watched.page
        expect(page.locator(".prose")).to_contain_text("The end.")
        watched.go("e")
        expect(page.locator(".preview .prose")).to_contain_text("The end.")
        watched.go("Escape")
        expect(page.locator(".preview")).to_have_count(0)
    finally:
        file.unlink()


def test_markdown_is_read_as_people_mean_it(visit: Visit, folder: Path) -> None:
    file = folder / "as-meant.md"
    file.write_text(
        "---\nname: as-meant\ndescription: As meant\ntype: project\n---\n\n"
        "# Head #\n\nA `code` and ``two ` of them``, **strong**, *em*, _em_, snake_case_name, 2 * 3 * 4,\n"
        "[a page](https://example.com/x), [[vat-table-3]], https://example.com/y and [none](javascript:x).\n"
    )
    try:
        page = visit("/memories/as-meant?project=1").page
        prose = page.locator(".prose")
        expect(prose.locator("h2")).to_have_text("Head")
        expect(prose.locator("code")).to_have_text(["code", "two ` of them"])
        expect(prose.locator("strong")).to_have_text(["strong"])
        expect(prose.locator("em")).to_have_text(["em", "em"])
        expect(prose).to_contain_text("snake_case_name, 2 * 3 * 4,")
        expect(prose).to_contain_text("[none](javascript:x)")
        assert [each.get_attribute("href") for each in prose.locator("a").all()] == [
            "https://example.com/x",
            "/memories/vat-table-3?project=1",
            "https://example.com/y",
        ]
    finally:
        file.unlink()
