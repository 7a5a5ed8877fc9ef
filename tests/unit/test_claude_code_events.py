"""Claude Code's payloads become events: every recorded one, and anything that looks a little like one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import (
    Capture,
    CommandRun,
    CompactionBegan,
    Event,
    Failure,
    FileChanged,
    FileRead,
    FileWanted,
    OtherTool,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
    Unreadable,
)
from tests.support.tables import loop_over

PAYLOADS = Path(__file__).parents[1] / "fixtures/payloads"
NAMES = sorted(path.stem for path in PAYLOADS.glob("*.json"))
QUESTIONS = [name for name in NAMES if name.startswith("PreToolUse")]  # nothing has happened yet
RECORDED = [name for name in NAMES if name not in QUESTIONS]
HAPPENINGS: dict[str, type] = {
    "SessionStart": SessionStarted,
    "UserPromptSubmit": PromptSubmitted,
    "PostToolUse": ToolUsed,
    "PostToolUseFailure": ToolUsed,
    "Stop": TurnEnded,
    "SubagentStop": SubagentEnded,
    "PreCompact": CompactionBegan,
    "SessionEnd": SessionEnded,
}
ACTIONS = {"Write": FileChanged, "Edit": FileChanged, "Read": FileRead, "Bash": CommandRun}


def parse(body: bytes) -> Event | Unreadable | None:
    return ClaudeCode().parse(Capture("name", "claude-code", "save", "/home/dev/shop", body, 0))


def wanted(body: bytes) -> FileWanted | None:
    capture = Capture("name", "claude-code", "file", "/home/dev/shop", body, 0)
    return ClaudeCode().file_wanted(capture)


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_text())
    return found


def event_of(payload: object) -> Event:
    event = parse(json.dumps(payload).encode())
    assert isinstance(event, Event), event
    return event


def tool_of(payload: object) -> ToolUsed:
    what = event_of(payload).what
    assert isinstance(what, ToolUsed)
    return what


@loop_over("name", RECORDED)
def test_a_recorded_payload_becomes_the_right_event(name: str) -> None:
    payload = recorded(name)
    event = parse(json.dumps(payload).encode())
    if payload["hook_event_name"] == "SubagentStop" and not payload["agent_type"]:
        assert event is None  # a compaction looks like that
        return
    assert isinstance(event, Event)
    assert type(event.what) is HAPPENINGS[payload["hook_event_name"]]
    assert event.session == payload["session_id"]
    assert event.cwd == payload["cwd"]
    assert event.transcript == payload["transcript_path"]
    assert event.prompt_id == payload.get("prompt_id")
    if isinstance(event.what, ToolUsed):
        assert type(event.what.action) is ACTIONS.get(payload["tool_name"], OtherTool)
        assert event.key == f"tool:{payload['tool_use_id']}"
        assert (event.what.failure is not None) == ("error" in payload)


def test_an_edit_keeps_its_hunks_and_what_was_there_before() -> None:
    what = tool_of(recorded("PostToolUse.Edit"))
    assert isinstance(what.action, FileChanged)
    (hunk,) = what.action.hunks
    assert (hunk.removed, hunk.added) == (("world",), ("memory",))
    assert (what.action.path, what.action.before) == ("/home/dev/shop/demo.txt", "hello\nworld\n")


def test_a_failed_command_keeps_its_exit_code() -> None:
    what = tool_of(recorded("PostToolUseFailure.Bash"))
    assert isinstance(what.action, CommandRun)
    assert what.action.command == "exit 3"
    assert what.failure == Failure("Exit code 3", 3, False)


def test_what_the_client_says_itself_is_no_prompt_of_the_user() -> None:
    machine = event_of(recorded("UserPromptSubmit.task-notification")).what
    assert isinstance(machine, PromptSubmitted)
    assert machine.by_machine
    assert event_of(recorded("UserPromptSubmit")).what == PromptSubmitted(
        "please build the demo", False
    )


def test_the_same_happening_has_the_same_key_and_others_have_others() -> None:
    prompt, stop = recorded("UserPromptSubmit"), recorded("Stop")
    assert event_of(prompt).key == event_of(prompt | {"permission_mode": "plan"}).key
    assert event_of(prompt).key != event_of(prompt | {"prompt": "another"}).key
    assert event_of(stop).key != event_of(stop | {"last_assistant_message": "More."}).key
    assert event_of(recorded("SessionEnd")).key is None
    without = {k: v for k, v in prompt.items() if k != "prompt_id"}
    assert event_of(without).key is None


@loop_over(
    ("body", "why"),
    [
        (b"", "sent nothing"),
        (b" \n", "sent nothing"),
        (b'{"session_id": "s", "tool', "cut off"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'{"hook_event_name":"Stop"}', "session_id"),
        (b'{"session_id":7}', "session_id"),
        (b'{"a":' * 100_000, "nested over"),
        (b'{"session_id":"s","n":' + b"9" * 5000 + b"}", "digits"),
    ],
)
def test_what_cannot_be_placed_says_why(body: bytes, why: str) -> None:
    found = parse(body)
    assert isinstance(found, Unreadable)
    assert why in found.why


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbf{"session_id":"s","hook_event_name":"Stop"}',
        b'{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"\xff\xfe"}',
        b'{"session_id":"\\ud800","hook_event_name":"Stop"}\r\n',
        b'{"session_id":"s","session_id":"t","hook_event_name":"Stop","n":NaN}',
    ],
)
def test_odd_bytes_are_tolerated(body: bytes) -> None:
    assert isinstance(parse(body), Event)


def test_an_event_that_we_do_not_keep_is_no_error() -> None:
    assert parse(b'{"session_id":"s","hook_event_name":"Notification"}') is None
    assert parse(b'{"session_id":"s"}') is None


@loop_over("depth", range(950, 1000))
def test_a_depth_that_can_just_be_read_is_no_error(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    head = b'{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"X","tool_input":'
    assert isinstance(parse(head + nested + b"}"), Event | Unreadable)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = sorted({field for name in RECORDED for field in recorded(name)})


@given(st.sampled_from(RECORDED), st.dictionaries(st.sampled_from(FIELDS), JSON), st.data())
def test_any_field_may_be_odd_or_missing(
    name: str, odd: dict[str, object], data: st.DataObject
) -> None:
    payload = recorded(name)
    for field in data.draw(st.sets(st.sampled_from(sorted(payload)))):
        del payload[field]
    payload |= odd
    found = parse(json.dumps(payload).encode())
    assert found is None or isinstance(found, Event | Unreadable)


@given(st.sampled_from(RECORDED), st.sampled_from(["tool_input", "tool_response"]), st.data())
def test_any_part_of_a_tool_may_be_odd(name: str, field: str, data: st.DataObject) -> None:
    payload = recorded(name)
    part = payload.get(field)
    if isinstance(part, dict) and part:
        part |= {key: data.draw(JSON) for key in data.draw(st.sets(st.sampled_from(sorted(part))))}
    found = parse(json.dumps(payload).encode())
    assert found is None or isinstance(found, Event)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_event_or_say_why_not(body: bytes) -> None:
    found = parse(body)
    assert found is None or isinstance(found, Event | Unreadable)


@loop_over("name", QUESTIONS)
def test_what_is_about_to_happen_is_no_event(name: str) -> None:
    assert parse(json.dumps(recorded(name)).encode()) is None


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("PreToolUse.Read", "/no/such/file"),
        ("PreToolUse.Edit", "/home/dev/shop/demo.txt"),
        ("PreToolUse.Write", "/home/dev/shop/demo.txt"),
    ],
)
def test_a_file_that_is_about_to_be_opened_is_asked_about(name: str, path: str) -> None:
    payload = recorded(name)
    question = FileWanted(payload["session_id"], path, name.partition(".")[2])
    assert wanted(json.dumps(payload).encode()) == question
    inside = payload | {"agent_id": "a1", "agent_type": "Explore"}
    assert wanted(json.dumps(inside).encode()) == question


def test_a_notebook_is_a_file_too() -> None:
    payload = recorded("PreToolUse.Read") | {"tool_input": {"notebook_path": "/x/a.ipynb"}}
    assert wanted(json.dumps(payload).encode()) == FileWanted(
        payload["session_id"], "/x/a.ipynb", "Read"
    )


@pytest.mark.parametrize("name", ["PreToolUse.Bash", "PreToolUse.in-subagent", "PostToolUse.Read"])
def test_what_opens_no_file_asks_about_none(name: str) -> None:
    assert wanted(json.dumps(recorded(name)).encode()) is None


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_question_or_none(body: bytes) -> None:
    assert wanted(body) is None


@given(st.sampled_from(QUESTIONS), st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_a_question_may_be_odd(name: str, odd: dict[str, object]) -> None:
    found = wanted(json.dumps(recorded(name) | odd).encode())
    assert found is None or (found.path and found.session)


def test_an_answer_about_a_file_decides_nothing() -> None:
    output = json.loads(ClaudeCode().reply("file", "known"))
    specific = {"hookEventName": "PreToolUse", "additionalContext": "known"}
    assert output == {"hookSpecificOutput": specific}


def test_an_exit_code_may_be_absurd() -> None:
    payload = recorded("PostToolUseFailure.Bash")
    failure = tool_of(payload | {"error": "Exit code " + "9" * 5000}).failure
    assert failure is not None
    assert failure.exit_code is None


@given(st.text(max_size=200), st.none() | st.text(max_size=200))
def test_a_reply_is_one_line_of_ascii_json(context: str, note: str | None) -> None:
    reply = ClaudeCode().reply("context", context, note=note)
    if not context and not note:
        assert reply == b""
        return
    assert reply.isascii()
    assert b"\n" not in reply
    output = json.loads(reply)
    assert output.get("systemMessage", "") == (note or "")
    assert output.get("hookSpecificOutput", {}).get("additionalContext", "") == context


def test_a_reply_never_exceeds_what_the_client_shows() -> None:
    output = json.loads(ClaudeCode().reply("new", "x" * 20_000))
    assert len(output["hookSpecificOutput"]["additionalContext"]) == ClaudeCode.context_limit
    assert output["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
