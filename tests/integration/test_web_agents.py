"""Agents without hooks: what they tell is queued whatever happens, and nothing of it is lost."""

import http.client
import json
import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aforesaid.agents.api import NAME
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.web.api import agents
from aforesaid.web.endpoint import ApiError
from aforesaid.worker import rpc
from tests.support.product import settled, until
from tests.support.web import Answer, Site, site
from tests.support.web_content import work

TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a b"}}

WRITE = {
    "tool_name": "Write",
    "tool_input": {"file_path": "/project/hello.py", "content": "def greet():\n    return 1\n"},
    "tool_response": {"type": "create"},
}


@pytest.fixture
def web(home: Paths) -> Iterator[Site]:
    with site(home) as found:
        yield found


def session(web: Site, ref: str) -> Session:
    found = web.backend.store.sessions.find(NAME, ref)
    assert found is not None
    return found


def post(web: Site, path: str, body: Any) -> Answer:
    answer = web.ask("POST", path, body)
    assert answer.status == 202, answer.body
    return answer


def test_a_turn_that_is_told_over_http_is_written_down(web: Site, tmp_path: Path) -> None:
    work(web, "s1", tmp_path, "Add a greeting to hello.py")
    status = web.get("/sessions/s1/status")
    assert status["status"] == "active"
    assert status["prompts"] == status["summaries"] == 1
    assert status["observations"] >= 1
    assert status["pending"] == 0
    found = session(web, "s1")
    assert (found.title, found.project_dir) == ("Add a greeting to hello.py", str(tmp_path))
    (first, *_) = web.backend.store.observations.for_session(found.id)
    assert "hello.py" in str(first.draft)


def test_the_documented_example_yields_a_note(web: Site, tmp_path: Path) -> None:
    page = Path("docs/how-to/open-the-viewer.md").read_text()
    requests = dict(re.findall(r"send POST run-7/(\w+) '(.*)'", page))
    for path, body in requests.items():
        post(
            web, f"/sessions/run-7/{path}", json.loads(body.replace("/home/me/shop", str(tmp_path)))
        )
    web.ingest()
    web.work()
    (note,) = web.backend.store.observations.for_session(session(web, "run-7").id)
    assert json.loads(requests["summarize"])["last_message"] in str(note.draft)


@pytest.mark.parametrize("output", ["1 failed, 3 passed", "Exit code 1\nAssertionError: 1 != 2"])
def test_plain_output_of_a_failed_command_is_recorded_as_failed(
    web: Site, tmp_path: Path, output: str
) -> None:
    post(web, "/sessions/s1/init", {"project": str(tmp_path), "prompt": "Run the tests"})
    ran = {"tool_name": "Bash", "tool_input": {"command": "pytest"}, "tool_response": output}
    post(web, "/sessions/s1/observations", ran)
    post(web, "/sessions/s1/summarize", {"last_message": "I ran the tests."})
    web.ingest()
    web.work()
    (found,) = web.backend.store.summaries.for_session(session(web, "s1").id)
    said = str(found.draft)
    assert "failed" in said
    assert "`pytest` passed" not in said


def test_an_unknown_session_is_never_refused(web: Site, tmp_path: Path) -> None:
    post(web, "/sessions/new/observations", TOOL | {"cwd": str(tmp_path)})
    post(web, "/sessions/newer/summarize", {"last_message": "Done."})
    web.ingest()
    assert session(web, "new").project_dir == str(tmp_path)
    assert session(web, "newer").project_dir == str(Path.home())


