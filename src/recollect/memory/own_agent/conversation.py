"""Messages as agent loops keep them, read as plain talk.

Anthropic's form: role and content, which is a text or a list of blocks (text, tool_use, tool_result).
OpenAI's is read where it differs little. Blocks may be dicts or the SDKs' own objects: people append what
they were given. What we handed over ourselves is not what the user said, so it is taken out again.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.errors import BadMessages
from recollect.model.memories import Message

SPOKEN = ("user", "assistant")
TEXT_BLOCKS = ("text", "input_text", "output_text")
HANDED_OVER = re.compile(
    r"<(recollect-memory|system-reminder)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
MEMORY_TOOL, CHANGES = "memory", ("create", "str_replace", "insert", "delete", "rename")
# Of a tool's name, in any way of writing it: a helper's own calls are not ours to judge.
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
READS = frozenset(
    {"read", "view", "glob", "grep", "search", "list", "ls", "fetch", "task", "agent"}
)
# What a shell is given, and what of it only looks.
COMMANDS = ("command", "cmd", "script")
LOOKS = re.compile(r"(?:cat|cd|diff|file|find|grep|head|less|ls|rg|stat|tail|tree|wc)\b")
HARMLESS = re.compile(r"\d?>\s*/dev/null|\d?>&\d")


@dataclass(frozen=True, slots=True)
class Used:
    """A tool call, and whether it went wrong."""

    id: str
    tool: str
    given: Mapping[str, Any]


def dialogue(messages: Sequence[Any]) -> tuple[Message, ...]:
    """What user and assistant said, oldest first; neither tool calls nor their results."""
    said = (Message(role, text) for role, text, _ in _read(messages) if role in SPOKEN)
    return tuple(message for message in said if message.text)


def newest_prompt(messages: Sequence[Any]) -> str:
    """What the user said last, or nothing."""
    return next((m.text for m in reversed(dialogue(messages)) if m.role == "user"), "")


def wrote_memory(messages: Sequence[Any], folders: Iterable[Path], directory: Path) -> bool:
    """Whether the agent itself changed files of the memory since the user's last words."""
    within = [folder.resolve() for folder in folders]
    failed = _failed(messages)
    return any(_changes(use, within, directory) for use in _used(messages) if use.id not in failed)


def _read(messages: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise BadMessages
    for message in messages:
        role, content = _of(message, "role"), _of(message, "content")
        if not isinstance(role, str) or not isinstance(content, str | Sequence | None):
            raise BadMessages
        texts = [content] if isinstance(content, str) else map(_text, content or ())
        plain = (HANDED_OVER.sub("", text).strip() for text in texts)
        yield role, "\n".join(filter(None, plain)), message


def _used(messages: Sequence[Any]) -> list[Used]:
    """The calls of the newest turn."""
    turn: list[Used] = []
    for role, text, message in _read(messages):
        if role == "user" and text:
            turn = []
        for block in _blocks(message):
            if _of(block, "type") == "tool_use":
                turn.append(_use(_of(block, "id"), _of(block, "name"), _of(block, "input")))
        for call in _of(message, "tool_calls") or ():
            function = _of(call, "function")
            turn.append(_use(_of(call, "id"), _of(function, "name"), _of(function, "arguments")))
    return turn


def _use(id_: Any, tool: Any, given: Any) -> Used:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"text": given}
    return Used(str(id_), str(tool), given if isinstance(given, Mapping) else {"value": given})


def _failed(messages: Sequence[Any]) -> set[str]:
    results = (block for *_, message in _read(messages) for block in _blocks(message))
    return {str(_of(block, "tool_use_id")) for block in results if _of(block, "is_error") is True}


def _changes(use: Used, folders: list[Path], directory: Path) -> bool:
    if use.tool == MEMORY_TOOL and use.given.get("command") in CHANGES:
        return True
    if READS.intersection(word.lower() for word in WORD.findall(use.tool)):
        return False
    for key, text in _strings(use.given):
        shell = key in COMMANDS
        words = _words(text) if shell else [text]
        if any(_inside(word, folders, directory) for word in words):
            return not (shell and _only_looks(text))
    return False


def _inside(word: str, folders: list[Path], directory: Path) -> bool:
    if "/" not in word or len(word) > 4096:
        return False
    try:
        path = (directory / Path(word).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(path.is_relative_to(folder) for folder in folders)


def _only_looks(command: str) -> bool:
    parts = re.split(r"[|;&\n]+", HARMLESS.sub("", command))
    words = [part.split() for part in parts if part.strip()]
    return all(LOOKS.fullmatch(part[0]) and not any(">" in word for word in part) for part in words)


def _words(text: str) -> list[str]:
    """As a shell takes them apart."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [part for word in words for part in re.split(r"[><=]+", word) if part]


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """With the name that each was given by."""
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
    content = _of(message, "content")
    return content if isinstance(content, Sequence) and not isinstance(content, str) else ()


def _text(block: Any) -> str:
    text = _of(block, "text") if _of(block, "type") in TEXT_BLOCKS else None
    return text if isinstance(text, str) else ""


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
