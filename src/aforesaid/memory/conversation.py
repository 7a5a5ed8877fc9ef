"""Reads the messages of an agent loop.

Anthropic's format: role and content, which is a text or a list of blocks (text, tool_use, tool_result).
OpenAI's is read as far as it is similar. Blocks may be dicts or objects of the SDKs. Injected context is
removed: it is not what the user said.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aforesaid.errors import BadMessages
from aforesaid.model.memories import Message

SPOKEN_ROLES = ("user", "assistant")
TEXT_BLOCKS = ("text", "input_text", "output_text")
INJECTED = re.compile(
    r"<(aforesaid-memory|system-reminder)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
MEMORY_TOOL, CHANGE_COMMANDS = "memory", ("create", "str_replace", "insert", "delete", "rename")
# Words of a tool name in camel or snake case. Calls of a subagent are not visible, so it counts as reading.
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
READ_WORDS = frozenset(
    {"read", "view", "glob", "grep", "search", "list", "ls", "fetch", "task", "agent"}
)
# Parameters of shell tools, and commands that only read.
COMMAND_KEYS = ("command", "cmd", "script")
READ_ONLY = re.compile(r"(?:cat|cd|diff|file|find|grep|head|less|ls|rg|stat|tail|tree|wc)\b")
SHELL_SEPARATOR = re.compile(r"[\s><=;|&'\"]+")
HARMLESS_REDIRECT = re.compile(r"\d?>\s*/dev/null|\d?>&\d")


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    tool: str
    given: Mapping[str, Any]


def read_dialogue(messages: Sequence[Any]) -> tuple[Message, ...]:
    """The texts of user and assistant, oldest first, without tool calls and results."""
    spoken = (
        Message(role, text) for role, text, _ in _iter_messages(messages) if role in SPOKEN_ROLES
    )
    return tuple(message for message in spoken if message.text)


def wrote_memory(messages: Sequence[Any], folders: Iterable[Path], directory: Path) -> bool:
    """Whether the agent itself changed memory files since the user's last message."""
    within = [folder.resolve() for folder in folders]
    failed = _failed_calls(messages)
    return any(
        _changes_memory(call, within, directory)
        for call in _tool_calls(messages)
        if call.id not in failed
    )


def _iter_messages(messages: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise BadMessages
    for message in messages:
        role, content = _get(message, "role"), _get(message, "content")
        if not isinstance(role, str) or not isinstance(content, str | Sequence | None):
            raise BadMessages
        texts = [content] if isinstance(content, str) else map(_text, content or ())
        plain = (INJECTED.sub("", text).strip() for text in texts)
        yield role, "\n".join(filter(None, plain)), message


def _tool_calls(messages: Sequence[Any]) -> list[ToolCall]:
    """The calls of the newest turn."""
    turn: list[ToolCall] = []
    for role, text, message in _iter_messages(messages):
        if role == "user" and text:
            turn = []
        for block in _blocks(message):
            if _get(block, "type") == "tool_use":
                turn.append(
                    _tool_call(_get(block, "id"), _get(block, "name"), _get(block, "input"))
                )
        for call in _get(message, "tool_calls") or ():
            function = _get(call, "function")
            turn.append(
                _tool_call(_get(call, "id"), _get(function, "name"), _get(function, "arguments"))
            )
    return turn


def _tool_call(id_: Any, tool: Any, given: Any) -> ToolCall:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"text": given}
    return ToolCall(str(id_), str(tool), given if isinstance(given, Mapping) else {"value": given})


def _failed_calls(messages: Sequence[Any]) -> set[str]:
    results = (block for *_, message in _iter_messages(messages) for block in _blocks(message))
    return {str(_get(block, "tool_use_id")) for block in results if _get(block, "is_error") is True}


def _changes_memory(call: ToolCall, folders: list[Path], directory: Path) -> bool:
    if call.tool == MEMORY_TOOL and call.given.get("command") in CHANGE_COMMANDS:
        return True
    if READ_WORDS.intersection(word.lower() for word in WORD.findall(call.tool)):
        return False
    for key, text in _strings(call.given):
        shell = key in COMMAND_KEYS
        words = SHELL_SEPARATOR.split(text) if shell else [text]
        if any(_is_inside(word, folders, directory) for word in words):
            return not (shell and _is_read_only(text))
    return False


def _is_inside(word: str, folders: list[Path], directory: Path) -> bool:
    if "/" not in word or len(word) > 4096:
        return False
    try:
        path = (directory / Path(word).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(path.is_relative_to(folder) for folder in folders)


def _is_read_only(command: str) -> bool:
    parts = re.split(r"[|;&\n]+", HARMLESS_REDIRECT.sub("", command))
    words = [part.split() for part in parts if part.strip()]
    return all(
        READ_ONLY.fullmatch(part[0]) and not any(">" in word for word in part) for part in words
    )


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All strings of the parameters, each with its key."""
    match value:
        case str():
            yield key, value
        case Mapping():
            for name, item in value.items():
                yield from _strings(item, str(name))
        case list() | tuple():
            for item in value:
                yield from _strings(item, key)


def _blocks(message: Any) -> Sequence[Any]:
    content = _get(message, "content")
    return content if isinstance(content, Sequence) and not isinstance(content, str) else ()


def _text(block: Any) -> str:
    text = _get(block, "text") if _get(block, "type") in TEXT_BLOCKS else None
    return text if isinstance(text, str) else ""


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