def test_what_says_no_directory_is_where_its_session_is(web: Site, tmp_path: Path) -> None:
    """Also while that is still in the spool, before it."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        post(web, f"/sessions/{name}/init", {"project": str(tmp_path / name)})
        post(web, f"/sessions/{name}/observations", TOOL)
    web.ingest()
    post(web, "/sessions/a/observations", TOOL | {"cwd": "relative/path"})
    web.ingest()
    for name, events in (("a", 3), ("b", 2)):
        assert session(web, name).project_dir == str(tmp_path / name)
        assert len(web.get(f"/api/sessions/{session(web, name).id}/events")["items"]) == events
    assert len(web.backend.store.projects.all()) == 2


def test_two_equal_calls_are_two_and_one_that_is_told_twice_is_one(
    web: Site, tmp_path: Path
) -> None:
    post(web, "/sessions/s/init", {"project": str(tmp_path)})
    for _ in range(2):
        post(web, "/sessions/s/observations", TOOL)
        post(web, "/sessions/s/observations", TOOL | {"tool_use_id": "call-1"})
    web.ingest()
    assert web.backend.store.health().events == 1 + 2 + 1


def test_a_call_belongs_to_the_prompt_that_it_names(web: Site, tmp_path: Path) -> None:
    for number in (1, 2):
        said = {"project": str(tmp_path), "prompt": f"Do {number}.", "prompt_number": number}
        post(web, "/sessions/s/init", said)
    post(web, "/sessions/s/observations", TOOL | {"prompt_number": 1})
    web.ingest()
    tools = [
        each
        for each in web.get(f"/api/sessions/{session(web, 's').id}/events")["items"]
        if each["kind"] == "tool"
    ]
    assert [each["prompt_number"] for each in tools] == [1]


@pytest.mark.parametrize(
    "ref", ["a/b", "ü", "a b", "%", "..", "1'; DROP TABLE events; --", "x" * 400]
)
def test_a_session_is_named_as_its_agent_likes(web: Site, tmp_path: Path, ref: str) -> None:
    from urllib.parse import quote

    name = quote(ref, safe="")
    post(web, f"/sessions/{name}/init", {"project": str(tmp_path), "prompt": "Hello."})
    web.ingest()
    assert session(web, ref).prompts == 1
    assert web.get(f"/sessions/{name}/status")["session"] == ref


def test_a_large_output_is_taken_and_a_larger_one_is_refused(web: Site, tmp_path: Path) -> None:
    post(web, "/sessions/s/observations", TOOL | {"tool_response": "x" * 15_000_000})
    web.ingest()
    assert web.backend.store.health().events == 1
    answer = web.ask("POST", "/sessions/s/observations", TOOL | {"tool_response": "x" * 17_000_000})
    assert (answer.status, answer.json["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "tool_name"),
        ({"tool_name": 1.5}, "tool_name"),
        ({"tool_name": "Bash", "prompt_number": "many"}, "prompt_number"),
        ({"tool_name": "Bash", "prompt_number": -1}, "prompt_number"),
        ({"tool_name": "Bash", "tool": "x"}, "tool"),
        ({"tool_name": 5}, "tool_name"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(
    web: Site, body: Any, field: str | None
) -> None:
    answer = web.ask("POST", "/sessions/s/observations", body)
    error = answer.json["error"]
    assert (answer.status, error["code"], error["field"]) == (400, "bad_request", field)


def test_a_spool_that_cannot_be_written_is_said(
    web: Site, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("aforesaid.hook.capture.write_file", full)
    answer = web.ask("POST", "/sessions/s/observations", TOOL)
    assert (answer.status, answer.json["error"]["code"]) == (503, "spool_unavailable")
    assert "No space left" in answer.json["error"]["message"]


def test_unknown_sessions_have_no_status_and_no_end(web: Site) -> None:
    assert web.ask("GET", "/sessions/none/status").status == 404
    assert web.ask("DELETE", "/sessions/none").status == 404


def test_ending_a_session_without_patience_leaves_its_work_queued(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_WEB_DELETE_SECONDS", "0")
    monkeypatch.setattr(agents, "INGEST_SECONDS", 0.0)
    with site(home) as web:
        post(web, "/sessions/s/init", {"project": str(tmp_path), "prompt": "Look around."})
        post(web, "/sessions/s/observations", WRITE)
        web.ingest()
        answer = web.ask("DELETE", "/sessions/s")
        assert answer.json == {"ended": False, "pending": 1}
        web.ingest()
        assert web.get("/sessions/s/status")["status"] == "completed"
        assert web.get("/sessions/s/status")["pending"] == 2
        web.work()
        done = web.get("/sessions/s/status")
        assert (done["pending"], done["observations"], done["summaries"]) == (0, 1, 1)


def test_nobody_waits_for_a_worker_that_ends(web: Site, tmp_path: Path) -> None:
    post(web, "/sessions/s/init", {"project": str(tmp_path), "prompt": "Look around."})
    ending = replace(web.backend, stopping=lambda: True)
    with pytest.raises(ApiError):
        agents.read_status(ending, id="s")
    web.ingest()
    assert agents.end_session(ending, id="s") == {"ended": False, "pending": 1}


class Program:
    """Another agent, which speaks with a real worker over the network."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        answer = rpc.order(paths, "web", 30, view="")
        self.port, self.token = answer["port"], paths.web_token.read_text().strip()

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body)
        link.request(method, path, data, sent)
        answer = link.getresponse()
        found = answer.status, json.loads(answer.read())
        link.close()
        return found


def test_ending_a_session_waits_for_its_work(home: Paths, tmp_path: Path) -> None:
    program = Program(home)
    said = {"project": str(tmp_path), "prompt": "Look around."}
    assert program.ask("POST", "/sessions/s/init", said)[0] == 202
    assert program.ask("POST", "/sessions/s/observations", WRITE)[0] == 202
    # At once: what was told before is taken in first.
    assert program.ask("DELETE", "/sessions/s") == (200, {"ended": True, "pending": 0})
    status = program.ask("GET", "/sessions/s/status")[1]
    assert (status["status"], status["observations"], status["summaries"]) == ("completed", 1, 1)


def test_a_worker_that_is_killed_after_its_answer_loses_nothing(
    home: Paths, tmp_path: Path
) -> None:
    program = Program(home)
    pid = rpc.running_pid(home)
    assert pid is not None
    blocker = sqlite3.connect(home.database, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")  # so that nothing is taken in before it is killed
    try:
        said = {"project": str(tmp_path), "prompt": "Look around."}
        assert program.ask("POST", "/sessions/s/init", said)[0] == 202
        for number in range(20):
            told = TOOL | {"tool_use_id": f"call-{number}"}
            assert program.ask("POST", "/sessions/s/observations", told)[0] == 202
        os.kill(pid, signal.SIGKILL)
        until(lambda: rpc.running_pid(home) is None)
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    assert len(list(home.spool_new.iterdir())) == 22
    rpc.start(home)
    assert settled(home).health().events == 22
    # It was killed while it served, so the next one serves again, in the same place.
    until(lambda: json.loads(home.web_file.read_text())["pid"] != pid)
    assert program.ask("GET", "/sessions/s/status")[1]["prompts"] == 1
