"""The lines of an export: JSON objects, one per record. `docs/reference/export-format.md` describes them.

A record's fields are the line's fields, so a field is declared once, in `model/records.py`. An event's body
is the agent's own bytes: as text, or as base64 if it is not UTF-8.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from aforesaid.model.records import NAMES, EventRecord, Exported
from aforesaid.payload.limits import MOST_VALUES, structure_excess

FORMAT = "aforesaid-export"
VERSION = 2  # 1 had no memories
LARGEST_INTEGER = 2**63 - 1
ENCODED_BODY = "body_base64"


class Malformed(ValueError):
    """A line is not what it should be."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. `project`: the name of the only one that is in it; `replies`: the ledger has them."""

    format: str
    version: int
    at: int = 0
    by: str = ""
    project: str | None = None
    replies: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The last line: without it, the file was cut off. `lines` counts it too."""

    lines: int


Line = Header | Exported | End
LINE_NAMES: Mapping[type[Line], str] = {
    Header: "export",
    End: "end",
    **{kind: name for kind, (name, _) in NAMES.items()},
}
TYPES = {name: kind for kind, name in LINE_NAMES.items()}


def encoded(line: Line) -> bytes:
    """With its newline."""
    values = {"record": LINE_NAMES[type(line)]} | _plain(line)
    try:
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, in a reply
        return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def decoded(data: bytes) -> Line:
    """Raises Malformed. Fields that are not known are left out: they are from a later release."""
    if too_much := structure_excess(data, 2 * MOST_VALUES):
        raise Malformed(too_much)
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"it is not JSON ({type(error).__name__})") from None
    if not isinstance(values, dict):
        raise Malformed("it is not a JSON object")
    name = values.get("record")
    kind = TYPES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise Malformed(f"{str(name)[:40]!r} is not a record of this format")
    if kind is EventRecord:
        with suppress(KeyError):
            values["body"] = _decode_body(values.pop(ENCODED_BODY))
    found: Line = _read_object(kind, values)
    return found


def _decode_body(value: Any) -> bytes:
    try:
        return base64.b64decode(_typed(value, str, "text"), validate=True)
    except binascii.Error:
        raise Malformed(f"`{ENCODED_BODY}` cannot be read") from None


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for part in fields(value):
        found = getattr(value, part.name)
        if isinstance(found, bytes):
            try:
                plain[part.name] = found.decode()
            except UnicodeDecodeError:
                plain[ENCODED_BODY] = base64.b64encode(found).decode()
        elif isinstance(found, tuple):
            plain[part.name] = [_plain(item) if is_dataclass(item) else item for item in found]
        else:
            plain[part.name] = found
    if plain.get("reply", "") is None:
        del plain["reply"]
    return plain


EXPECTED = {int: "a whole number", str: "text", bool: "true or false", bytes: "text"}
type_hints = cache(get_type_hints)


def _read(hint: Any, value: Any) -> Any:
    """What a field's type asks of its value."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is UnionType:
        inner = next(part for part in arguments if part is not NoneType)
        return None if value is None else _read(inner, value)
    if origin is Literal:
        if value not in arguments:
            raise Malformed(f"one of {', '.join(arguments)} was expected")
        return value
    if origin is tuple:
        return tuple(_read(arguments[0], each) for each in _typed(value, list, "a list"))
    if is_dataclass(hint):
        return _read_object(hint, value)
    if hint is bytes and not isinstance(value, bytes):
        return _typed(value, str, "text").encode("utf-8", "replace")
    return _typed(value, hint, EXPECTED[hint])


def _read_object(kind: Any, values: Any) -> Any:
    if not isinstance(values, dict):
        raise Malformed("an object was expected")
    found = {}
    for part in fields(kind):
        if part.name in values:
            try:
                found[part.name] = _read(type_hints(kind)[part.name], values[part.name])
            except Malformed as error:
                raise Malformed(f"`{part.name}`: {error}") from None
        elif part.default is MISSING:
            raise Malformed(f"`{part.name}` is missing")
    return kind(**found)


def _typed(value: Any, kind: type, expected: str) -> Any:
    if type(value) is not kind or (isinstance(value, int) and abs(value) > LARGEST_INTEGER):
        raise Malformed(f"{expected} was expected")
    return value
