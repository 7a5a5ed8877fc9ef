"""What happens appears by itself, and nothing moves under the reader's eyes."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Served, serving
from tests.browser.conftest import Visit
from tests.support import big_home
from tests.support.product import work


@pytest.fixture(scope="module")
def big(kept_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A copy of its own: what arrives here is not what the other tests look at."""
    folder = tmp_path_factory.mktemp("live")
    with serving(big_home.copied(kept_home, folder / "home"), folder / "log") as served:
        yield served


def session(big: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prompt: str) -> None:
    """A small session, told to the worker by the real hooks."""
    project = tmp_path / f"project-{uuid.uuid4().hex[:6]}"
    project.mkdir()
    monkeypatch.setenv("RECOLLECT_HOME", str(big.home))
    work(project, str(uuid.uuid4()), prompt=prompt)


def test_a_session_appears_while_it_runs(
    visit: Visit, big: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit("/now").page
    page.mouse.move(5, 500)
    expect(page.locator(".status")).not_to_contain_text("not connected")
    session(big, tmp_path, monkeypatch, "Greet the lighthouse keeper")
    feed = page.get_by_label("Live feed")
    expect(feed).to_contain_text("Greet the lighthouse keeper", timeout=20_000)
    expect(feed.locator("li.entry-observation").first).to_contain_text("hello.py", timeout=20_000)
    expect(page.locator("#live")).to_contain_text("new item")


def test_what_is_new_waits_behind_a_pill_while_somebody_reads(
    visit: Visit, big: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit("/now").page
    expect(page.locator(".status")).not_to_contain_text("not connected")
    feed = page.get_by_label("Live feed")
    line = feed.locator("li").nth(6)
    page.mouse.wheel(0, 300)
    page.wait_for_function("() => window.scrollY > 100")
    text, place = line.inner_text(), line.bounding_box()
    session(big, tmp_path, monkeypatch, "Paint the boathouse")
    pill = page.locator(".pill")
    expect(pill).to_contain_text("new", timeout=20_000)
    assert (line.inner_text(), line.bounding_box()) == (text, place)
    pill.click()
    expect(feed.locator("li", has_text="Paint the boathouse").first).to_be_in_viewport()
    expect(pill).to_have_count(0)


def test_the_focus_stays_where_it_is_while_things_arrive(
    visit: Visit, big: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = visit("/now")
    page = watched.page
    expect(page.locator(".status")).not_to_contain_text("not connected")
    watched.go("j", "j", "j")
    focused = page.evaluate("document.activeElement.innerText")
    session(big, tmp_path, monkeypatch, "Count the oars")
    expect(page.locator(".pill")).to_contain_text("new", timeout=20_000)
    assert page.evaluate("document.activeElement.innerText") == focused
