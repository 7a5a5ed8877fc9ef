"""Transcripts that are damaged, strange, old, or still being written."""

import json
import os
from pathlib import Path

import pytest

from aforesaid import log
from aforesaid.agents import jsonl
from aforesaid.agents.claude_code import conversation
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import (
    CommandRun,
    Event,
    FileChanged,
    FileRead,
    PromptSubmitted,
    Subagent,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)
from tests.support.transcripts import Written, file_of, read


def events(path: Path, *, quiet: bool = False) -> list[Event]:
    return [told.event for told in read(path, quiet=quiet)]


def kinds(path: Path, *, quiet: bool = False) -> list[str]:
    return [event.kind for event in events(path, quiet=quiet)]


def tool(event: Event) -> ToolUsed:
    assert isinstance(event.what, ToolUsed)
    return event.what


def prompts(path: Path) -> list[str]:
    return [e.what.text for e in events(path) if isinstance(e.what, PromptSubmitted)]


def messages(path: Path) -> list[str]:
    return [e.what.last_message for e in events(path) if isinstance(e.what, TurnEnded)]


def test_lines_of_no_known_kind_are_passed_over(tmp_path: Path) -> None:
    w = Written()
    w.add("from-the-future", prompt={"deep": [1, 2]})
    w.prompt("Hello")
    w.add("system", subtype="from-the-future")
    w.add("attachment", attachment={"type": "from-the-future"})
    w.add("attachment", attachment=None)
    w.user([{"type": "from-the-future"}, "not an object"])
    w.assistant({"type": "thinking", "thinking": "Hm."}, "end_turn")
    w.user(None)
    w.add("user", message="not an object")

    assert kinds(w.write(tmp_path)) == ["prompt"]


def test_a_line_that_cannot_be_read_is_skipped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[object] = []
    monkeypatch.setattr(
        log, "warning", lambda name, **values: counted.append((name, values["lines"]))
    )
    w = Written()
    w.prompt("First")
    w.prompt("Second")
    first, second = w.text().splitlines(keepends=True)
    path = w.write(tmp_path)
    path.write_bytes(first + b'{"type":\n\xff\xfe\n[]\n\n' + b"[" * 100_000 + b"\n" + second)

    assert prompts(path) == ["First", "Second"]
    assert counted == [("transcript.unreadable", 4)], "an empty line has nothing to read"


def test_a_last_line_without_a_newline_is_read_once(tmp_path: Path) -> None:
    w = Written()
    w.prompt("Hello")
    w.says("The seal was worn.")
    path = w.write(tmp_path)
    whole = path.read_bytes()
    for size, found in ((-1, ["prompt", "stop"]), (-2, ["prompt"])):
        path.write_bytes(whole[:size])
        assert kinds(path, quiet=True) == found


def test_a_result_before_its_call_is_the_calls(tmp_path: Path) -> None:
    w = Written()
    w.prompt("Hello")
    w.call("c1", command="make test")
    w.result("c1", "2 passed")
    w.says("Done.")
    path = w.write(tmp_path)
    first, call, result, *rest = path.read_bytes().splitlines(keepends=True)
    expected = events(path)
    path.write_bytes(b"".join((first, result, call, *rest)))
    found = [event.what for event in events(path)]
    assert found == [event.what for event in expected]


def test_a_line_beyond_all_measure_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "LARGEST", 2_000)
    w = Written()
    w.prompt("First")
    w.prompt("x" * 9_000)
    w.prompt("Third")

    assert prompts(w.write(tmp_path)) == ["First", "Third"]


@pytest.mark.parametrize(("length", "whole"), [(1_500_000, True), (20_000_000, False)])
def test_a_large_line_is_read_whole_or_cut(tmp_path: Path, length: int, whole: bool) -> None:
    """T7: as the hook's own words are."""
    w = Written()
    w.prompt("x" * length)

    (text,) = prompts(w.write(tmp_path))
    assert (len(text) == length) is whole
    assert ("bytes left out" in text) is not whole


@pytest.mark.parametrize("data", [b"", b"\n", b"{", b"\0" * 100, b'{"type":"user"}\n'])
def test_a_file_that_tells_nothing_tells_nothing(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)

    assert read(path) == []


