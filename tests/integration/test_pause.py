"""The off switch: while it is off nothing is stored and nothing told, and no transcript brings it back."""

import json
import os
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.mcp.context import Context
from aforesaid.model.purge import Rows
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support.product import aforesaid, fire, settled, until, work
from tests.support.sentence import SAID, traces
from tests.support.transcripts import Written


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "part").mkdir(parents=True)
    return folder


def test_a_paused_project_leaves_nothing_and_is_recorded_again_after_resume(
    home: Paths, project: Path
) -> None:
    work(project, "before")
    settled(home)
    paused = aforesaid("pause", "--json", cwd=project)
    assert json.loads(paused.stdout)["scope"] == "project"
    work(project, "while", prompt=f"Fix this: {SAID}.")
    settled(home)
    assert not traces(home.data)
    assert settled(home).sessions.find("claude-code", "while") is None
    assert "is recorded again" in aforesaid("resume", cwd=project).stdout
    work(project, "after")
    assert settled(home).sessions.find("claude-code", "after")


def test_the_brief_by_hand_says_that_nobody_is_told_it(home: Paths, project: Path) -> None:
    work(project, "first")
    settled(home)
    assert aforesaid("context", cwd=project).stderr == ""
    assert aforesaid("pause", cwd=project).returncode == 0
    assert "starts here now: it is paused" in aforesaid("context", cwd=project).stderr


def test_a_paused_session_is_told_nothing_but_that(home: Paths, project: Path) -> None:
    work(project, "before")
    settled(home)
    assert aforesaid("pause", cwd=project).returncode == 0
    start = {"session_id": "s", "source": "startup"}
    said = json.loads(fire("SessionStart", start, project=project).stdout)
    assert "paused" in said["systemMessage"]
    assert "hookSpecificOutput" not in said
    asked = {"session_id": "s", "prompt": "What is in hello.py?"}
    assert fire("UserPromptSubmit", asked, project=project).stdout == b""
    assert "paused" in aforesaid("status", cwd=project).stdout
    other = project.parent / "other"
    other.mkdir()
    work(other, "elsewhere")
    assert settled(home).sessions.find("claude-code", "elsewhere")


def test_a_pause_for_a_while_ends_by_itself(home: Paths, project: Path) -> None:
    order = {"scope": "everything", "dir": None, "session": None, "milliseconds": 2_500}
    rpc.order(home, "pause", **order)
    work(project, "while")
    settled(home)
    assert settled(home).health().sessions == 0
    until(lambda: not rpc.status(home)["paused"])
    work(project, "after")
    assert settled(home).health().sessions == 1


@pytest.mark.parametrize("way", ["variable", "file", "file above", "setting"])
def test_other_switches_leave_nothing_either(home: Paths, project: Path, way: str) -> None:
    """By the shell's hook and by Python's, and not in the spool."""
    env = {}
    place = project / "part" if way == "file above" else project
    if way == "variable":
        env["AFORESAID_PAUSED"] = "1"
    elif way == "setting":
        assert aforesaid("config", "set", "capture.skip_dirs", str(project)).returncode == 0
    else:
        (project / ".aforesaid").mkdir()
        (project / ".aforesaid/off").touch()
    rpc.start(home)
    start = {"session_id": "s", "source": "startup"}
    said = json.loads(fire("SessionStart", start, project=place, env=env).stdout)
    assert "paused" in said["systemMessage"]
    prompt = {"session_id": "s", "prompt": SAID}
    assert fire("UserPromptSubmit", prompt, project=place, env=env).stdout == b""
    tool = {
        "session_id": "s",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": SAID},
    }
    for python in (None, Path("/nonexistent")):
        fire("PostToolUse", tool, project=place, env=env, python=python)
    settled(home)
    assert not (left := traces(home.data)), "\n".join(left)
    assert settled(home).health().events == 0


