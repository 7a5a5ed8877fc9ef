"""The ways aforesaid gets into the client, alone and together, whole and broken."""

import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

import aforesaid
from tests.acceptance.product import Installation, bash, count_briefs, last_request, write
from tests.support.client import Client
from tests.support.scripted_api import ScriptedApi, Text

pytestmark = pytest.mark.client

CHECKOUT = Path(__file__).parents[2]
NEXT = "Tune the strings"
ALL_OF_IT = Counter(session_start=1, prompt=1, tool=2, stop=1, session_end=1)


def checkout(folder: Path) -> Path:
    """aforesaid's repository as `git clone` leaves it."""
    for name in (".claude-plugin", "src"):
        leave_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / name, folder / name, ignore=leave_out)
    return folder


def set_up(folder: Path) -> Path:
    """`make setup`, without its minute of downloads."""
    (folder / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    return folder


def add_plugin(client: Client, folder: Path) -> None:
    for line in (["marketplace", "add", str(folder)], ["install", "aforesaid@aforesaid"]):
        done = client.plugin(*line)
        assert done.returncode == 0, done


def build_a_lute(api: ScriptedApi, installation: Installation) -> str:
    """A session of two tool calls. Its id."""
    end = Text(f"The lute is built.\n\nNext step: {NEXT}.")
    api.when("Build a lute", write("lute.md", "# Lute\n"), bash("echo built"), end)
    run = installation.client.run("Build a lute")
    assert run.result == end.text
    return run.session_id


def kinds(installation: Installation, session: str) -> Counter[str]:
    return Counter(kept.kind for kept in installation.events(session))


def test_the_plugin_captures_what_the_settings_capture_and_gives_the_brief(
    api: ScriptedApi, prepared: Installation, tmp_path: Path
) -> None:
    add_plugin(prepared.client, set_up(checkout(tmp_path / "checkout")))

    session = build_a_lute(api, prepared)
    prepared.settled()
    prepared.client.run("What now")

    assert kinds(prepared, session) == ALL_OF_IT
    assert prepared.tools(session) == [("Write", 1), ("Bash", 1)]
    told = last_request(api, "What now")
    assert count_briefs(told) == 1
    assert prepared.titles(session)[0] in told
    assert NEXT in told


@pytest.mark.quick
def test_both_ways_at_once_store_each_event_once_and_give_one_brief(
    api: ScriptedApi, installed: Installation, tmp_path: Path
) -> None:
    add_plugin(installed.client, set_up(checkout(tmp_path / "checkout")))

    session = build_a_lute(api, installed)
    installed.settled()
    installed.client.run("What now")

    assert kinds(installed, session) == ALL_OF_IT
    assert installed.prompts(session) == [(1, "Build a lute")]
    assert len(installed.titles(session)) == 1
    assert count_briefs(last_request(api, "What now")) == 1


def test_a_plugin_that_is_not_set_up_yet_keeps_the_events_for_later(
    api: ScriptedApi, prepared: Installation, tmp_path: Path
) -> None:
    add_plugin(prepared.client, checkout(tmp_path / "checkout"))

    session = build_a_lute(api, prepared)
    assert prepared.spooled() == ALL_OF_IT.total()
    prepared.cli("worker", "start")
    prepared.settled()

    assert kinds(prepared, session) == ALL_OF_IT


def test_hook_lines_whose_files_are_gone_do_not_disturb_the_session(
    api: ScriptedApi, installed: Installation, tmp_path: Path
) -> None:
    settings = installed.client.home / ".claude" / "settings.json"
    there = str(Path(aforesaid.__file__).parent / "hook")
    lines = settings.read_text()
    assert there in lines
    settings.write_text(lines.replace(there, str(tmp_path / "moved" / "hook")))

    build_a_lute(api, installed)

    assert installed.spooled() == 0
    assert not installed.paths.database.exists()


def test_a_worker_that_hangs_holds_nobody_up_and_loses_nothing(
    api: ScriptedApi, installed: Installation
) -> None:
    first = build_a_lute(api, installed)
    installed.settled()
    worker = installed.worker_pid()
    api.when("Paint the lute", bash("echo painted"), Text("It is red."))

    os.kill(worker, signal.SIGSTOP)
    run = installed.client.run("Paint the lute")

    assert run.result == "It is red."
    told = last_request(api, "Paint the lute")
    assert count_briefs(told) == 1
    assert installed.titles(first)[0] in told
    assert NEXT in told
    assert installed.spooled() == 5
    assert [session.ref for session in installed.sessions()] == [first]

    os.kill(worker, signal.SIGCONT)
    installed.settled()

    assert installed.worker_pid() == worker
    assert kinds(installed, run.session_id) == {**ALL_OF_IT, "tool": 1}
