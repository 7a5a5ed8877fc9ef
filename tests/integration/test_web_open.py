"""Opening the viewer beside other programs, other homes and other work, and ending with it."""

import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock, wiring
from aforesaid.errors import AforesaidError
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from aforesaid.worker.context import Context
from aforesaid.worker.service import Service
from tests.support.product import aforesaid, until
from tests.support.scripted_memory import asked, scripted
from tests.support.scripted_models import Hang, ScriptedOpenAi
from tests.support.scripted_notes import use
from tests.support.web_browser import Browser, opened


def test_status_says_where_the_viewer_is(home: Paths) -> None:
    def shown() -> tuple[str, Any]:
        lines = aforesaid("status").stdout.splitlines()
        (line,) = [line for line in lines if line.startswith("Viewer")]
        return line, json.loads(aforesaid("status", "--json").stdout)["viewer"]

    line, told = shown()
    assert "`aforesaid open`" in line
    assert told == {"start": "on-demand", "address": None}
    address = f"http://127.0.0.1:{opened().port}/"
    line, told = shown()
    assert address in line
    assert told["address"] == address
    pid = rpc.running_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)
    assert home.web_file.exists()
    assert shown()[1]["address"] is None  # nobody is there any more


def test_a_viewer_that_is_off_says_so_in_the_status(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_WEB_START", "off")
    assert "config set web.start on-demand" in aforesaid("status").stdout


def test_a_port_that_another_program_has_is_left_to_it(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T52: another port is taken."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("AFORESAID_WEB_PORT", str(port))
        browser = opened()
        assert browser.port != port
        assert browser.sees()


def test_two_homes_have_a_viewer_each(home: Paths, tmp_path: Path) -> None:
    first = opened()
    elsewhere = {"AFORESAID_HOME": str(tmp_path / "other")}
    try:
        done = aforesaid("open", "--print", env=elsewhere)
        second = Browser(done.stdout.strip())
        assert second.port != first.port
        assert first.sees()
        assert second.sees()
        second.cookie = first.cookie
        assert not second.sees()
    finally:
        assert aforesaid("worker", "stop", env=elsewhere).returncode == 0


def test_a_worker_at_a_dream_ends_when_it_is_told_to(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedOpenAi(then=scripted(dream=Hang())) as model:
        use(monkeypatch, model.url)
        for said in ("We deploy on Mondays.", "We release from the branch main."):
            assert aforesaid("remember", said, cwd=tmp_path).returncode == 0
        browser = opened()
        project = json.loads(browser.ask("/api/projects")[2])["items"][0]["id"]
        asking = threading.Thread(
            target=lambda: browser.ask(f"/api/dream?project={project}", "POST")
        )
        asking.start()
        until(lambda: asked(model, "dream"))
        pid = rpc.running_pid(home)
        assert rpc.stop(home)
        asking.join()
    # By itself, and not because it was killed for its silence.
    assert f"worker.ended pid={pid}" in home.log_file.read_text()
    assert not home.web_file.exists()


def test_a_viewer_that_cannot_be_loaded_does_not_keep_the_worker_from_its_work(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_WEB_START", "always")
    monkeypatch.setitem(sys.modules, "aforesaid.web.server", None)
    store = wiring.open_for_writing(home)
    try:
        web = Service(Context(wiring.home(), store, clock.now)).web
        web.begin()
        with pytest.raises(AforesaidError, match="cannot be loaded"):
            web.open({"view": ""})
        web.close()
        with pytest.raises(AforesaidError, match="ending"):
            web.open({"view": ""})
    finally:
        store.close()
