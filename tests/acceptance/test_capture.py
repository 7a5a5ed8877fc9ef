"""What is stored of a session, compared with what the client was told to do."""

import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from aforesaid.model.events import CommandRun, FileChanged, ToolUsed
from aforesaid.model.sessions import ACTIVE, COMPLETED
from aforesaid.worker import rpc
from tests.acceptance.product import Installation, Kept, bash, write
from tests.support.client import TOOLS, until
from tests.support.scripted_api import Call, Delay, ScriptedApi, Text, Together

pytestmark = pytest.mark.client


def tool(kept: Kept) -> ToolUsed:
    assert isinstance(kept.event.what, ToolUsed)
    return kept.event.what


def commands(kept: list[Kept]) -> list[str]:
    actions = [tool(each).action for each in kept]
    return [action.command for action in actions if isinstance(action, CommandRun)]


@pytest.mark.quick
def test_every_tool_call_is_stored_once_under_the_prompt_it_belongs_to(
    api: ScriptedApi, installed: Installation
) -> None:
    note = {"file_path": "{{cwd}}/note.txt"}
    api.when(
        "Write a note",
        write("note.txt", "one\n"),
        Call("Read", note),
        Together(tuple(bash(f"echo {word}") for word in ("red", "green", "blue"))),
        bash("cat missing.txt"),
        Text("Written."),
    )
    api.when(
        "Change the note",
        Call("Edit", {**note, "old_string": "one", "new_string": "two"}),
        bash("cat note.txt"),
        Text("Changed."),
    )

    session = installed.client.run("Write a note").session_id
    installed.client.run("Change the note", resume=session)
    installed.settled()

    assert installed.prompts(session) == [(1, "Write a note"), (2, "Change the note")]
    kinds = Counter(kept.kind for kept in installed.events(session))
    # Each of the two clients started, took one prompt, stopped and ended.
    twice = {"session_start": 2, "prompt": 2, "stop": 2, "session_end": 2}
    assert kinds == {**twice, "tool": 8}
    first = [("Write", 1), ("Read", 1), *[("Bash", 1)] * 4]
    assert installed.tools(session) == [*first, ("Edit", 2), ("Bash", 2)]
    tools = installed.events(session, "tool")
    assert Counter(commands(tools)) == Counter(
        ["echo red", "echo green", "echo blue", "cat missing.txt", "cat note.txt"]
    )
    failures = [f for kept in tools if (f := tool(kept).failure)]
    assert [(f.exit_code, "missing.txt" in f.error) for f in failures] == [(1, True)]
    assert installed.session(session).status == COMPLETED


def test_a_subagents_work_is_labelled_with_its_type(
    api: ScriptedApi, installed: Installation
) -> None:
    api.when("SUBTASK", write("found.md", "# Found\n"), Text("Found it."))
    errand = {"description": "Find it", "prompt": "SUBTASK: write what you find to found.md"}
    api.when(
        "Send somebody",
        Call("Agent", {**errand, "subagent_type": "general-purpose", "run_in_background": False}),
        bash("cat found.md"),
        Text("It is found."),
    )

    run = installed.client.run("Send somebody to find it", allowed_tools=(*TOOLS, "Agent"))
    installed.settled()

    assert run.result == "It is found."
    tools = installed.events(run.session_id, "tool")
    assert [(kept.tool, kept.subagent, kept.prompt) for kept in tools] == [
        ("Write", "general-purpose", 1),
        ("Agent", None, 1),
        ("Bash", None, 1),
    ]
    assert installed.prompts(run.session_id) == [(1, "Send somebody to find it")]
    ends = installed.events(run.session_id, "subagent_stop")
    assert [kept.subagent for kept in ends] == ["general-purpose"]
    drafts = [o.draft for o in installed.observations(run.session_id)]
    assert [d.files_modified for d in drafts if d.subagent_type] == [("found.md",)]
    assert {d.subagent_type for d in drafts} <= {None, "general-purpose"}


