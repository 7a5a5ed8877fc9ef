"""A page that stays open while the worker stops and starts again."""

from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from tests.browser.browsing import Watched, serving, visiting

SLOW = 30_000  # milliseconds: the browser tries the stream again every few seconds


def begun(page: Page) -> None:
    expect(page.locator(".dot.good")).to_have_count(1, timeout=SLOW)


def opened_and_stopped(stack: ExitStack, browser: Browser, folder: Path) -> tuple[Watched, int]:
    with serving(folder / "home", folder / "log") as served:
        watched = stack.enter_context(visiting(browser, served))
        begun(watched.open("/now"))
        expect(watched.page.get_by_label("Health")).to_contain_text("healthy")
        port = urlsplit(served.root).port
    assert port is not None
    return watched, port


def test_now_claims_no_health_while_nobody_answers(browser: Browser, tmp_path: Path) -> None:
    with ExitStack() as stack:
        watched, port = opened_and_stopped(stack, browser, tmp_path)
        health = watched.page.get_by_label("Health")
        expect(watched.page.locator(".status")).to_contain_text("stopped", timeout=SLOW)
        expect(health).to_contain_text("does not answer", timeout=SLOW)
        expect(health).not_to_contain_text("healthy")
        with serving(tmp_path / "home", tmp_path / "log", port):
            begun(watched.page)
            expect(health).to_contain_text("healthy", timeout=SLOW)


def test_a_view_that_was_not_sent_appears_once_the_worker_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    """The browser keeps the failure of a module: only a page that is loaded again asks for it again."""
    with ExitStack() as stack:
        watched, port = opened_and_stopped(stack, browser, tmp_path)
        page, main = watched.page, watched.page.locator("#main")
        watched.go("g", "s")
        expect(main).to_contain_text("The worker does not answer")
        page.get_by_role("button", name="Try again").click()
        expect(main).to_contain_text("The worker does not answer")
        with serving(tmp_path / "home", tmp_path / "log", port):
            expect(main).to_contain_text("No sessions yet", timeout=SLOW)
            begun(page)
            watched.go("g", "c")
            expect(main).to_contain_text("No cost")


def test_a_view_that_never_comes_is_not_asked_for_without_end(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        serving(tmp_path / "home", tmp_path / "log") as served,
        visiting(browser, served) as watched,
    ):
        asked: list[str] = []
        page = watched.open("/now")
        page.route("**/views/sessions.js", lambda sent: sent.abort())
        page.on(
            "request", lambda sent: asked.append(sent.url if sent.is_navigation_request() else "")
        )
        watched.go("g", "s")
        expect(page.locator("#main")).to_contain_text("Something went wrong", timeout=SLOW)
        assert [urlsplit(each).path for each in asked if each] == [
            "/sessions"
        ]  # once more, and no oftener
