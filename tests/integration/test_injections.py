"""Hostile text, by every way in and out: it stays in the envelope, and nothing of the web is injected."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.errors import MemoryRefused
from aforesaid.mcp.context import Context, call
from aforesaid.memory.extraction.extract import RememberRequest, remember
from aforesaid.memory.session import render_compaction_notes, render_page
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.recall.brief import write as write_brief
from aforesaid.store.store import Store
from aforesaid.worker.hook_answers import HookAnswers
from tests.support import briefs as briefs_support
from tests.support.injected import ROOT, WAYS_IN, WAYS_OF_THE_WEB, Sessions, feed, prompt, stop
from tests.support.injections import INJECTIONS, Injection, escapes, long_lines, tags

BUDGET = 20_000
TOGETHER = 5  # in one session
Answers = dict[str, str]


@pytest.fixture
def sessions(home: Paths) -> Iterator[Sessions]:
    store = Store(home.database, writer=True)
    yield Sessions(store)
    store.close()


@pytest.fixture
def briefs(home: Paths, sessions: Sessions) -> HookAnswers:
    return briefs_support.made(home, sessions.store, lambda: sessions.at)


def begin(sessions: Sessions) -> Session:
    """The session that is told things; it has done nothing itself."""
    sessions.play("new", [prompt("Go on."), stop("Yes.")])
    found = sessions.store.sessions.find("claude-code", "new")
    assert found is not None
    return found


def ask(briefs: HookAnswers, event: str, hook: str, **fields: object) -> str:
    body = {"session_id": "new", "hook_event_name": event, "cwd": ROOT} | fields
    header = f"aforesaid/1 claude-code {hook} {ROOT}\0\n".encode()
    answer = briefs.answer(header + json.dumps(body).encode("utf-8", "surrogatepass")).text
    if not answer or hook == "compact":
        return answer.decode()
    told = json.loads(answer)
    assert isinstance(told, dict)
    return str(told.get("hookSpecificOutput", {}).get("additionalContext", ""))


def automatically(sessions: Sessions, briefs: HookAnswers, one: Injection) -> Answers:
    """What hooks hand over for a prompt and a file that are as near as can be."""
    question = (
        f"Builds fail, why was {one.canary} not run, what does the guide say? {one.text[:200]}"
    )
    files = (f"README{one.number}.md", f"notes{one.number}.md", f"release{one.number}.py")
    answers = {"prompt": ask(briefs, "UserPromptSubmit", "new", prompt=question)}
    for name in files:
        given = {"tool_name": "Read", "tool_input": {"file_path": f"{ROOT}/{name}"}}
        answers[f"file {name}"] = ask(briefs, "PreToolUse", "file", **given)
    return answers


def asked_for(place: Context, one: Injection) -> Answers:
    found = call(place, "search", {"query": f"{one.canary} builds release", "limit": 5}).text
    names = [line.split(" |")[0] for line in found.splitlines() if " | " in line][1:]
    number = next(iter(sorted(names, key=lambda name: name[:1] != "#")))
    return {
        "MCP search": found,
        "MCP get": call(place, "get", {"ids": [number], "level": "full"}).text,
        "MCP timeline": call(place, "timeline", {"id": number, "before": 1, "after": 1}).text,
    }


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=() if way in (WAYS_IN[0], WAYS_OF_THE_WEB[0]) else pytest.mark.slow)
        for way in WAYS_IN
    ],
)
def test_no_attack_leaves_the_envelope_and_nothing_of_the_web_is_injected_automatically(
    way: str, sessions: Sessions, briefs: HookAnswers, home: Paths
) -> None:
    """T64, T65: payloads in files, pages, MCP results, commit messages, file names and imports, in every
    style of leaving the envelope, against every way out."""
    for first in range(0, len(INJECTIONS), TOGETHER):
        feed(sessions, way, *INJECTIONS[first : first + TOGETHER])
    begin(sessions)
    store, project_id = sessions.store, sessions.project()
    env = {"AFORESAID_HOME": str(home.data), "CLAUDE_PROJECT_DIR": ROOT, "HOME": str(home.data)}
    place = Context(env | {"AFORESAID_RECALL_ENCODER": "none"}, lambda: sessions.at)
    briefs.prepare_brief(project_id)
    (prepared,) = [path.read_bytes() for path in home.briefs.iterdir()]
    copy = json.loads(prepared.partition(b"\0\n")[2] or b"{}")
    told = {
        "brief": write_brief(store, project_id, BUDGET).text,
        "start": ask(briefs, "SessionStart", "context", source="startup"),
        "prepared copy": str(copy.get("hookSpecificOutput", {}).get("additionalContext", "")),
    }
    combinations, seen = 0, set()
    for one in INJECTIONS:
        by_hook = told | automatically(sessions, briefs, one)
        answers = by_hook | asked_for(place, one)
        for out, answer in answers.items():
            assert escapes(answer) == [], (way, out, one.style)
            combinations += 1
        seen |= {one.canary for said in answers.values() if one.canary in said}
        assert [line for said in by_hook.values() for line in long_lines(said)] == []
        if way in WAYS_OF_THE_WEB:
            assert [out for out, said in by_hook.items() if one.canary in said] == [], one.style
    for session in store.sessions.recent(project_id, 200):
        memory = briefs.sessions.current(session)
        assert tags(render_compaction_notes(memory).text) == []
        assert tags(render_page(memory).text) == []
        combinations += 2
    assert len(seen) > len(INJECTIONS) // 2  # they are there, and come out where one asks for them
    sys.stdout.write(f"{way}: {combinations} combinations\n")


@pytest.mark.parametrize("way", WAYS_OF_THE_WEB)
def test_what_the_web_says_is_found_with_its_origin(
    way: str, sessions: Sessions, home: Paths
) -> None:
    """T64: it is searchable, and provenance is shown."""
    feed(sessions, way, INJECTIONS[0])
    env = {"AFORESAID_HOME": str(home.data), "CLAUDE_PROJECT_DIR": ROOT, "HOME": str(home.data)}
    place = Context(env | {"AFORESAID_RECALL_ENCODER": "none"}, lambda: sessions.at)
    found = asked_for(place, INJECTIONS[0])
    assert "source: web only" in found["MCP search"]
    told = found["MCP get"]
    assert INJECTIONS[0].canary in told
    assert "web" in told
    assert "not injected automatically" in told


@pytest.mark.slow
def test_an_agents_memory_of_hostile_text_stays_in_the_envelope(
    sessions: Sessions, briefs: HookAnswers, home: Paths
) -> None:
    """T65: curated memories that an agent was talked into, in the index and in full."""
    Path(home.data).mkdir(exist_ok=True)
    memories = wiring.memories(wiring.home(), ROOT, clock.now)
    for one in INJECTIONS:
        try:
            remember(memories, RememberRequest(one.text[:2_000], by_agent=True), ROOT)
        except (MemoryRefused, ValueError):
            continue
    begin(sessions)
    start = ask(briefs, "SessionStart", "context", source="startup")
    assert escapes(start) == []
    for one in INJECTIONS:
        asking = f"Which command is {one.canary}, and when is it run? {one.text[:200]}"
        assert escapes(ask(briefs, "UserPromptSubmit", "new", prompt=asking)) == []