def test_a_notice_of_the_client_is_not_counted_as_a_prompt_of_the_user(
    api: ScriptedApi, installed: Installation
) -> None:
    in_background = {"command": "sleep 0.3; echo hi", "run_in_background": True}
    api.when("<task-notification>", bash("echo noticed"), Text("I noticed."))
    api.when("Start it", Call("Bash", in_background), Text("Started."))
    api.when("And now", bash("echo now"), Text("Now."))

    session = installed.client.run("Start it").session_id
    installed.client.run("And now", resume=session)
    installed.settled()

    assert installed.prompts(session) == [(1, "Start it"), (2, "And now")]
    assert installed.session(session).prompts == 2
    notices = [k for k in installed.events(session, "prompt") if "<task-notification>" in k.body]
    assert [notice.prompt for notice in notices] == [1]
    tools = installed.events(session, "tool")
    assert [(command, kept.prompt) for kept in tools for command in commands([kept])] == [
        (in_background["command"], 1),
        ("echo noticed", 1),
        ("echo now", 2),
    ]


def test_a_session_that_changes_its_directory_stays_in_its_project(
    api: ScriptedApi, installed: Installation
) -> None:
    (installed.client.project / "sub").mkdir()
    api.when("Go below", bash("cd sub"), bash("pwd > here.txt"), Text("Below."))

    session = installed.client.run("Go below").session_id
    installed.settled()

    project = str(installed.client.project)
    last = installed.events(session, "tool")[-1]
    assert last.event.cwd == f"{project}/sub"
    assert installed.session(session).project_dir == project
    with installed.store() as store:
        assert [(found.name, found.root) for found in store.projects.all()] == [
            ("project", project)
        ]
        assert store.projects.dirs(store.projects.all()[0].id) == [project]


def test_eight_sessions_at_once_are_kept_apart(api: ScriptedApi, installed: Installation) -> None:
    names = ["amber", "brass", "coral", "denim", "ebony", "flint", "grape", "hazel"]
    for name in names:
        api.when(
            f"Paint the {name} page",
            write(f"{name}.md", f"# {name}\n"),
            Delay(0.1, Together((bash(f"echo {name}-1"), bash(f"echo {name}-2")))),
            Text(f"The {name} page is painted.\n\nNext step: Hang the {name} page."),
        )

    with ThreadPoolExecutor(len(names)) as pool:
        runs = list(pool.map(lambda name: installed.client.run(f"Paint the {name} page"), names))
    installed.settled()

    sessions = [run.session_id for run in runs]
    assert {session.ref for session in installed.sessions()} == set(sessions)
    for name, session in zip(names, sessions, strict=True):
        others = [other for other in names if other != name]
        assert installed.prompts(session) == [(1, f"Paint the {name} page")]
        events = installed.events(session)
        assert Counter(kept.kind for kept in events) == {
            **dict.fromkeys(("session_start", "prompt", "stop", "session_end"), 1),
            "tool": 3,
        }
        assert {kept.event.session for kept in events} == {session}
        told = [kept.body for kept in events]
        told += [str(o.draft) for o in installed.observations(session)]
        with installed.store() as store:
            told += [
                str(s.draft) for s in store.summaries.for_session(installed.session(session).id)
            ]
        assert len(told) > len(events) + 1
        assert [other for other in others for text in told if other in text] == []


def test_the_worker_outlives_the_client_that_started_it(
    api: ScriptedApi, installed: Installation
) -> None:
    installed.client.run("hello")
    installed.settled()
    worker = installed.worker_pid()

    assert os.getsid(worker) == worker
    installed.client.run("hello again")
    installed.settled()

    assert installed.worker_pid() == worker
    assert len(installed.sessions()) == 2


@pytest.mark.quick
def test_killing_the_client_in_the_middle_keeps_what_was_captured(
    api: ScriptedApi, installed: Installation
) -> None:
    session = "5f6d9a10-6f0b-4a5e-9a55-0c8d3b1f7e21"
    started = installed.client.project / "started"
    api.when("Take long", write("kept.txt", "kept\n"), bash("touch started; sleep 60"))
    line = ["-p", "Take long", "--session-id", session, "--allowedTools", ",".join(TOOLS)]

    with installed.client.start(*line) as process:
        until(started.exists)
        os.killpg(process.pid, signal.SIGKILL)
    installed.settled()

    assert rpc.running_pid(installed.paths) is not None
    assert installed.session(session).status == ACTIVE
    assert [k.kind for k in installed.events(session)] == ["session_start", "prompt", "tool"]
    change = tool(installed.events(session, "tool")[0]).action
    assert isinstance(change, FileChanged)
    assert change.path == str(installed.client.project / "kept.txt")
