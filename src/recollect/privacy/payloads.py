"""A whole payload: JSON of any shape, its texts redacted one by one, its shape kept.

Bytes without a secret come back as they were, to the byte. What a tool read from a guarded file is not kept
at all.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from recollect.privacy import files, private
from recollect.privacy.private_parts import hidden, mapped
from recollect.privacy.redactor import Redactor

Json = Any
# What is kept of a guarded file: where it is, and what reads the event later on.
KEPT = frozenset(
    (
        *(
            "file_path",
            "notebook_path",
            "path",
            "filePath",
            "type",
            "description",
            "edit_mode",
            "cell_type",
        ),
        *("output_mode", "command", "subagent_type"),
    )
)
PATHS = ("file_path", "notebook_path", "filePath", "path", "filename")
RESULTS = ("tool_response", "error")
_JOINT = "\n\0\n"  # a line of its own, which no pattern goes across
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt\"/\\]))")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t"}


def redacted(redactor: Redactor, body: bytes) -> bytes:
    """A payload as an agent sent it. What is no JSON is redacted as the text that it is."""
    text = body.decode("utf-8-sig", "replace")
    try:
        before = json.loads(text)
        after = value(redactor, before, may_be_private=_may_be_private(text))
        return body if after is before else json.dumps(after).encode()
    except (ValueError, RecursionError):
        return raw(redactor, body)


def value(redactor: Redactor, before: Json, *, may_be_private: bool = True) -> Json:
    """The same object, if there is nothing to replace."""
    after = _without_files(redactor, before)
    if may_be_private:
        after = hidden(after)
    # Most have nothing to hide, which one look at all of it tells sooner than one at each part. A rule of
    # the user's own may say where a text begins.
    if not redactor.own and redactor.is_clean(_JOINT.join(_texts(after))):
        return after
    return mapped(after, redactor.text)


def raw(redactor: Redactor, data: bytes) -> bytes:
    """Anything, such as a payload that was cut off. Escapes are read as what they stand for, if that
    matters."""
    text = data.decode("utf-8", "surrogateescape")
    plain = _ESCAPE.sub(_unescaped, text)
    shown, shown_plain = redactor.text(text), redactor.text(plain)
    if shown == text and shown_plain == plain:
        return data
    return redactor.text(shown_plain).encode("utf-8", "surrogateescape")


def _texts(value: Json) -> Iterator[str]:
    """Every text, also names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return _PLAIN.get(match[2], match[2])
    number = int(match[1], 16)
    return "\ufffd" if 0xD800 <= number < 0xE000 else chr(number)


def _may_be_private(text: str) -> bool:
    """Any letter may be escaped."""
    return private.WORD in (lowered := text.lower()) or "\\u00" in lowered


def _without_files(redactor: Redactor, payload: Json) -> Json:
    """A tool's event, without what it says of a guarded file. The command itself is kept to its first line:
    what follows may be the file."""
    given = payload.get("tool_input") if isinstance(payload, dict) else None
    if not isinstance(given, dict):
        return payload
    command = given.get("command")
    if isinstance(command, str) and redactor.guarded.named_in(command):
        given = given | {"command": _first_line(command)}
    elif isinstance(command, str) or not _is_guarded(redactor, given):
        return payload
    bare = {name: _bare(each) for name, each in payload.items() if name in RESULTS}
    return payload | bare | {"tool_input": _bare(given)}


def _first_line(command: str) -> str:
    first, _, rest = command.partition("\n")
    return f"{first}\n{files.MARK}" if rest else first


def _is_guarded(redactor: Redactor, given: dict[str, Json]) -> bool:
    found = (given.get(name) for name in PATHS)
    return any(isinstance(path, str) and redactor.guarded.holds(path) for path in found)


def _bare(value: Json, name: str = "") -> Json:
    """Without its texts; numbers and flags stay."""
    if isinstance(value, str):
        return value if name in KEPT or not value else files.MARK
    if isinstance(value, dict):
        return {key: _bare(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_bare(each) for each in value]
    return value
