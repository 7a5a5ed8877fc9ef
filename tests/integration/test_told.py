"""Through the worker: what a session was told and why, and whether that still holds."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aforesaid.paths import Paths
from aforesaid.repository import revision
from aforesaid.worker import rpc
from tests.support.history import NEEDED, TOLD, remember_in
from tests.support.product import aforesaid, fire, settled, until, work

AUTHOR = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")
FIRST, SECOND = "0b5f3c1e-session-one", "7d21aa90-session-two"


@pytest.fixture
def project(home: Paths, tmp_path: Path) -> Path:
    """A repository in which a session has just written a file."""
    folder = tmp_path / "shop"
    folder.mkdir()
    for command in (("init",), ("commit", "--allow-empty", "--message", "first")):
        subprocess.run(["git", "-C", folder, *AUTHOR, *command], check=True, capture_output=True)
    (folder / "hello.py").write_text("def greet(name):\n    return f'Hello {name}'\n")
    work(folder, FIRST)
    settled(home)
    return folder


def answer(project: Path, *arguments: str) -> Any:
    done = aforesaid(*arguments, "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_observation_knows_whether_its_file_is_what_it_was(project: Path) -> None:
    shown = answer(project, "show", "1")
    assert shown["draft"]["revision"] == revision(str(project))
    assert shown["freshness"] == {"state": "unchanged", "changed": [], "gone": []}
    assert "Files: unchanged" in aforesaid("show", "1", cwd=project).stdout
    (project / "hello.py").write_text("def greet():\n    return 'Hello'\n")
    assert answer(project, "show", "1")["freshness"]["changed"] == ["hello.py"]
    assert "Files: changed since: hello.py" in aforesaid("show", "1", cwd=project).stdout
    (project / "hello.py").unlink()
    assert answer(project, "show", "1")["freshness"]["state"] == "gone"
    assert "Files: gone: hello.py" in aforesaid("show", "1", cwd=project).stdout


def test_every_injection_is_listed_with_its_reason(project: Path, home: Paths) -> None:
    rpc.stop(home)
    remember_in(home, project)
    common = {"session_id": SECOND, "source": "startup"}
    rpc.start(home)
    assert b"aforesaid-memory" in fire("SessionStart", common, project=project).stdout
    prompt = {"session_id": SECOND, "prompt_id": "p2", "prompt": NEEDED}
    assert TOLD.encode() in fire("UserPromptSubmit", prompt, project=project).stdout

    def listed() -> list[dict[str, Any]]:
        settled(home)
        told: list[dict[str, Any]] = answer(project, "why", SECOND[:4])["injected"]
        return told if {one["hook"] for one in told} == {"context", "new"} else []

    told = until(listed)
    assert {one["kind"] for one in told} == {"observation", "summary"}
    assert all(one["tokens"] > 0 for one in told)
    assert told[-1]["reason"].startswith("near to the prompt")
    latest = answer(project, "why")
    assert (latest["session"], latest["tokens"]) == (SECOND, sum(one["tokens"] for one in told))
    shown = aforesaid("why", cwd=project).stdout
    for words in ("near to the prompt", "of the last session", "tokens ("):
        assert words in shown
    narrow = aforesaid("why", cwd=project, env={"COLUMNS": "80"}).stdout.splitlines()
    assert narrow[2].split() == ["when", "hook", "id", "title", "why", "tokens"]


def test_a_session_that_was_told_nothing_says_so(project: Path) -> None:
    assert "Nothing was injected" in aforesaid("why", FIRST[:4], cwd=project).stdout
    nothing = {"session": FIRST, "injected": [], "memories": [], "tokens": 0}
    assert answer(project, "why", FIRST[:4]) == nothing
    missing = aforesaid("why", "nope", cwd=project)
    assert missing.returncode == 1
    assert "aforesaid sessions" in missing.stderr