def test_a_file_that_is_gone_tells_nothing(tmp_path: Path) -> None:
    path = Written().write(tmp_path)
    file = file_of(path)
    path.unlink()

    assert list(ClaudeCode().read_transcript(file, None)) == []


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-stdout>Compacted</local-command-stdout>",
        "<local-command-caveat>Caveat: not for you</local-command-caveat>",
        "<command-name>/model</command-name>\n<command-message>model</command-message>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "[Request interrupted by user]",
        "<task-notification>\n<task-id>1</task-id>",
        "  ",
    ],
)
@pytest.mark.parametrize("older", [True, False])
def test_what_the_client_says_as_the_user_is_no_prompt(
    text: str, older: bool, tmp_path: Path
) -> None:
    w = Written(older=older)
    w.prompt("Hello")
    w.user(text)
    w.user("Expanded words", isMeta=True)
    w.user("This session is being continued", isCompactSummary=True)

    assert prompts(w.write(tmp_path)) == ["Hello"]


def test_a_notice_is_told_as_the_hook_tells_it(tmp_path: Path) -> None:
    w = Written()
    w.prompt("<task-notification>\n<task-id>1</task-id>", promptSource="system")

    (event,) = events(w.write(tmp_path))
    assert isinstance(event.what, PromptSubmitted)
    assert event.what.by_machine


def test_a_command_of_the_users_own_is_told_as_it_was_typed(tmp_path: Path) -> None:
    w = Written(older=True)
    w.user(
        "<command-message>shop:fix</command-message>\n<command-name>/shop:fix</command-name>\n"
        "<command-args>the till</command-args>"
    )
    w.user("<command-message>tidy</command-message>\n<command-name>/tidy</command-name>")

    assert prompts(w.write(tmp_path)) == ["/shop:fix the till", "/tidy"]


def test_the_text_of_a_prompt_with_a_picture_is_told(tmp_path: Path) -> None:
    w = Written()
    picture = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    w.prompt([picture, {"type": "text", "text": "What is this?"}])  # type: ignore[arg-type]

    assert prompts(w.write(tmp_path)) == ["What is this?"]


def test_an_older_turn_ends_when_the_next_prompt_comes(tmp_path: Path) -> None:
    w = Written(older=True)
    w.prompt("First")
    w.says("I look.")
    w.call("a", command="ls")
    w.result("a", "b.txt", {"stdout": "b.txt"})
    w.says("\n\nThere is b.txt.")
    open_ = w.write(tmp_path)
    assert messages(open_) == []
    assert [e.kind for e in events(open_, quiet=True)] == ["prompt", "message", "tool", "stop"]

    w.prompt("Second")
    assert messages(w.write(tmp_path)) == ["There is b.txt."]


def test_a_turn_that_was_interrupted_has_no_end(tmp_path: Path) -> None:
    w = Written(older=True)
    w.prompt("First")
    w.says("I begin.")
    w.user([{"type": "text", "text": "[Request interrupted by user]"}])
    w.prompt("Second")

    assert kinds(w.write(tmp_path)) == ["prompt", "prompt"]


def test_a_turn_that_failed_has_no_end(tmp_path: Path) -> None:
    w = Written()
    w.prompt("First")
    w.says("API Error: 500", "stop_sequence")["isApiErrorMessage"] = True
    w.add("system", subtype="turn_duration")
    w.prompt("Second")

    assert kinds(w.write(tmp_path)) == ["prompt", "prompt"]


def test_a_turn_that_ended_without_a_word_has_an_end(tmp_path: Path) -> None:
    w = Written(older=True)
    w.prompt("First")
    w.call("a", command="ls")
    w.result("a", "", {"stdout": ""})
    w.add("system", subtype="stop_hook_summary")
    w.add("system", subtype="turn_duration")

    assert messages(w.write(tmp_path)) == [""]


@pytest.mark.parametrize(
    ("tool", "values", "ends"),
    [("StructuredOutput", {}, 1), ("Bash", {"entrypoint": "sdk-ts"}, 1), ("Bash", {}, 0)],
)
def test_a_structured_answer_and_the_last_call_of_an_sdk_run_are_an_end(
    tmp_path: Path, tool: str, values: dict[str, str], ends: int
) -> None:
    w = Written()
    w.prompt("Review it", **values)
    w.call("a", tool, command="ls")
    w.result("a", "ok", {"stdout": "ok"})
    path = w.write(tmp_path)

    assert kinds(path, quiet=True).count("stop") == ends
    assert "stop" not in kinds(path)


