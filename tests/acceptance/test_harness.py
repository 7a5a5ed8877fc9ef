"""The test support itself, on the real client and with no part of aforesaid."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.acceptance.conftest import OpenTerminal
from tests.support import netns
from tests.support.client import Client, git_repo, until
from tests.support.scripted_api import Call, Delay, ScriptedApi, Text, Together

pytestmark = pytest.mark.client

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "PreCompact",
    "SessionEnd",
)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "Run a command"})


def test_a_session_runs_the_scripted_tools_for_real(api: ScriptedApi, client: Client) -> None:
    hooks = client.dump_hooks(*EVENTS)
    api.when(
        "build the demo",
        Call("Write", {"file_path": "{{cwd}}/demo.txt", "content": "one\n"}, say="I start."),
        Together((bash("cat demo.txt"), bash("echo two"))),
        bash("exit 3"),
        Text("Built."),
    )

    run = client.run("please build the demo")

    assert (run.returncode, run.result) == (0, "Built.")
    assert (client.project / "demo.txt").read_text() == "one\n"
    fired = [p["hook_event_name"] for p in hooks.payloads()]
    assert fired[:2] == ["SessionStart", "UserPromptSubmit"]
    assert fired[-2:] == ["Stop", "SessionEnd"]
    assert len(hooks.payloads("PostToolUse")) == 3
    assert hooks.payloads("PostToolUseFailure")[0]["error"].startswith("Exit code 3")
    assert hooks.payloads("Stop")[0]["session_id"] == run.session_id
    assert [r["step"] for r in api.requests if r["kind"] == "main"] == [0, 1, 2, 3]
    assert "one" in api.bodies_text("main")
    assert len(client.transcripts()) == 1


def test_what_a_hook_prints_reaches_the_model(api: ScriptedApi, client: Client) -> None:
    printing = {"type": "command", "command": "printf 'remember \"this\"\\nand that'"}
    client.settings({"hooks": {"SessionStart": [{"hooks": [printing]}]}})

    assert client.run("hello").result == "Done."

    assert 'remember "this"\nand that' in api.bodies_text()
    assert "remember nothing" not in api.bodies_text()


def test_a_resumed_session_continues_with_the_rule_of_its_new_prompt(
    api: ScriptedApi, client: Client
) -> None:
    hooks = client.dump_hooks(*EVENTS)
    api.when("first", bash("echo 1"), Text("First done."))
    api.when("second", bash("echo 2"), bash("echo 3"), Text("Second done."))
    given = "2b1f6f0e-3c1a-4b52-9f0e-0f6f3a5d7c11"

    first = client.run("the first thing", session_id=given)
    second = client.run("the second thing", resume=given)

    assert (first.result, second.result) == ("First done.", "Second done.")
    assert first.session_id == second.session_id == given
    assert [p["source"] for p in hooks.payloads("SessionStart")] == ["startup", "resume"]
    steps = [(r["prompt"], r["step"]) for r in api.requests if r["kind"] == "main"]
    assert steps[2:] == [("the second thing", n) for n in range(3)]


def test_a_compacted_session_goes_on_with_the_scripted_summary(
    api: ScriptedApi, client: Client
) -> None:
    hooks = client.dump_hooks(*EVENTS)
    api.summary = "The user wanted a first thing."
    api.when("first", Text("First done."))
    session = client.run("the first thing").session_id

    client.command("-p", "/compact", "--resume", session)
    run = client.run("what now", resume=session)

    assert [r["kind"] for r in api.requests] == ["main", "compact", "main"]
    assert len(hooks.payloads("PreCompact")) == 1
    assert api.summary in api.bodies_text("main")
    assert (api.requests[-1]["prompt"], run.result) == ("what now", "Done.")


def test_a_finished_background_task_is_a_turn_of_its_own(api: ScriptedApi, client: Client) -> None:
    hooks = client.dump_hooks(*EVENTS)
    in_background = {"command": "sleep 0.5; echo hi", "run_in_background": True}
    api.when("<task-notification>", Text("I noticed."))
    api.when("start it", Call("Bash", in_background), Text("Started."))

    run = client.run("start it please")

    assert run.result == "I noticed."
    assert [p["last_assistant_message"] for p in hooks.payloads("Stop")] == [
        "Started.",
        "I noticed.",
    ]


def test_an_interactive_session_can_be_interrupted_in_the_middle_of_a_tool(
    api: ScriptedApi, client: Client, open_terminal: OpenTerminal
) -> None:
    hooks = client.dump_hooks(*EVENTS)
    started = client.project / "started"
    api.when("take long", bash("touch started; sleep 60; touch ended"), Text("Never said."))
    api.when("something else", bash("echo else"), Text("Something else is done."))
    screen = open_terminal(client, "--allowedTools", "Bash")
    screen.ready()

    screen.submit("take long over it")
    until(started.exists)
    screen.interrupt()
    screen.submit("now something else")
    hooks.wait("Stop")
    screen.wait_for("Something else is done")
    screen.submit("/exit")

    assert screen.exit_status() == 0
    assert [p["prompt"] for p in hooks.payloads("UserPromptSubmit")] == [
        "take long over it",
        "now something else",
    ]
    assert [p["tool_input"]["command"] for p in hooks.payloads("PostToolUse")] == ["echo else"]
    assert hooks.payloads("Stop")[0]["last_assistant_message"] == "Something else is done."
    assert hooks.wait("SessionEnd")[0]["reason"] == "prompt_input_exit"
    assert not (client.project / "ended").exists()


def test_an_interactive_session_can_be_interrupted_while_the_model_thinks(
    api: ScriptedApi, client: Client, open_terminal: OpenTerminal
) -> None:
    hooks = client.dump_hooks(*EVENTS)
    api.when("think", Delay(60, Text("Never said.")))
    api.when("be quick", Text("Here it is."))
    screen = open_terminal(client)
    screen.ready()

    screen.submit("think hard")
    until(lambda: any(r["prompt"] == "think hard" for r in api.requests))
    screen.interrupt()
    # With nothing said yet the client hands the prompt back to be edited.
    screen.keys("C-u")
    screen.submit("be quick")

    screen.wait_for("Here it is")
    assert hooks.wait("Stop")[0]["last_assistant_message"] == "Here it is."


@pytest.mark.long
def test_four_parallel_sessions_each_follow_their_own_rule(
    api: ScriptedApi, client: Client, tmp_path: Path
) -> None:
    names = ["red", "green", "blue", "black"]
    folders = [git_repo(tmp_path / name) for name in names]
    for name in names:
        note = {"file_path": "{{cwd}}/note.txt", "content": name}
        slow = Delay(0.3, bash(f"echo {name} >> log.txt"))
        api.when(f"paint {name}", Call("Write", note), slow, Text(f"{name} is done."))

    with ThreadPoolExecutor(4) as pool:
        runs = list(
            pool.map(lambda i: client.run(f"paint {names[i]}", cwd=folders[i]), range(len(names)))
        )

    assert [run.result for run in runs] == [f"{name} is done." for name in names]
    assert [(folder / "note.txt").read_text() for folder in folders] == names
    assert len({run.session_id for run in runs}) == 4


def test_a_repository_made_for_a_test_shares_its_root_with_no_other(tmp_path: Path) -> None:
    def root(path: Path) -> str:
        line = ["git", "-C", str(path), "rev-list", "--max-parents=0", "HEAD"]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    assert root(git_repo(tmp_path / "a" / "shop")) != root(git_repo(tmp_path / "b" / "shop"))


def test_the_test_command_says_which_network_it_got_and_means_it(tmp_path: Path) -> None:
    probe = tmp_path / "test_probe.py"
    probe.write_text(
        "import socket\n"
        "def test_where():\n"
        "    names = [name for _, name in socket.if_nameindex()]\n"
        "    print('interfaces:', *names)\n"
        "    with socket.create_server(('127.0.0.1', 0)) as s:\n"
        "        socket.create_connection(s.getsockname()).close()\n"
    )
    env = {k: v for k, v in os.environ.items() if k != netns.GUARD}
    command = [sys.executable, "-m", "tests.support.run", "-q", "-s", "-n0", str(probe)]

    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    network = re.findall(r"^network: (.*)$", done.stdout, re.MULTILINE)
    assert len(network) == 1
    if "namespace" in network[0]:
        assert re.search(r"^interfaces: lo$", done.stdout, re.MULTILINE)
