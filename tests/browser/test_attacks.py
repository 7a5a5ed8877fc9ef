"""Whatever was captured is text. Nothing of it runs, calls out, or changes how the page reads."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.browsing import VIEWS, Served, serving, visiting
from tests.support import hostile_home
from tests.support.hostile_home import ATTACKS
from tests.support.product import fire

# What our own pages never have.
FOREIGN = (
    "script:not([src^='/viewer/']), link:not([href^='/viewer/']), style, base, img, form[action],"
    "iframe, object, embed, [srcdoc], [style*='url'], [onerror], [onload], [onclick], [onfocus],"
    "[onmouseover], [ontoggle], [onbegin],"
    "a[href^='javascript' i], a[href^='data' i], a[href^='//']"
)
TURNING = "\u202e\u202d\u2066\u2067\u200f\x1b\x07\x9b"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    with serving(hostile_home.make(folder / "home"), folder / "log") as served:
        yield served


def inert(page: Page) -> None:
    assert page.locator(FOREIGN).count() == 0, page.locator(FOREIGN).first.evaluate(
        "e => e.outerHTML"
    )
    text = page.evaluate("document.body.innerText")
    assert not [character for character in TURNING if character in text]
    outside = page.locator("a[href^='http']")
    for index in range(outside.count()):
        assert outside.nth(index).get_attribute("rel") == "noopener noreferrer"


def paths(every: int = 1) -> list[str]:
    """The views, and the pages of each attack: on every page of its own, or on one of them in turn."""
    numbers = range(1, len(ATTACKS) + 1)
    own = [
        (
            f"/sessions/{number}",
            f"/observations/{number}",
            f"/memories/nasty-{number - 1}?project=1",
        )
        for number in numbers
    ]
    return [
        *(f"/{view}" for view in VIEWS),
        "/search?q=marker",
        "/search?q=alert",
        "/cost?in=tokens",
        "/memories?project=1",
        *(page for turn, pages in enumerate(own) for page in pages[turn % every :: every]),
    ]


@pytest.mark.quick
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_nothing_stored_runs_anywhere(browser: Browser, hostile: Served, every: int) -> None:
    """T46: every view, in a browser."""
    with visiting(browser, hostile) as watched:
        page = watched.page
        for path in paths(every):
            watched.open(path)
            for details in page.locator("main details:not([open]) > summary").all()[:12]:
                if details.is_visible():
                    details.click()
            for item in page.locator("main [data-item]").all()[:5]:
                if item.is_visible():
                    item.hover()
            inert(page)
            assert watched.faults == [], path


def test_nothing_stored_runs_in_an_editor_or_a_dialog(browser: Browser, hostile: Served) -> None:
    """T46: editors and dialogs."""
    with visiting(browser, hostile) as watched:
        page = watched.page
        for number in range(len(ATTACKS)):
            watched.open(f"/memories/nasty-{number}?project=1")
            watched.go("e")
            page.wait_for_selector(".preview .prose")
            inert(page)
            page.get_by_role("button", name="Cancel").click()
            if page.locator(".history button").count():
                page.locator(".history button").first.click()
                page.wait_for_selector("dialog .diff")
                inert(page)
                watched.go("Escape")
            watched.open(f"/observations/{number + 1}")
            watched.go("m")
            page.wait_for_selector("dialog[open]")
            inert(page)
            watched.go("Escape", "e")
            page.wait_for_selector("form textarea")
            inert(page)
            assert watched.faults == [], ATTACKS[number]


@pytest.mark.parametrize("width", [360, 1280])
def test_no_word_is_too_long_for_the_page(browser: Browser, hostile: Served, width: int) -> None:
    with visiting(browser, hostile, width=width) as watched:
        for path in (
            *paths()[:12],
            "/sessions/12",
            "/observations/12",
            "/memories/nasty-11?project=1",
        ):
            page = watched.open(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        watched.check()


def test_nothing_runs_that_arrives_while_one_watches(
    browser: Browser, hostile: Served, tmp_path: Path
) -> None:
    """T46: over the live stream."""
    project = tmp_path / "live"
    project.mkdir()
    env = {"AFORESAID_HOME": str(hostile.home)}
    with visiting(browser, hostile) as watched:
        page = watched.open("/now")
        for number, attack in enumerate(ATTACKS):
            common = {"session_id": "live-attack", "prompt_id": f"p{number}"}
            prompt = common | {"prompt": f"mark-{number} {attack}"}
            fire("UserPromptSubmit", json.loads(json.dumps(prompt)), project=project, env=env)
            fire("Stop", common | {"last_assistant_message": attack}, project=project, env=env)
        page.mouse.move(5, 400)
        page.wait_for_selector(f"text=mark-{len(ATTACKS) - 1}")
        inert(page)
        watched.check()