def test_the_last_of_several_texts_is_the_last_message(tmp_path: Path) -> None:
    w = Written()
    w.prompt("First")
    w.says("One.")
    w.says("Two.")
    w.add("cost-state")

    assert messages(w.write(tmp_path)) == ["Two."]


def test_a_call_told_as_lost_is_not_told_again_when_its_result_comes(tmp_path: Path) -> None:
    w = Written()
    w.prompt("First")
    w.call("a", command="make")
    told = read(w.write(tmp_path), quiet=True)
    assert [t.event.kind for t in told] == ["prompt", "tool"]

    w.result("a", "made", {"stdout": "made"})
    w.says("Made.")
    w.add("cost-state")
    rest = read(w.write(tmp_path), told[-1].mark)
    assert [t.event.kind for t in rest] == ["stop"]


def test_lines_of_another_session_are_not_this_ones(tmp_path: Path) -> None:
    w = Written()
    w.prompt("Copied from elsewhere", sessionId="another")
    w.prompt("Branched off", forkedFrom={"sessionId": "another"})
    w.prompt("Own")

    assert prompts(w.write(tmp_path)) == ["Own"]


def older_subagent(folder: Path) -> Path:
    w = Written(older=True)
    w.prompt("Find it")
    w.call("t", tool="Task", prompt="Look", subagent_type="Explore")
    w.add("progress", parentToolUseID="t", data={"type": "agent_progress", "agentId": "a1"})
    agent = Written(older=True, agent="a1", lines=[{}] * 3)
    agent.user("Look")
    agent.call("r", tool="Read", file_path="/home/dev/shop/a.py")
    agent.result("r", "     1→import os\n     2→\n\n<system-reminder>Mind it.</system-reminder>")
    agent.call("b", command="ls")
    agent.result("b", "a.py")
    agent.says("It is in a.py.")
    del agent.lines[:3]
    agent.write(folder)
    w.lines += [{}] * 8
    w.result("t", "It is in a.py.", {"status": "completed", "agentId": "a1"})
    w.lines = [line for line in w.lines if line]
    return w.write(folder)


def test_an_older_subagent_is_told_with_its_type_before_what_it_handed_back(tmp_path: Path) -> None:
    told = events(older_subagent(tmp_path))

    assert [(e.kind, e.tool) for e in told] == [
        ("prompt", None),
        ("tool", "Read"),
        ("tool", "Bash"),
        ("subagent_stop", None),
        ("tool", "Task"),
    ]
    assert [e.subagent for e in told[1:4]] == [Subagent("a1", "Explore")] * 3
    assert told[3].what == SubagentEnded("It is in a.py.")
    assert told[3].key == "subagent:a1"


def test_what_a_subagent_saw_becomes_what_its_hook_was_told(tmp_path: Path) -> None:
    told = events(older_subagent(tmp_path))

    assert tool(told[1]).action == FileRead("/home/dev/shop/a.py", 1, 2, 2, "import os\n")
    assert tool(told[2]).action == CommandRun("ls", None, "a.py", "", False)


def test_a_subagents_writing_is_told_without_what_was_there_before(tmp_path: Path) -> None:
    w = Written()
    w.prompt("Write")
    given = {"file_path": "/home/dev/shop/a.py", "content": "one\n"}
    for name in ("new", "old"):
        w.call(name, tool="Write", **given)
    w.result("new", "File created successfully at: /home/dev/shop/a.py")
    w.result("old", "The file /home/dev/shop/a.py has been updated successfully.")

    actions = [tool(e).action for e in events(w.write(tmp_path)) if e.kind == "tool"]
    path = "/home/dev/shop/a.py"
    assert actions == [
        FileChanged(path, True, (), None, "one\n"),
        FileChanged(path, False, (), None, "one\n"),
    ]


