"""What the memory tool's edits make of a file's text; and what a model wrote, as a memory."""

from dataclasses import replace
from pathlib import Path

from recollect.memory.storage import front_matter
from recollect.memory.storage.format import ENDING, LARGEST, parse
from recollect.memory.tool.tool_paths import Refused, Target, shown
from recollect.memory.tool.tool_views import lines_of
from recollect.model.memories import AGENT, BY, PROJECT, USER, Broken, Memory
from recollect.text import clean, one_line

LONGEST_DESCRIPTION = 150
MARKS = "#-*> \t"  # of Markdown, at the beginning of a line


def checked(text: object, parameter: str) -> str:
    """A text that can be kept, or a refusal."""
    if not isinstance(text, str):
        raise Refused(f"Error: The parameter `{parameter}` must be a string.")
    if "\0" in text:
        raise Refused(f"Error: The parameter `{parameter}` has a NUL in it; leave that out.")
    whole = text.encode("utf-8", "replace")
    if len(whole) > LARGEST:
        raise Refused(
            f"Error: The text is larger than {LARGEST // 1024} KB. Split it into several files."
        )
    return whole.decode()


def decoded(data: bytes, told: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"Error: {told} is not a text file.") from None


def replaced(text: str, old: str, new: str, told: str) -> str:
    places = [at for at in range(len(text)) if text.startswith(old, at)] if old else []
    if not places:
        raise Refused(
            f"No replacement was performed, old_str `{shown(old)}` did not appear verbatim in {told}."
        )
    if len(places) > 1:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:20])
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{shown(old)}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    return text[: places[0]] + new + text[places[0] + len(old) :]


def inserted(text: str, line: object, new: str) -> str:
    """After that many lines."""
    lines = lines_of(text)
    if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= len(lines):
        raise Refused(
            f"Error: Invalid `insert_line` parameter: {shown(repr(line))}. It should be within the range "
            f"of lines of the file: [0, {len(lines)}]"
        )
    added = [*lines[:line], *lines_of(new or "\n"), *lines[line:]]
    return "\n".join(added) + "\n"


def memory_of(text: str, name: str, target: Target, old: Memory | None) -> Memory:
    """Front matter is made where there is none, and kept where an edit has dropped it. Only the user pins;
    and it says that these are an agent's words."""
    memory = _read(text, name, target, old)
    return replace(memory, extra={**memory.extra, BY: AGENT})


def _read(text: str, name: str, target: Target, old: Memory | None) -> Memory:
    parts = front_matter.split(clean(text))
    if parts is None:
        whole = text.strip("\n")
        return replace(old, body=whole) if old else _new(whole, name, target)
    match parse(text, Path(f"{name}{ENDING}")):
        case Broken(why=why):
            raise Refused(
                f"Error: {target.told} was left as it is, for it would be no memory: {why}."
            )
        case memory:
            return replace(
                memory,
                type=memory.type if _says_its_type(parts[0]) else _type(target, old),
                pinned=old.pinned if old else False,
                evidence=old.evidence if old else memory.evidence,
            )


def _new(text: str, name: str, target: Target) -> Memory:
    """It is described by its first line; by a heading and what follows, if that comes first."""
    lines = [line.strip() for line in text.splitlines() if line.strip(MARKS)]
    first = [line.strip(MARKS) for line in lines[: 1 + lines[0].startswith("#")]] if lines else []
    described = one_line(": ".join(first) or name.replace("-", " "), LONGEST_DESCRIPTION)
    return Memory(name, described, _type(target, None), text)


def _type(target: Target, old: Memory | None) -> str:
    if old:
        return old.type
    return USER if target.of_user else PROJECT


def _says_its_type(block: str) -> bool:
    values = front_matter.read(block)
    metadata = values.get("metadata")
    return bool(values.get("type") or (isinstance(metadata, dict) and metadata.get("type")))
