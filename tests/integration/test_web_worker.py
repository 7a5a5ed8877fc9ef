"""The viewer in the worker's life: on demand, live, and never in the way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, settled, until, work
from tests.support.web_browser import Browser, opened


@pytest.fixture(autouse=True)
def own_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the range of ephemeral ports: no client's connection takes it while the worker is down."""
    monkeypatch.setenv("AFORESAID_WEB_PORT", str(20_000 + os.getpid() % 10_000))


def test_open_starts_everything_and_prints_a_link_that_is_good_once(home: Paths) -> None:
    first = aforesaid("open", "--print").stdout.strip()
    browser = Browser(first)
    assert browser.sees()
    with pytest.raises(AssertionError):
        Browser(first)
    assert opened("search").led_to == "/search"
    assert json.loads(aforesaid("open", "--json").stdout)["port"] == browser.port
    assert json.loads(home.web_file.read_text())["pid"] == rpc.running_pid(home)


def test_without_a_browser_open_prints_the_link(home: Paths) -> None:
    done = aforesaid("open", env={"PATH": "/nonexistent", "BROWSER": ""})
    assert done.stdout.startswith("http://127.0.0.1:")
    assert "within a minute" in done.stderr


def test_a_viewer_that_is_turned_off_says_how_to_turn_it_on(home: Paths) -> None:
    done = aforesaid("open", "--print", env={"AFORESAID_WEB_START": "off"})
    assert done.returncode == 1
    assert "config set web.start" in done.stderr


def test_what_a_session_does_is_seen_live(home: Paths, tmp_path: Path) -> None:
    browser = opened()
    with browser.watching() as watching:
        work(tmp_path, "session-1")
        wanted = {"hello", "captured", "observation", "summary", "turn"}
        until(lambda: watching.kinds() >= wanted)
        captured = [data for _, kind, data in watching.told if kind == "captured"]
        assert {each["what"] for each in captured} >= {"session_start", "prompt", "tool", "stop"}
        assert {each["session"] for each in captured} == {"session-1"}
        (observation, *_) = [data for _, kind, data in watching.told if kind == "observation"]
        status, _, body = browser.ask(f"/api/observations/{observation['id']}")
        assert (status, json.loads(body)["title"]) == (200, observation["title"])
        remembered = aforesaid("remember", "We deploy on Mondays, never on Fridays.", cwd=tmp_path)
        assert remembered.returncode == 0, remembered.stderr
        until(lambda: "memory" in watching.kinds())
        last = watching.told[0][0]
        count = len(watching.told)
    with browser.watching(last) as again:
        until(lambda: len(again.told) >= count)
        assert [each[0] for each in again.told[1:count]] == [
            each[0] for each in watching.told[1:count]
        ]


def test_a_restarted_worker_is_found_again_by_a_page_that_is_open(home: Paths) -> None:
    browser = opened()
    with browser.watching():
        assert aforesaid("worker", "restart").returncode == 0
    until(browser.sees)


def test_a_killed_worker_is_found_again_too(home: Paths, tmp_path: Path) -> None:
    browser = opened()
    pid = rpc.running_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)
    rpc.start(home)
    until(browser.sees)


def test_a_worker_that_ended_well_serves_nothing_until_it_is_asked(home: Paths) -> None:
    browser = opened()
    rpc.stop(home)
    assert not home.web_file.exists()
    rpc.start(home)
    settled(home)
    assert not home.web_file.exists()
    assert not browser.sees()
    assert opened().port == browser.port
    assert browser.sees()  # the cookie is still good


def test_it_may_always_be_served(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFORESAID_WEB_START", "always")
    rpc.start(home)
    until(home.web_file.exists)


def test_a_worker_that_nobody_asks_loads_no_web_server(home: Paths) -> None:
    program = (
        "import os, sys\n"
        "from aforesaid import clock, wiring\n"
        "from aforesaid.worker.context import Context\n"
        "from aforesaid.worker.service import Service\n"
        "home = wiring.home()\n"
        "store = wiring.open_for_writing(home.paths)\n"
        "service = Service(Context(home, store, clock.now))\n"
        "service.web.begin()\n"
        "assert not service.web.is_wanted()\n"
        "names = ('starlette', 'uvicorn', 'h11', 'anyio', 'asyncio')\n"
        "print([name for name in names if name in sys.modules])\n"
        "store.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_health_says_that_something_is_wrong(home: Paths) -> None:
    browser = opened()
    status, _, body = browser.ask("/health")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    (home.state / "capture-failures").write_text(f"save {int(time.time())} full\n")
    found = json.loads(browser.ask("/health")[2])
    assert found["status"] == "degraded"
    assert "could not be recorded" in found["problem"]
