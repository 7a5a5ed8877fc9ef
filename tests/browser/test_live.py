"""What happens appears by itself, and nothing moves under the reader's eyes."""

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Served, serving
from tests.browser.conftest import Visit
from tests.support import big_home
from tests.support.product import until, work


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
    monkeypatch.setenv("AFORESAID_HOME", str(big.home))
    work(project, str(uuid.uuid4()), prompt=prompt)


@pytest.mark.quick
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


def known(big: Served, ref: str) -> int | None:
    listed = big.ask("GET", "/api/sessions?limit=5")["items"]
    return next((each["id"] for each in listed if each["ref"] == ref), None)


def newest_title(big: Served, ref: str) -> str:
    events = f"/api/sessions/{known(big, ref)}/events?order=newest&limit=1"
    return str(big.ask("GET", events)["items"][0]["title"])


def test_now_shows_the_newest_of_a_long_session(visit: Visit, big: Served, tmp_path: Path) -> None:
    ref = str(uuid.uuid4())
    place = f"/sessions/{ref}"
    for number, prompt in enumerate(("Count to four hundred and fifty", "Say the last word")):
        big.ask("POST", f"{place}/init", {"project": str(tmp_path), "prompt": prompt})
        for step in range(1 if number else 450):
            call = {"tool_name": "Bash", "tool_input": {"command": f"echo {prompt} {step}"}}
            big.ask("POST", f"{place}/observations", call | {"tool_response": "x"})
    until(lambda: "Say the last word 0" in newest_title(big, ref))  # it is indexed
    page = visit("/now").page
    feed = page.get_by_label("Live feed")
    newest = feed.locator("li.entry-fold").first
    expect(newest).to_contain_text("1 call: Bash 1", timeout=20_000)
    expect(feed.locator("li.entry-fold").nth(1)).to_contain_text(re.compile(r"the last 39\d calls"))
    newest.locator("summary").first.click()
    expect(newest).to_contain_text("Say the last word 0")


def test_a_session_offers_its_new_prompts_and_summaries(
    visit: Visit, big: Served, tmp_path: Path
) -> None:
    ref = str(uuid.uuid4())
    big.ask("POST", f"/sessions/{ref}/init", {"project": str(tmp_path), "prompt": "Mend the net"})
    number = until(lambda: known(big, ref))
    page = visit(f"/sessions/{number}").page
    expect(page.locator(".dot.good")).to_have_count(1)
    big.ask("POST", f"/sessions/{ref}/init", {"project": str(tmp_path), "prompt": "Dry the net"})
    pill = page.locator(".pill")
    expect(pill).to_contain_text("1 new: show", timeout=20_000)
    expect(page.locator("#main")).not_to_contain_text("Dry the net")
    pill.click()
    expect(page.locator(".turn").last).to_contain_text("Dry the net")
    file = {"file_path": str(tmp_path / "net.py"), "content": "DRY = True\n"}
    call = {"tool_name": "Write", "tool_input": file, "tool_response": {"type": "create"}}
    big.ask("POST", f"/sessions/{ref}/observations", call)
    big.ask("POST", f"/sessions/{ref}/summarize", {"last_message": "The net is dry."})

    def summed_up() -> bool:  # its observation may be announced before it
        if pill.count():
            pill.click()
        return page.locator(".turn .summary").count() > 0

    until(summed_up)


def test_what_was_changed_elsewhere_is_offered_and_forgotten_ones_leave_the_feed(
    visit: Visit, big: Served
) -> None:
    newest = big.ask("GET", "/api/observations?limit=3")["items"]
    feed = visit("/now").page
    expect(feed.locator(".dot.good")).to_have_count(1)
    feed.mouse.move(5, 500)
    row = feed.locator(f'a[href="/observations/{newest[0]["id"]}"]')
    expect(row).to_have_count(1)
    page = visit(f"/observations/{newest[1]['id']}").page
    expect(page.locator(".dot.good")).to_have_count(1)
    big.ask("PATCH", f"/api/observations/{newest[1]['id']}", {"title": "Said by somebody else"})
    page.locator(".pill").click()
    expect(page.locator("h1")).to_have_text("Said by somebody else")
    expect(feed.get_by_label("Live feed")).to_contain_text("Said by somebody else")
    big.ask("DELETE", f"/api/observations/{newest[0]['id']}")
    expect(row).to_have_count(0)
