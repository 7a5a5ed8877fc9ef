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


def read_dialogue(messages: Sequence[Any]) -> tuple[Message, ...]:
    """The texts of user and assistant, oldest first, without tool calls and results."""
    spoken = (each[:2] for each in _iter_messages(messages) if each[0] in SPOKEN_ROLES and each[1])
    return tuple(Message(role, text) for role, text in spoken)


def wrote_memory(messages: Sequence[Any], folders: Iterable[Path], directory: Path) -> bool:
    """Whether the agent itself changed memory files since the user's last message."""
    within = [folder.resolve() for folder in folders]
    calls: list[tuple[str, str, Any]] = []  # of the newest turn: id, tool and parameters
    failed: set[str] = set()
    for role, text, message in _iter_messages(messages):
        if role == "user" and text:
            calls = []
        content = _get(message, "content")
        for block in () if isinstance(content, str) else content or ():
            if _get(block, "type") == "tool_use":
                calls.append(
                    (str(_get(block, "id")), str(_get(block, "name")), _get(block, "input"))
                )
            if _get(block, "is_error") is True:
                failed.add(str(_get(block, "tool_use_id")))
        for call in _get(message, "tool_calls") or ():
            given = _get(call, "function")
            calls.append(
                (str(_get(call, "id")), str(_get(given, "name")), _get(given, "arguments"))
            )
    return any(
        _changes_memory(tool, given, within, directory)
        for id_, tool, given in calls
        if id_ not in failed
    )


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
    if READ_WORDS.intersection(word.lower() for word in WORD.findall(tool)):
        return False
    for key, text in _strings(given):
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


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