@pytest.mark.parametrize("folder", ["/x/tool-results", "/etc", ".."])
def test_a_large_output_is_read_from_beside_the_transcript_and_from_nowhere_else(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "LARGE_OUTPUT", 10)
    w = Written()
    w.prompt("Run it")
    text = "<persisted-output>\nOutput too large. Full output saved to: {}\n\nPreview:\nab"
    for name in ("large", "passwd"):
        w.call(name, command="make")
        w.result(name, text.format(f"{folder}/{name}"))
    path = w.write(tmp_path)
    outputs = tmp_path / w.session / "tool-results"
    outputs.mkdir(parents=True)
    (outputs / "large").write_text("0123456789abc")

    large, other = (tool(e).action for e in events(path) if e.kind == "tool")
    assert isinstance(large, CommandRun)
    assert isinstance(other, CommandRun)
    assert large.stdout == "0123456789\n[The output goes on; it was cut here.]"
    assert other.stdout.endswith("Preview:\nab")


@pytest.mark.parametrize(
    ("text", "values", "error", "interrupted"),
    [
        ("Exit code 2\nno", {"toolUseResult": "Error: Exit code 2\nno"}, "Exit code 2\nno", False),
        ("<tool_use_error>No such tool</tool_use_error>", {}, "No such tool", False),
        (
            "The user doesn't want to proceed with this tool use. STOP what you are doing.",
            {"toolUseResult": "User rejected tool use"},
            "[Request interrupted by user for tool use]",
            True,
        ),
        (
            "The user doesn't want to proceed. To tell you how to proceed, the user said:\nUse make",
            {"toolDenialKind": "user-rejected"},
            "The user doesn't want to proceed. To tell you how to proceed, the user said:\nUse make",
            True,
        ),
        (
            "[Tool call interrupted: the session ended. Check before you go on.]",
            {"toolDenialKind": "interrupted"},
            "[Tool call interrupted: the session ended before this call's result was recorded]",
            True,
        ),
    ],
)
def test_a_failure_is_told_as_the_hook_tells_it(
    text: str, values: dict[str, object], error: str, interrupted: bool, tmp_path: Path
) -> None:
    w = Written()
    w.prompt("Run it")
    w.call("a", command="make")
    w.result("a", text, failed=True, **values)

    failure = tool(events(w.write(tmp_path))[-1]).failure
    assert failure is not None
    assert (failure.error, failure.interrupted) == (error, interrupted)


def test_a_sessions_start_is_told_once_if_hooks_spoke_then(tmp_path: Path) -> None:
    w = Written()
    for firing in ("one", "one", "two"):
        hook = {"type": "hook_success", "hookEvent": "SessionStart", "toolUseID": firing}
        w.add("attachment", attachment=hook | {"hookName": "SessionStart:resume"})
        context = {"type": "hook_additional_context", "hookEvent": "SessionStart"}
        w.add("attachment", attachment=context | {"hookName": "SessionStart", "toolUseID": "x"})
    w.prompt("Go on")

    assert kinds(w.write(tmp_path)) == ["session_start", "session_start", "prompt"]


def test_sessions_are_found_newest_first_and_subagents_are_none(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    for number, name in enumerate(("old", "new")):
        w = Written(session=name * 3)
        w.add("mode")
        w.prompt("Hello")
        os.utime(w.write(projects / "-home-dev-shop"), (1000 + number, 1000 + number))
    Written(session="newnewnew", agent="a1").write(projects / "-home-dev-shop")
    (projects / "-home-dev-shop" / "agent-b2.jsonl").write_text("{}\n")
    (projects / "-home-dev-shop" / "empty.jsonl").touch()

    found = list(ClaudeCode().transcripts({"HOME": str(tmp_path)}))
    assert [(f.session, f.cwd) for f in found] == [
        ("empty", ""),
        ("newnewnew", "/home/dev/shop"),
        ("oldoldold", "/home/dev/shop"),
    ]
    assert found[1].modified == 1_001_000
    assert found[1].size == Path(found[1].path).stat().st_size
    moved = {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")}
    assert list(ClaudeCode().transcripts(moved)) == found
    assert list(ClaudeCode().transcripts({"HOME": "/nowhere"})) == []


def test_a_capture_has_the_same_id_at_every_reading(tmp_path: Path) -> None:
    first = read(older_subagent(tmp_path))
    again = read(older_subagent(tmp_path))

    assert [t.capture for t in first] == [t.capture for t in again]
    assert len({t.capture.id for t in first}) == len(first)
    assert all(json.loads(t.capture.body)["session_id"] == t.event.session for t in first)
