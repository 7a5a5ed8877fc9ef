"""The worker and the curated memories, without a client: from a turn to a file, and to the next session."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock, wiring
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import MIN_SESSIONS, last_dream_at, record_dream
from aforesaid.memory.history import KEPT_ENTRIES
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from aforesaid.worker.memory import LEAD
from tests.support.client_directory import client_directory_path
from tests.support.product import aforesaid, fire, settled, until
from tests.support.scripted_memory import asked, scripted
from tests.support.scripted_models import Hang, ScriptedOpenAi
from tests.support.scripted_notes import use
from tests.support.scripted_steps import Json, Step
from tests.support.stub_model import rows

SAID = "I prefer tabs. Remember that."
WRITE = "Write a Python file that prints the totals"
LINE = "- prefers-tabs (user): The user prefers tabs"
TABS = Memory("prefers-tabs", "The user prefers tabs", "user", "I prefer tabs.")
SUMMARY = "<summary><request>Remember tabs.</request></summary>"


@pytest.fixture
def project(home: Paths, tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    subprocess.run(["git", "init", "--quiet", place], check=True)
    return place


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedOpenAi]:
    with ScriptedOpenAi(then=scripted()) as running:
        use(monkeypatch, running.url)
        yield running


def memories(project: Path) -> Memories:
    return wiring.memories(wiring.home(), str(project), clock.now)


def names(project: Path) -> list[str]:
    return sorted(each.memory.name for each in memories(project).all().memories)


def remember(project: Path, *written: Memory) -> None:
    with memories(project).change("test") as change:
        for memory in written:
            change.write(memory)


def told(project: Path, event: str, **payload: Any) -> str:
    """What the hook hands to the agent."""
    done = fire(event, payload, project=project)
    assert done.returncode == 0
    if not done.stdout:
        return ""
    return str(json.loads(done.stdout).get("hookSpecificOutput", {}).get("additionalContext", ""))


def begin(project: Path, session: str, source: str = "startup") -> str:
    return told(project, "SessionStart", session_id=session, source=source)


def ask(project: Path, session: str, prompt: str) -> str:
    """What a prompt is told of memories."""
    common = {"session_id": session, "prompt_id": f"p-{prompt}"}
    return told(project, "UserPromptSubmit", **common, prompt=prompt).partition(LEAD)[2]


def hear(project: Path, session: str, prompt: str) -> str:
    """The same of a prompt that is told something. An answer that came after the hook had gone is not given
    again in its session: the next try is in another one."""
    number = count()

    def ask_again() -> str:
        if attempt := next(number):
            begin(project, f"{session}-{attempt}")
        return ask(project, f"{session}-{attempt}" if attempt else session, f"{prompt} {attempt}")

    return str(until(ask_again))


def turn(project: Path, session: str, prompt: str, *events: tuple[str, Json]) -> str:
    """A prompt, what happened then, and its end. What the prompt was told."""
    heard = ask(project, session, prompt)
    common = {"session_id": session, "prompt_id": f"p-{prompt}"}
    for event, payload in (*events, ("Stop", {"last_assistant_message": "Done."})):
        fire(event, common | payload, project=project)
    return heard


def wrote(path: Path, **more: str) -> tuple[str, Json]:
    given = {"file_path": str(path), "content": "a line\n"}
    answer = {"type": "create", "filePath": str(path), "content": "a line\n"}
    used = {"tool_name": "Write", "tool_use_id": f"t-{path.name}"}
    return "PostToolUse", {**used, "tool_input": given, "tool_response": answer, **more}


def test_from_a_turn_to_a_file_to_a_brief_to_a_prompt(home: Paths, project: Path) -> None:
    turn(project, "s1", SAID)
    settled(home)
    file = home.memory / "user/prefers-tabs.md"
    assert "I prefer tabs." in file.read_text()

    assert LINE in begin(project, "s2")
    assert ask(project, "s2", "go on") == ""
    assert "I prefer tabs." in hear(project, "s2", WRITE)
    settled(home)
    assert ask(project, "s2", f"{WRITE} again") == ""

    compaction = {"session_id": "s2", "trigger": "manual", "custom_instructions": ""}
    fire("PreCompact", compaction, project=project)
    begin(project, "s2", "compact")
    settled(home)
    assert "I prefer tabs." in hear(project, "s2", f"{WRITE} after all")


def test_the_prepared_brief_has_the_index_too(home: Paths, project: Path) -> None:
    turn(project, "s1", SAID)
    settled(home)
    rpc.stop(home)
    assert LINE in begin(project, "s2")


def test_an_edit_by_hand_counts_at_once(home: Paths, project: Path) -> None:
    turn(project, "s1", SAID)
    settled(home)
    file = home.memory / "user/prefers-tabs.md"
    file.write_text(file.read_text().replace("I prefer tabs.", "Tabs, but in YAML two blanks."))
    begin(project, "s2")
    assert "in YAML two blanks" in hear(project, "s2", WRITE)
    turn(project, "s3", "We deploy on Mondays only. Remember that.")
    settled(home)
    assert "in YAML two blanks" in file.read_text()
    assert "edited by hand" in aforesaid("memory", "log", cwd=project).stdout


def test_only_the_users_words_make_a_memory(home: Paths, project: Path) -> None:
    agent = {"agent_id": "a1", "agent_type": "Explore"}
    message = {"last_assistant_message": SAID}
    turn(project, "s1", "How do we indent?", ("SubagentStop", agent | message), ("Stop", message))
    turn(project, "s1", f"<task-notification>{SAID}</task-notification>")
    turn(project, "s1", f"What does this say?\n```\n{SAID}\n```")
    settled(home)
    assert names(project) == []


def test_what_the_agent_wrote_down_is_not_kept_again_but_a_sub_agent_keeps_nothing(
    home: Paths, project: Path
) -> None:
    ours = home.memory / "user/mine.md"
    turn(project, "s1", SAID, wrote(ours))
    remembering = {"tool_name": "mcp__aforesaid__remember", "tool_use_id": "t1", "tool_input": {}}
    turn(project, "s2", SAID, ("PostToolUse", remembering | {"tool_response": {}}))
    settled(home)
    assert names(project) == []
    turn(project, "s3", SAID, wrote(ours, agent_id="a1", agent_type="Explore"))
    settled(home)
    assert names(project) == ["prefers-tabs"]


def test_a_memory_of_the_clients_is_told_at_prompts_unless_that_is_turned_off(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = client_directory_path(str(project), os.environ)
    assert theirs is not None
    theirs.mkdir(parents=True)
    text = (
        "---\nname: pump\ndescription: The pump in the cellar\ntype: project\n---\n\nRed valve.\n"
    )
    (theirs / "pump.md").write_text(text)
    begin(project, "s1")
    assert "Red valve." in hear(project, "s1", "Start the pump in the cellar")
    rpc.stop(home)
    monkeypatch.setenv("AFORESAID_MEMORY_CLIENT", "off")
    begin(project, "s2")
    settled(home)
    assert ask(project, "s2", "Start the pump in the cellar") == ""
    assert (theirs / "pump.md").read_text() == text


def test_extraction_can_be_turned_off(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_MEMORY_EXTRACT", "off")
    turn(project, "s1", SAID)
    settled(home)
    assert names(project) == []


def test_with_rules_alone_no_model_sees_what_was_said(
    home: Paths, project: Path, model: ScriptedOpenAi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_MEMORY_EXTRACT", "rules")
    monkeypatch.setenv("AFORESAID_MEMORY_SELECT", "engine")
    turn(project, "s1", SAID)
    settled(home)
    assert names(project) == ["prefers-tabs"]
    begin(project, "s2")
    assert "I prefer tabs." in hear(project, "s2", WRITE)
    assert (asked(model, "extract"), asked(model, "select")) == ([], [])


def test_nothing_is_told_where_it_may_cost_nothing(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_MEMORY_TOKENS", "0")
    remember(project, TABS)
    begin(project, "s1")
    assert ask(project, "s1", WRITE) == ""


def test_a_reply_that_cannot_be_read_costs_nothing_that_was_said_plainly(
    home: Paths, project: Path, model: ScriptedOpenAi
) -> None:
    model.then = scripted(extract="Sorry, I cannot do that.", other=SUMMARY)
    turn(project, "s1", SAID)
    assert settled(home).health().pending == 0
    assert names(project) == ["prefers-tabs"]


def test_a_worker_that_ends_while_a_model_chooses_ends_cleanly(
    home: Paths, project: Path, model: ScriptedOpenAi
) -> None:
    model.then = scripted(select=Hang())
    remember(project, TABS)
    begin(project, "s1")
    assert "I prefer tabs." in hear(project, "s1", WRITE)
    until(lambda: asked(model, "select"))
    rpc.stop(home)
    assert home.log_file.read_text().count("worker.ended") == 1
    # What became of the question is in the ledger: the store was still there for it.
    found = rows(home.database, "SELECT outcome FROM requests WHERE purpose = 'select'")
    assert found == [("failed",)] * len(asked(model, "select"))


@pytest.mark.parametrize("moment", ["extract", "summarize"])
def test_a_worker_killed_around_the_extraction_leaves_one_memory(
    home: Paths, project: Path, model: ScriptedOpenAi, moment: str
) -> None:
    """While the model is asked what to keep: nothing is written yet. At the summary: it is, and not noted."""
    go_on = threading.Event()

    def wait(_: Json) -> Step:
        go_on.wait(60)
        return "[]" if moment == "extract" else SUMMARY

    model.then = scripted(extract=wait) if moment == "extract" else scripted(other=wait)
    turn(project, "s1", SAID)
    until(lambda: asked(model, moment))
    assert names(project) == ["prefers-tabs"]
    pid = rpc.running_pid(home)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)
    go_on.set()
    rpc.start(home)
    assert settled(home).health().pending == 0
    assert names(project) == ["prefers-tabs"]
    entries = memories(project).history.log(None, memories(project).folders)
    assert [each.reason for each in entries] == ["remembered: prefers-tabs"]


def test_a_turn_that_nobody_read_before_the_kill_is_read_after_it(
    home: Paths, project: Path
) -> None:
    pid = int(rpc.start(home)["pid"])
    os.kill(pid, signal.SIGSTOP)
    turn(project, "s1", SAID)
    assert names(project) == []
    os.kill(pid, signal.SIGKILL)
    until(lambda: rpc.running_pid(home) is None)
    rpc.start(home)
    settled(home)
    assert names(project) == ["prefers-tabs"]


def test_a_broken_file_is_reported_left_alone_and_stops_nothing(home: Paths, project: Path) -> None:
    broken = home.memory / "user/broken.md"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"\xff\xfe no text at all")
    turn(project, "s1", SAID)
    assert settled(home).health().pending == 0
    assert LINE in begin(project, "s2")
    assert "I prefer tabs." in hear(project, "s2", WRITE)
    assert broken.read_bytes() == b"\xff\xfe no text at all"
    listed = aforesaid("memory", "list", cwd=project)
    assert "prefers-tabs" in listed.stdout
    assert "broken.md: it is not UTF-8: save it as UTF-8" in listed.stderr
    assert rpc.status(home)["fault"] is None


def enough_for_a_dream(project: Path) -> None:
    """Two of them say the same."""
    said = [
        Memory(f"fact-{n}", f"Shelf {n} holds box {n}", "project", f"See room {n}.")
        for n in range(9)
    ]
    remember(project, *said, TABS, Memory("tabs-again", TABS.description, "user", TABS.body))


def sessions(home: Paths, project: Path, wanted: int) -> None:
    for number in range(wanted):
        turn(project, f"s{number}", "Which shelf is free?")
    settled(home)
    rpc.stop(home)  # the next one looks again


def test_the_worker_dreams_by_itself_when_it_is_time(home: Paths, project: Path) -> None:
    sessions(home, project, MIN_SESSIONS)
    enough_for_a_dream(project)
    rpc.start(home)
    until(lambda: last_dream_at(memories(project).places, clock.now()))
    assert len(names(project)) == 10
    assert [each.memory.description for each in memories(project).retired().memories] == [
        TABS.description
    ]
    settled(home)
    assert begin(project, "later").count(TABS.description) == 1


@pytest.mark.parametrize("closed", ["sessions", "memories", "a day", "off"])
def test_the_worker_does_not_dream_while_a_gate_is_closed(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    sessions(home, project, MIN_SESSIONS - (closed == "sessions"))
    if closed == "memories":
        remember(project, TABS, Memory("tabs-again", TABS.description, "user", TABS.body))
    else:
        enough_for_a_dream(project)
    if closed == "a day":
        record_dream(memories(project).places, clock.now())
    if closed == "off":
        monkeypatch.setenv("AFORESAID_MEMORY_DREAM", "off")
    before = names(project)
    rpc.start(home)
    turn(project, "s0", "And which one is full?")  # after its job the gates were looked at
    settled(home)
    assert names(project) == before
    assert memories(project).retired().memories == ()


def test_the_worker_prunes_the_history(home: Paths, project: Path) -> None:
    remember(project, TABS)
    folder = home.memory / ".history"
    for number in range(2, KEPT_ENTRIES + 3):
        old = '{"key": "k", "at": 1, "reason": "old", "files": {}}'
        (folder / f"s{number}.json").write_text(old)
    begin(project, "s1")
    until(lambda: not (folder / "s2.json").exists())
    assert (folder / "s3.json").exists()
    assert memories(project).history.entry("s1").reason == "test"  # it is not old
