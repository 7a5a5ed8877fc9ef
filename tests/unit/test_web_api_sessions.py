"""Projects and sessions over HTTP: listed by the page, with their events and what they were told."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.model.requests import ANSWERED, OBSERVE, Entry, Usage
from aforesaid.model.search import Injection, MemoryInjection
from aforesaid.paths import Paths
from aforesaid.web.api.sessions import LARGEST_BODY
from tests.support.arrivals import Told as Session
from tests.support.web_store import Filled, filled


@pytest.fixture
def site(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filled]:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    with filled(home, tmp_path / "shop") as found:
        yield found


def test_projects_have_their_numbers(site: Filled) -> None:
    site.memory.turn("One", ObservationDraft("change", "A"), ObservationDraft("change", "B"))
    (project,) = site.get("/api/projects")["items"]
    assert (project["name"], project["root"]) == ("shop", str(site.folder))
    assert (project["sessions"], project["observations"]) == (1, 2)


def test_sessions_come_by_the_page_with_what_they_left(site: Filled) -> None:
    for number in range(5):
        drafts = [ObservationDraft(kind, f"{kind} {number}") for kind in ("bugfix", "decision")]
        site.memory.turn(f"Prompt {number}", *drafts)
    found = []
    cursor = ""
    while True:
        page = site.get(f"/api/sessions?limit=2&project={site.project}{cursor}")
        found += page["items"]
        if page["next"] is None:
            break
        cursor = f"&before={page['next']}"
    assert [each["title"] for each in found] == [f"Prompt {n}" for n in (4, 3, 2, 1, 0)]
    assert found[0]["types"] == {"bugfix": 1, "decision": 1}
    assert (found[0]["observations"], found[0]["prompts"], found[0]["project"]) == (2, 1, "shop")
    assert site.get("/api/sessions?agent=nobody")["items"] == []
    assert len(site.get("/api/sessions?status=active")["items"]) == 5
    assert "completed" in site.refused(400, "GET", "/api/sessions?status=odd", field="status")
    site.refused(400, "GET", "/api/sessions?before=now", field="before")
    site.refused(400, "GET", "/api/sessions?limit=100000", field="limit")


def test_one_session_has_all_it_left_and_what_that_cost(site: Filled) -> None:
    session = site.memory.turn(
        "Fix it",
        ObservationDraft("bugfix", "Fixed"),
        summary=SummaryDraft("Fix it", next_steps="go"),
    )
    site.store.requests.add(
        Entry(
            at=session.started_at,
            provider="openai",
            model="m",
            prompts="v1",
            purpose=OBSERVE,
            digest="d",
            session_id=session.id,
            job_id=None,
            outcome=ANSWERED,
            error=None,
            usage=Usage(100, 0, 0, 20),
            microdollars=7,
            milliseconds=1,
            reply="a secret reply",
        )
    )
    found = site.get(f"/api/sessions/{session.id}")
    assert [each["text"] for each in found["prompts"]] == ["Fix it"]
    assert [each["next_steps"] for each in found["summaries"]] == ["go"]
    assert [each["title"] for each in found["observations"]] == ["Fixed"]
    assert found["counts"] == {"prompts": 1, "observations": 1}
    cost = found["cost"]
    assert (cost["requests"], cost["sent"], cost["received"]) == (1, 100, 20)
    assert (cost["microdollars"], cost["unpriced"], found["pending"]) == (7, 0, 0)
    assert "secret" not in json.dumps(found)


def test_a_prompt_with_a_file_in_it_is_cut(site: Filled) -> None:
    session = site.memory.turn("x" * 100_000)
    (prompt,) = site.get(f"/api/sessions/{session.id}")["prompts"]
    assert (len(prompt["text"]), prompt["cut"]) == (20_000, True)


def test_events_go_on_where_the_page_before_ended(site: Filled) -> None:
    session = site.memory.turn("First", session="one")
    site.memory.turn("Second", session="one")
    first = site.get(f"/api/sessions/{session.id}/events?limit=4")
    rest = site.get(f"/api/sessions/{session.id}/events?limit=4&after={first['next']}")
    kinds = [each["kind"] for each in first["items"] + rest["items"]]
    assert kinds == ["prompt", "tool", "stop"] * 2
    assert rest["next"] is None
    assert first["items"][0]["title"] == "First"
    assert first["items"][1]["tool"] == "Bash"
    site.refused(400, "GET", f"/api/sessions/{session.id}/events?after=1.2", field="after")


def test_the_newest_events_come_first_on_request_and_pages_go_further_back(site: Filled) -> None:
    session = site.memory.turn("First", session="one")
    site.memory.turn("Second", session="one")
    path = f"/api/sessions/{session.id}/events"
    first = site.get(f"{path}?order=newest&limit=4")
    rest = site.get(f"{path}?order=newest&limit=4&after={first['next']}")
    found = first["items"] + rest["items"]
    assert [each["kind"] for each in found] == ["stop", "tool", "prompt"] * 2
    assert found[::-1] == site.get(f"{path}?order=oldest")["items"] == site.get(path)["items"]
    assert rest["next"] is None
    site.refused(400, "GET", f"{path}?order=sideways", field="order")


def test_an_event_is_shown_as_it_was_captured_up_to_a_size(site: Filled) -> None:
    told = Session(site.project)
    asked, used = told.prompt("What?"), told.tool("t")
    body = json.dumps({"said": "<script>\u202e" + "x" * LARGEST_BODY}).encode()
    used = replace(used, capture=replace(used.capture, body=body))
    site.store.events.add([asked, used], told.at)
    session = site.store.sessions.recent(None, 1)[0]
    prompt, tool = site.get(f"/api/sessions/{session.id}/events")["items"]
    found = site.get(f"/api/events/{tool['id']}")
    assert found["cut"]
    assert found["body"] == body[:LARGEST_BODY].decode()
    assert found["size"] == len(body)
    assert site.get(f"/api/events/{prompt['id']}")["text"] == "What?"


def test_what_a_session_was_told_is_listed_with_the_reasons(site: Filled) -> None:
    session = site.memory.turn("One", ObservationDraft("bugfix", "Fixed"))
    one = site.memory.newest()
    site.store.injections.add(
        session.id, "context", [Injection("observation", one.id, "newest", 12)], 5
    )
    memory = MemoryInjection("no-fridays", "project", "near to the prompt", 30, 100)
    own = replace(memory, name="terse", scope="user")
    site.store.injections.add(session.id, "new", [memory, own], 6)
    first, second, third = site.get(f"/api/sessions/{session.id}/injected")["items"]
    assert (first["kind"], first["id"], first["title"], first["tokens"]) == (
        "observation",
        one.id,
        "Fixed",
        12,
    )
    assert (second["kind"], second["name"], second["reason"]) == (
        "memory",
        "no-fridays",
        "near to the prompt",
    )
    projects = [each["project_id"] for each in (first, second, third)]
    assert projects == [site.project, site.project, None]  # the last one is the user's everywhere


@pytest.mark.parametrize(
    "path", ["sessions/999", "sessions/999/events", "sessions/999/injected", "events/999"]
)
def test_what_is_not_there_is_not_found(site: Filled, path: str) -> None:
    assert "GET /api/sessions" in site.refused(404, "GET", f"/api/{path}")