def test_what_happened_in_a_pause_is_not_taken_from_the_transcript(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    """The pause's hooks said that it was one; the transcript tells of before, of it, and of after."""
    env = {"AFORESAID_PAUSED": "1"}
    written = Written()
    session = {"session_id": written.session}
    now = clock.now

    def turn(text: str, **env_: str) -> None:
        first = len(written.lines)
        written.prompt(text)
        written.says(f"Done with {text}")
        written.add("system", subtype="turn_duration")
        for line in written.lines[first:]:
            at = datetime.fromtimestamp(now() / 1000, UTC).isoformat(timespec="milliseconds")
            line |= {"timestamp": at, "cwd": str(project)}
        path = written.write(tmp_path / "user/.claude/projects/shop")
        common = session | {"transcript_path": str(path), "prompt_id": written.prompt_id}
        fire("UserPromptSubmit", common | {"prompt": text}, project=project, env=env_)
        fire(
            "Stop",
            common | {"last_assistant_message": f"Done with {text}"},
            project=project,
            env=env_,
        )

    turn("the first thing")
    time.sleep(0.1)
    turn(f"hidden {SAID}", **env)
    time.sleep(0.1)
    turn("the last thing")
    rpc.start(home)
    settled(home)
    aforesaid("import", "claude-code", cwd=project)
    store = settled(home)
    assert [each.text for each in store.sessions.prompts(1)] == [
        "the first thing",
        "the last thing",
    ]
    assert not (left := traces(home.data)), "\n".join(left)


def test_a_pause_outlives_the_project_that_is_erased(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    """What lay wholly within it left no row that could be buried: no import brings it in."""
    work(project, "before")
    settled(home)
    assert aforesaid("pause", cwd=project).returncode == 0
    written = Written()
    written.prompt(f"Fix this: {SAID}.")
    written.says(f"I decided that {SAID}.")
    written.add("system", subtype="turn_duration")
    at = datetime.fromtimestamp(clock.now() / 1000, UTC).isoformat(timespec="milliseconds")
    for line in written.lines:
        line |= {"timestamp": at, "cwd": str(project)}
    written.write(tmp_path / "user/.claude/projects/shop")
    erased = aforesaid("purge", "--project", str(project), "--yes", cwd=project)
    assert erased.returncode == 0, erased.stderr
    (paused,) = rpc.status(home)["paused"]
    assert (paused["scope"], paused["project"]) == ("project", None)
    assert "that was erased is paused" in aforesaid("status", cwd=project).stdout
    brought = aforesaid("import", "claude-code", cwd=project)
    assert brought.returncode == 0, brought.stderr
    work(project, "while")
    assert settled(home).health().events == 0
    assert not (left := traces(home.data)), "\n".join(left)
    other = tmp_path / "other"  # a new project may get the number of the erased one
    other.mkdir()
    work(other, "elsewhere")
    assert settled(home).sessions.find("claude-code", "elsewhere")
    assert "is recorded again" in aforesaid("resume", cwd=project).stdout
    work(project, "after")
    assert settled(home).sessions.find("claude-code", "after")


def test_an_agent_is_told_of_a_pause_whose_project_is_gone(home: Paths, project: Path) -> None:
    with closing(Store(home.database, writer=True)) as store:
        number = store.projects.resolve(identify(str(project)), str(project), 1)
        store.sessions.add_pause(1, None, project_id=number)
        assert list(store.purge.delete(Rows(projects=frozenset({number})), 5))
    here = {**os.environ, "CLAUDE_PROJECT_DIR": str(project)}
    elsewhere = {**os.environ, "CLAUDE_PROJECT_DIR": str(project.parent)}
    assert Context(here, clock.now).paused() == "the user has paused it"
    assert Context(elsewhere, clock.now).paused() is None


def test_resume_names_what_is_still_off(home: Paths, project: Path) -> None:
    (project / ".aforesaid").mkdir()
    (project / ".aforesaid/off").touch()
    said = aforesaid("resume", cwd=project).stdout
    assert "Nothing was paused here." in said
    assert "Still off: there is a file" in said
    wrong = aforesaid("pause", "--for", "soon", cwd=project)
    assert wrong.returncode == 2
    assert "30m, 2h" in wrong.stderr
