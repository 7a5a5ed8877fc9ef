"""Whole sessions with a model: real hooks, the real worker, and servers that speak the real protocols."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.agents.registry import AGENTS
from aforesaid.model.events import FileChanged, ToolUsed
from aforesaid.model.observations import Observation, Summary
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker import rpc
from tests.support.product import aforesaid, fire, settled, until, work
from tests.support.scripted_models import (
    Broken,
    Cut,
    Hang,
    ScriptedAnthropic,
    ScriptedOpenAi,
    Status,
    Step,
)
from tests.support.scripted_notes import MODEL, use
from tests.support.stored import events_of
from tests.support.stub_model import rows

Json = dict[str, Any]
Server = ScriptedAnthropic | ScriptedOpenAi
TRUE = "hello.py defines greet(name), which returns Hello and the name."
INVENTED = "The class GreetingFactory in factory.py caches 417 greetings for each user."
OBSERVATION = f"""<observation><type>feature</type><title>Greeting by name added</title>
<subtitle>People can be greeted by their name.</subtitle>
<facts><fact>{TRUE}</fact><fact>{INVENTED}</fact></facts>
<narrative>The file hello.py has a function that greets.</narrative>
<concepts><concept>greeting</concept></concepts>
<files_modified><file>src/never_touched.py</file></files_modified></observation>"""
DREAM = """<observation><type>feature</type><title>GreetingFactory rewritten in factory.py</title>
<facts><fact>GreetingFactory.build in factory.py handles 417 cases now.</fact></facts></observation>"""
SUMMARY = """<summary><request>Add a greeting to hello.py.</request>
<completed>hello.py defines greet.</completed>
<next_steps>Call greet from the command line.</next_steps></summary>"""


def scripted(body: Json) -> str:
    asked = str(body["messages"][-1]["content"])
    return SUMMARY if "Write the summary." in asked else OBSERVATION + DREAM


@pytest.fixture(params=["openai", "anthropic"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The worker, once it is started, asks this one."""
    if request.param == "openai":
        with ScriptedOpenAi(then=scripted) as openai:
            use(monkeypatch, openai.url)
            yield openai
    else:
        with ScriptedAnthropic(then=scripted) as anthropic:
            monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "anthropic")
            monkeypatch.setenv("AFORESAID_SYNTHESIS_MODEL", MODEL)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", anthropic.url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-scripted")
            yield anthropic


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def provider(server: Server) -> str:
    return "openai" if isinstance(server, ScriptedOpenAi) else "anthropic"


def remembered(home: Paths, project: Path) -> tuple[Store, list[Observation], list[Summary]]:
    work(project, "session-1")
    store = settled(home)
    session = store.sessions.find("claude-code", "session-1")
    assert session is not None
    return (
        store,
        store.observations.for_session(session.id),
        store.summaries.for_session(session.id),
    )


def brief(project: Path) -> Json:
    """What the client is told when the next session starts."""
    start = {"session_id": str(uuid.uuid4()), "source": "startup"}
    done = fire("SessionStart", start, project=project)
    assert done.returncode == 0
    found: Json = json.loads(done.stdout)
    return found


def context(project: Path) -> str:
    return str(brief(project)["hookSpecificOutput"]["additionalContext"])


def test_what_the_model_wrote_is_stored_and_linked_to_where_it_came_from(
    home: Paths, project: Path, server: Server
) -> None:
    store, (first, dream), (summary,) = remembered(home, project)
    assert first.draft.title == "Greeting by name added"
    assert first.draft.subtitle == "People can be greeted by their name."
    assert first.draft.facts == (TRUE, INVENTED)
    assert first.draft.concepts == ("greeting",)
    assert (first.provider, first.model) == (provider(server), MODEL)
    assert first.prompt_number == dream.prompt_number == summary.prompt_number == 1
    assert summary.draft.request == "Add a greeting to hello.py."
    assert summary.draft.next_steps == "Call greet from the command line."
    assert (summary.provider, summary.model) == (provider(server), MODEL)

    (event,) = [e for e in events_of(store, first.session_id) if e.kind == "tool"]
    assert first.draft.evidence == (event.id,)
    parsed = AGENTS["claude-code"].parse(event.capture)
    assert parsed is not None
    what = getattr(parsed, "what", None)
    assert isinstance(what, ToolUsed)
    assert isinstance(what.action, FileChanged)
    assert len(server.requests) == 2


