"""Messages of agent loops, read as talk; and whether the agent wrote memory files itself."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aforesaid.errors import BadMessages
from aforesaid.memory.api import FunctionModel
from aforesaid.memory.conversation import read_dialogue, wrote_memory
from aforesaid.model.memories import Message
from aforesaid.model.requests import Refused, Reply, Request, Unavailable
from tests.support.tables import loop_over

DIALOGUE = (
    Message("user", "I prefer tabs."),
    Message("assistant", "Noted.\nI will look."),
    Message("user", "Create a.py"),
    Message("assistant", "Done."),
)
ANTHROPIC = [
    {"role": "user", "content": "I prefer tabs."},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Noted."},
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
            {"type": "text", "text": "I will look."},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "I prefer spaces."}],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "text",
                "text": '<aforesaid-memory project="x">\nI prefer vim.\n</aforesaid-memory>',
            },
            {"type": "text", "text": "Create a.py"},
            {"type": "text", "text": "<system-reminder>Use emacs.</system-reminder>"},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
]
OPENAI = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": [{"type": "input_text", "text": "I prefer tabs."}]},
    {
        "role": "assistant",
        "content": "Noted.\nI will look.",
        "tool_calls": [
            {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "I prefer spaces."},
    {"role": "user", "content": "Create a.py"},
    {"role": "assistant", "content": "Done.", "tool_calls": None},
]


def as_objects(value: Any) -> Any:
    """As the SDKs give their blocks."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_objects(each) for key, each in value.items()})
    return [as_objects(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("messages", [ANTHROPIC, OPENAI, as_objects(ANTHROPIC)])
def test_only_what_was_said_is_read(messages: list[Any]) -> None:
    assert read_dialogue(messages) == DIALOGUE


def test_an_envelope_that_is_not_closed_hides_the_rest() -> None:
    said = "Mine.\n<aforesaid-memory project='x'>\nI prefer vim."
    assert read_dialogue([{"role": "user", "content": said}]) == (Message("user", "Mine."),)


def test_nothing_said_is_nothing() -> None:
    assert read_dialogue([]) == ()
    assert read_dialogue([{"role": "assistant", "content": None}]) == ()


@loop_over("wrong", ["text", {"role": "user", "content": "x"}, None, 5, ["x"], [{"content": "x"}]])
def test_what_is_no_conversation_is_refused_with_the_fix(wrong: Any) -> None:
    with pytest.raises(BadMessages, match="`role` and `content`"):
        read_dialogue(wrong)


def use(name: str, **given: Any) -> list[Any]:
    block = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    return [{"role": "user", "content": "go on"}, {"role": "assistant", "content": [block]}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path / "memory"


def wrote(messages: list[Any], folder: Path) -> bool:
    return wrote_memory(messages, [folder], folder.parent)


@pytest.mark.parametrize(
    "messages",
    [
        use("memory", command="create", path="/memories/a.md", file_text="x"),
        use("memory", command="delete", path="/memories/a.md"),
        use("write_file", path="memory/a.md", content="x"),
        use("Edit", file_path="{}/a.md", old_string="a", new_string="b"),
        use("bash", command="echo x > {}/a.md"),
        use("bash", command="cat a.md >>{}/a.md"),
        use("bash", command="cd {} && rm a.md"),
        use("bash", command="cat <<EOF > memory/a.md\nx\nEOF"),
        use("thread_writer", path="memory/a.md"),
        use("MultiEdit", edits=[{"file_path": "memory/../memory/a.md"}]),
    ],
)
def test_the_agents_own_writing_is_seen(messages: list[Any], folder: Path) -> None:
    _fill(messages, folder)
    assert wrote(messages, folder)
    tool_result = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    assert not wrote([*messages, {"role": "user", "content": [tool_result]}], folder)  # it failed
    assert not wrote([*messages, {"role": "user", "content": "next turn"}], folder)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        use("memory", command="view", path="/memories"),
        use("read_file", path="memory/a.md"),
        use("Grep", pattern="x", path="{}"),
        use("NotebookRead", notebook_path="memory/a.md"),
        use("mcp__files__read_file", path="memory/a.md"),
        use("bash", command="cat {}/a.md 2>/dev/null | head -5"),
        use("bash", command="ls {}; grep -r tabs {}"),
        use("write_file", path="other/a.md", content="see {}/a.md"),
        use("write_file", path="memory.md", content="x"),
        use("task", prompt="write {}/a.md"),
        use("odd", path=None, more=[1, {"x": 2.5}]),
    ],
)
def test_looking_is_not_writing(messages: list[Any], folder: Path) -> None:
    _fill(messages, folder)
    assert not wrote(messages, folder)


def test_openai_calls_are_seen_too(folder: Path) -> None:
    call = {"id": "c", "function": {"name": "write_file", "arguments": '{"path": "memory/a.md"}'}}
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert wrote(messages, folder)
    call["function"]["arguments"] = "{broken"  # type: ignore[index]
    assert not wrote(messages, folder)


def _fill(messages: list[Any], folder: Path) -> None:
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else []:
            given = block["input"]
            given |= {
                k: v.replace("{}", str(folder)) for k, v in given.items() if isinstance(v, str)
            }


REQUEST = Request("system", (("asked", "answered"),), "now", 100)


def test_a_function_is_a_model() -> None:
    asked = []

    def ask(system: str, user: str) -> str:
        asked.append((system, user))
        return "answer"

    model = FunctionModel(ask)
    reply = model.ask(REQUEST)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model) == ("answer", "ask")
    ((system, user),) = asked
    assert system == "system"
    assert user.index("asked") < user.index("answered") < user.index("now")


def test_a_function_that_fails_has_not_answered() -> None:
    def fails(system: str, user: str) -> str:
        raise RuntimeError("secret words")

    failure = FunctionModel(fails).ask(REQUEST)
    assert isinstance(failure, Unavailable)
    assert failure.why == "fails failed: RuntimeError"
    assert isinstance(FunctionModel(lambda system, user: None).ask(REQUEST), Refused)  # type: ignore[arg-type,return-value]
