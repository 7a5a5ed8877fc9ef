"""Whatever somebody has stored, a page shows it and goes on answering."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Served
from tests.browser.conftest import Visit

LONG = 300_000  # characters
REPEATED = {
    "brackets": "[",
    "two-brackets": "[[",
    "stars": "*",
    "backticks": "`",
    "less-than": "<",
    "underscores": "_",
    "links": "[](",
    "runs": "`a",
    "strong": "**a",
    "hashes": "# #",
    "fences": "```\n",
    "quotes": "> \n",
    "items": "- a\n",
}


@pytest.fixture(scope="module")
def folder(big: Served) -> Path:
    """Where the memories of the first project are."""
    return Path(big.ask("GET", "/api/memories/vat-table-3?project=1")["path"]).parent


@pytest.mark.parametrize("name", REPEATED)
def test_any_text_is_drawn_at_once(visit: Visit, name: str) -> None:
    page = visit("/settings").page
    drawn = page.evaluate(
        """async ([part, size]) => {
          const { markdown } = await import("/viewer/markdown.js");
          const { inline } = await import("/viewer/inline.js");
          const text = part.repeat(size / part.length) + "x";
          const line = document.createElement("p");
          for (const part of inline(text, 1)) line.append(part);
          document.getElementById("main").replaceChildren(markdown(text, 1), line);
          return [line.textContent.length, document.getElementById("main").offsetHeight];
        }""",
        [REPEATED[name], LONG],
    )
    assert min(drawn) > 0


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
