"""Reads the messages of an agent loop.

Anthropic's format: role and content, which is a text or a list of blocks (text, tool_use, tool_result).
OpenAI's is read as far as it is similar. Blocks may be dicts or objects of the SDKs. Injected context is
removed: it is not what the user said.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
# Words of the name of a tool that only reads. Calls of a subagent are not visible, so it counts as reading.
READ_TOOL = re.compile(
    r"(?:^|_|(?<=[a-z])(?=[A-Z]))(?i:read|view|glob|grep|search|list|ls|fetch|task|agent)(?=_|[A-Z]|$)"
)
# A shell command that may write.
WRITES = re.compile(
    r"(?<!\d)>(?!\s*/dev/null)|\b(?:rm|mv|cp|tee|touch|sed|dd|ln|install|truncate|python\d?)\b"
)
WORD_END = re.compile(r"[\s><=;|&'\"]+")


def read_dialogue(messages: Sequence[Any]) -> tuple[Message, ...]:
    """The texts of user and assistant, oldest first, without tool calls and results."""
    spoken = (each[:2] for each in _iter_messages(messages) if each[0] in SPOKEN_ROLES and each[1])
    return tuple(Message(role, text) for role, text in spoken)


def wrote_memory(messages: Sequence[Any], folders: Iterable[Path], directory: Path) -> bool:
    """Whether the agent itself changed memory files since the user's last message."""
    within = [folder.resolve() for folder in folders]
    calls: dict[str, tuple[str, Any]] = {}  # of the newest turn: tool and parameters by id
    for role, text, message in _iter_messages(messages):
        if role == "user" and text:
            calls = {}
        content = _get(message, "content")
        for block in () if isinstance(content, str) else content or ():
            if _get(block, "type") == "tool_use":
                calls[str(_get(block, "id"))] = str(_get(block, "name")), _get(block, "input")
            if _get(block, "is_error") is True:
                calls.pop(str(_get(block, "tool_use_id")), None)
        for call in _get(message, "tool_calls") or ():
            given = _get(call, "function")
            calls[str(_get(call, "id"))] = str(_get(given, "name")), _get(given, "arguments")
    return any(_changes_memory(tool, given, within, directory) for tool, given in calls.values())


def _iter_messages(messages: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    """Role, text and the message itself."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise BadMessages
    for message in messages:
        role, content = _get(message, "role"), _get(message, "content")
        if not isinstance(role, str) or not isinstance(content, str | Sequence | None):
            raise BadMessages
        texts: list[Any] = [content]
        if not isinstance(content, str):
            texts = [_get(b, "text") for b in content or () if _get(b, "type") in TEXT_BLOCKS]
        plain = (INJECTED.sub("", text).strip() for text in texts if isinstance(text, str))
        yield role, "\n".join(filter(None, plain)), message


def _changes_memory(tool: str, given: Any, folders: list[Path], directory: Path) -> bool:
    if isinstance(given, str):
        with suppress(ValueError):
            given = json.loads(given)
    command = given.get("command") if isinstance(given, Mapping) else None
    if tool == MEMORY_TOOL and command in CHANGE_COMMANDS:
        return True
    if READ_TOOL.search(tool):
        return False
    if isinstance(command, str):  # of a shell
        return WRITES.search(command) is not None and any(
            _is_inside(word, folders, directory) for word in WORD_END.split(command)
        )
    return any(_is_inside(text, folders, directory) for text in _strings(given))


def _is_inside(word: str, folders: list[Path], directory: Path) -> bool:
    if "/" not in word or len(word) > 4096:
        return False
    try:
        path = (directory / Path(word).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(path.is_relative_to(folder) for folder in folders)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _strings(item)
        case list() | tuple():
            for item in value:
                yield from _strings(item)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