def test_the_changed_files_are_those_that_the_tools_changed(
    home: Paths, project: Path, server: Server
) -> None:
    _, observations, (summary,) = remembered(home, project)
    assert observations[0].draft.files_modified == ("hello.py",)
    assert summary.draft.files_edited == ("hello.py",)
    assert not any("src/never_touched.py" in o.draft.files_modified for o in observations)


def test_what_was_made_up_is_marked_and_not_told_automatically(
    home: Paths, project: Path, server: Server
) -> None:
    _, (first, dream), _ = remembered(home, project)
    assert first.draft.sure_facts == (TRUE,)
    assert {doubt.part for doubt in dream.draft.doubts} >= {"title"}
    assert aforesaid("pin", str(first.id)).returncode == 0
    told = context(project)
    assert "greet(name)" in told
    assert "GreetingFactory" not in told
    shown = aforesaid("show", str(first.id)).stdout
    assert "GreetingFactory" in shown
    assert "unverified:" in shown


def test_what_is_true_is_found(home: Paths, project: Path, server: Server) -> None:
    _, (first, _), _ = remembered(home, project)
    found = json.loads(aforesaid("search", "greet", "--json", cwd=project).stdout)
    hits = found["hits"] if isinstance(found, dict) else found
    assert first.id in [hit["id"] for hit in hits]


def test_the_next_session_is_told_the_title_and_what_is_left_to_do(
    home: Paths, project: Path, server: Server
) -> None:
    remembered(home, project)
    told = context(project)
    assert "Greeting by name added" in told
    assert "Call greet from the command line." in told


def test_status_names_the_provider_its_model_and_how_much_is_unverified(
    home: Paths, project: Path, server: Server
) -> None:
    remembered(home, project)
    shown = aforesaid("status").stdout
    assert f"{provider(server)} {MODEL}" in shown
    assert "2 observations, 67 % of 3 facts unverified" in shown


def test_our_own_requests_are_not_captured(home: Paths, project: Path, server: Server) -> None:
    store, _, _ = remembered(home, project)
    assert [session.ref for session in store.sessions.recent(None, 10)] == ["session-1"]


@pytest.mark.parametrize(
    "fault",
    [
        Cut("<observation><type>feature</type><title>Half"),
        Broken("<observation>", {"type": "overloaded_error", "message": "scripted"}),
        Status(500),
        Status(529),
    ],
    ids=["cut", "error in the stream", "500", "529"],
)
def test_a_reply_that_breaks_off_leaves_the_job_waiting(
    home: Paths, project: Path, server: Server, fault: Step
) -> None:
    server.then = fault
    work(project, "session-1")
    store = settled(home)
    health = store.health()
    assert (health.pending, health.skipped, health.observations) == (2, 0, 1)
    parked = rpc.status(home)["outage"]
    assert parked is not None
    assert not parked["for_user"]

    server.then = scripted
    assert aforesaid("retry").returncode == 0
    until(lambda: store.health().pending == 0)
    health = store.health()
    assert (health.skipped, health.observations, health.summaries) == (0, 2, 1)


def test_a_worker_that_is_stopped_in_the_middle_of_a_request_gives_its_job_back(
    home: Paths, project: Path, server: Server
) -> None:
    server.then = Hang()
    work(project, "session-1")
    until(lambda: server.requests)
    assert aforesaid("worker", "stop").returncode == 0
    assert {row[1:3] for row in jobs(home)} == {("pending", 0)}

    server.then = scripted
    rpc.start(home)
    store = settled(home)
    assert {row[1:3] for row in jobs(home)} == {("done", 1)}
    assert store.health().observations == 2


def jobs(home: Paths) -> list[tuple[object, ...]]:
    return rows(home.database, "SELECT kind, state, tries FROM jobs")


def test_a_wrong_key_is_said_in_status_and_at_session_start_until_it_is_mended(
    home: Paths, project: Path, server: Server
) -> None:
    server.then = Status(401)
    work(project, "session-1")
    store = settled(home)
    status = aforesaid("status")
    assert status.returncode == 4
    assert "notes are written without the model for now" in status.stdout
    assert "key" in status.stdout
    assert "notes are written without the model for now" in brief(project)["systemMessage"]
    assert (store.health().pending, store.health().skipped) == (2, 0)

    server.then = scripted
    assert aforesaid("retry").returncode == 0
    until(lambda: store.health().pending == 0)
    assert store.health().observations == 2
    assert aforesaid("status").returncode == 0
    assert "systemMessage" not in brief(project)
