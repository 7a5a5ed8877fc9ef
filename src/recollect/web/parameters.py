"""Reads what a request says, by its row: the path, the query and the JSON body.

Stricter than for a model: a number out of its range is refused, not moved into it, and so is a number for a
text. A large body is text, as the output of a tool is: one of very many values would take hundreds of
megabytes and, while it is read, everybody else's time.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from recollect import parameters
from recollect.parameters import Misused, Parameter
from recollect.text import one_line
from recollect.web.rows import Row, Wrong

MOST_FIELDS = 200
MOST_VALUES = 100_000
LONGEST_NAME = 40
TOO_MANY = f"At most {MOST_VALUES} values are taken in a body. Send a large one as text."
TEXT = json.JSONDecoder()
BEGIN = re.compile(r'["\[{,]')  # of a text or of a value


def values(row: Row, place: Mapping[str, str], query: bytes, body: bytes) -> dict[str, Any]:
    """For every parameter of the row."""
    found = _read(row.place, place)
    found |= _read(row.query, _query(row.query, query))
    if row.method != "GET":
        found |= _read(row.body, _object(body))
    return found


def _read(known: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = parameters.read(known, given)
    except Misused as error:
        raise _bad(str(error), _field(str(error)) or _unknown(known, given)) from None
    for parameter in known:
        sent = given.get(parameter.name)
        if parameter.kind in ("text", "names", "texts") and _has_number(sent):
            raise _bad(f"`{parameter.name}` must be text, not a number.", parameter.name)
        if parameter.kind == "number" and sent is not None and found[parameter.name] != int(sent):
            raise _bad(_range(parameter), parameter.name)
    return found


def _query(known: tuple[Parameter, ...], query: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(query.decode("latin-1"), True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise _bad(f"The query has over {MOST_FIELDS} parts. Send fewer.") from None
    lists = {parameter.name for parameter in known if parameter.kind == "names"}
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise _bad(f"`{name}` is given twice. Send it once.", name)
        else:
            found[name] = value
    numbers = {parameter.name for parameter in known if parameter.kind == "number"}
    return {name: v for name, v in found.items() if v != "" or name not in numbers}


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if len(text) > MOST_VALUES and _values(text) > MOST_VALUES:
            raise Wrong(413, "too_large", TOO_MANY)
        found = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise _bad("The body is nested too deeply.") from None
    except ValueError as error:  # also what is not UTF-8
        raise _bad(f"The body is not JSON: {str(error)[:200]}.") from None
    if not isinstance(found, dict):
        raise _bad("The body must be a JSON object.")
    return found


def _values(text: str) -> int:
    """How many values it has, or a few more; not counted further than is allowed. Texts are passed over."""
    count = place = 0
    while count <= MOST_VALUES and (found := BEGIN.search(text, place)):
        place = found.end()
        if found[0] == '"':
            _, place = TEXT.raw_decode(text, found.start())
        else:
            count += 1
    return count


def _range(parameter: Parameter) -> str:
    return f"`{parameter.name}` goes from {parameter.least} to {parameter.most}."


def _field(message: str) -> str | None:
    """Messages begin with the parameter's name, in backticks."""
    parts = message.split("`", 2)
    return parts[1] if len(parts) == 3 and not parts[0] else None


def _unknown(known: tuple[Parameter, ...], given: Mapping[str, Any]) -> str | None:
    names = {parameter.name for parameter in known}
    found = (name for name, value in given.items() if value is not None and name not in names)
    return next((one_line(name, LONGEST_NAME) for name in found), None)


def _has_number(sent: object) -> bool:
    return any(isinstance(each, int) for each in (sent if isinstance(sent, list) else [sent]))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _bad(message: str, field: str | None = None) -> Wrong:
    return Wrong(400, "bad_request", message, field)
