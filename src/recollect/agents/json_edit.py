"""Edits JSON text in place, so that a settings file keeps the look its owner gave it.

Appending only inserts and removing only cuts: no byte that we did not write is changed, and
removing what was appended gives back the same text. Text that is not one JSON object, a value of
the wrong kind on the path and a key that stands twice on the path are refused with `JsonEditError`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from recollect.errors import InstallError

JsonPath = tuple[str | int, ...]

_BOM = "\ufeff"
_COLONS = (":", ": ", " : ", " :")
_KINDS = {"{": "an object", "[": "an array"}
_decode = json.JSONDecoder().raw_decode
_white_space = re.compile(r"[ \t\r\n]*")
_indentation = re.compile(r"[ \t]*")


class JsonEditError(InstallError):
    """The text was left alone: `reason` says why, `line` says where."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class _Item:
    """An element of an array, or a member of an object from its key on."""

    lead: str
    start: int
    end: int
    value_at: int
    value: Any
    key: str | None
    colon: str


@dataclass(frozen=True)
class _Container:
    opening: int
    closing: int
    items: tuple[_Item, ...]


@dataclass(frozen=True)
class _Style:
    newline: str
    indent: str
    colon: str
    single_line: bool


def load_object(text: str) -> dict[str, Any]:
    """The parsed text. Python's `NaN` and `Infinity` are refused: no agent could read them."""
    body = text.removeprefix(_BOM)
    try:
        value = json.loads(body, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JsonEditError(error.lineno, f"this is not valid JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise JsonEditError(1, f"this is not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise JsonEditError(_line(body, _skip(body, 0)), "the file must hold a JSON object")
    return value


def read_arrays(text: str, path: JsonPath) -> dict[str, list[Any]]:
    """The object at `path`, whose values must all be arrays; empty when it is not there."""
    _, body = _open(text)
    chain = _chain(body, path, last="{")
    if len(chain) <= len(path):
        return {}
    keys = [item.key for item in chain[-1].items if item.key is not None]
    arrays = {key: _chain(body, (*path, key))[-1] for key in keys}
    return {key: [item.value for item in array.items] for key, array in arrays.items()}


def append_to_array(text: str, path: JsonPath, value: object) -> str:
    """Put `value` last in the array at `path`, creating the objects and the array it lacks."""
    bom, body = _open(text)
    chain = _chain(body, path)
    missing = path[len(chain) - 1 :]
    if not missing:
        return bom + _insert(body, chain, None, value)
    key, *rest = missing
    if not isinstance(key, str) or any(isinstance(part, int) for part in rest):
        raise JsonEditError(_line(body, chain[-1].opening), f"there is no element {path}")
    addition: object = [value]
    for part in reversed(rest):
        addition = {part: addition}
    return bom + _insert(body, chain, key, addition)


def read_member(text: str, path: JsonPath) -> Any:
    """The value at `path`; None when it is not there."""
    _, body = _open(text)
    *parents, key = path
    chain = _chain(body, tuple(parents), last="{")
    item = _find(body, chain[-1], key) if len(chain) > len(parents) else None
    return item.value if item else None


def insert_member(text: str, path: JsonPath, value: object) -> str:
    """Put `value` last in the object that `path` leads to, under its last part, which is not there yet."""
    bom, body = _open(text)
    chain = _chain(body, path[:-1], last="{")
    key, *rest = (str(part) for part in path[len(chain) - 1 :])
    for part in reversed(rest):
        value = {part: value}
    return bom + _insert(body, chain, key, value)


def remove_member(text: str, path: JsonPath, *, prune: int = 0) -> str:
    """Cut the member at `path` out of its object; `prune` as in `remove_elements`."""
    bom, body = _open(text)
    *parents, part = path
    chain = _chain(body, tuple(parents), last="{")
    if len(chain) <= len(parents) or _find(body, chain[-1], part) is None:
        return text
    container = chain.pop()
    while len(container.items) == 1 and prune and chain:
        part = path[len(chain) - 1]
        container = chain.pop()
        prune -= 1
    index = next(i for i, item in enumerate(container.items) if item.key == part)
    return bom + _cut(body, container, index)


def remove_elements(
    text: str, path: JsonPath, keep: Callable[[Any], bool], *, prune: int = 0
) -> str:
    """Cut the elements that `keep` refuses out of the array at `path`.

    `prune` is how many containers may go as well when this empties them: 1 for the array, 2 for
    the object that holds it too, and so on. The outermost object always stays.
    """
    bom, body = _open(text)
    chain = _chain(body, path)
    if len(chain) <= len(path):
        return text
    container = chain.pop()
    doomed = [i for i, item in enumerate(container.items) if not keep(item.value)]
    while doomed and len(doomed) == len(container.items) and prune and chain:
        part = path[len(chain) - 1]
        container = chain.pop()
        doomed = [i for i, item in enumerate(container.items) if part in (i, item.key)]
        prune -= 1
    for index in reversed(doomed):
        body = _cut(body, _container(body, container.opening), index)
    return bom + body


def _open(text: str) -> tuple[str, str]:
    """The byte order mark, if any, and the text after it, which is known to be an object."""
    load_object(text)
    body = text.removeprefix(_BOM)
    return text[: len(text) - len(body)], body


def _chain(body: str, path: JsonPath, *, last: str = "[") -> list[_Container]:
    """The containers from the outermost one down to the one at `path`, as far as they exist."""
    chain = [_container(body, _skip(body, 0))]
    for depth, part in enumerate(path, start=1):
        item = _find(body, chain[-1], part)
        if item is None:
            break
        wanted = last
        if depth < len(path):
            wanted = "{" if isinstance(path[depth], str) else "["
        if body[item.value_at] != wanted:
            reason = f"`{_dotted(path[:depth])}` must be {_KINDS[wanted]}"
            raise JsonEditError(_line(body, item.value_at), reason)
        chain.append(_container(body, item.value_at))
    return chain


def _find(body: str, container: _Container, part: str | int) -> _Item | None:
    found = [item for i, item in enumerate(container.items) if part in (i, item.key)]
    if len(found) > 1:
        raise JsonEditError(_line(body, found[1].start), f"the key `{part}` stands twice")
    return found[0] if found else None


def _container(body: str, opening: int) -> _Container:
    """Walks one object or array of text that is known to be valid."""
    items: list[_Item] = []
    position = opening + 1
    while body[start := _skip(body, position)] not in "]}":
        if body[start] == ",":
            position = start + 1
            start = _skip(body, position)
        lead, key, colon, value_at = body[position:start], None, "", start
        if body[opening] == "{":
            key, key_end = _decode(body, start)
            value_at = _skip(body, _skip(body, key_end) + 1)
            colon = body[key_end:value_at]
        value, position = _decode(body, value_at)
        items.append(_Item(lead, start, position, value_at, value, key, colon))
    return _Container(opening, start, tuple(items))


def _insert(body: str, chain: list[_Container], key: str | None, value: object) -> str:
    style, container = _style(body, chain[0]), chain[-1]
    before = after = ""
    if container.items:
        at, comma, lead = container.items[-1].end, ",", _lead_like(container, style)
    else:
        at, comma, lead = container.opening + 1, "", ""
        if not style.single_line:
            after = style.newline + _line_indent(body, container.opening)
            lead = after + style.indent
    if key is not None:
        before = json.dumps(key, ensure_ascii=False) + style.colon
    return body[:at] + comma + lead + before + _render(value, lead, style) + after + body[at:]


def _cut(body: str, container: _Container, index: int) -> str:
    items, item = container.items, container.items[index]
    if index:
        return body[: items[index - 1].end] + body[item.end :]
    if len(items) > 1:
        return body[: item.start] + body[items[1].start :]
    # White space inside an empty container belongs to its owner; only the line break that
    # `_insert` puts before the closing bracket goes with the item.
    newline = "\r\n" if item.lead.startswith("\r\n") else "\n"
    line_break = newline + _line_indent(body, container.opening) if "\n" in item.lead else ""
    return body[: container.opening + 1] + body[item.end :].removeprefix(line_break)


def _lead_like(container: _Container, style: _Style) -> str:
    """White space before a further item, as before the last one."""
    lead = container.items[-1].lead
    if "\n" in lead or len(container.items) > 1:
        return lead
    return " " if style.colon.endswith(" ") else ""


def _render(value: object, lead: str, style: _Style) -> str:
    if "\n" not in lead:
        comma = ", " if style.colon.endswith(" ") else ","
        return json.dumps(value, ensure_ascii=False, separators=(comma, style.colon))
    text = json.dumps(value, ensure_ascii=False, indent=style.indent, separators=(",", style.colon))
    return text.replace("\n", style.newline + lead.rpartition("\n")[2])


def _style(body: str, root: _Container) -> _Style:
    newline = "\r\n" if body[: body.find("\n") + 1].endswith("\r\n") else "\n"
    if not root.items:
        return _Style(newline, "  ", ": ", single_line=False)
    first = root.items[0]
    indent = "  "
    if "\n" in first.lead:
        margin = _line_indent(body, root.opening)
        indent = first.lead.rpartition("\n")[2].removeprefix(margin)
    colon = first.colon if first.colon in _COLONS else ": "
    single_line = "\n" not in body[root.opening : root.closing]
    return _Style(newline, indent, colon, single_line)


def _line_indent(body: str, position: int) -> str:
    found = _indentation.match(body, body.rfind("\n", 0, position) + 1)
    return found.group() if found else ""


def _skip(body: str, position: int) -> int:
    found = _white_space.match(body, position)
    return found.end() if found else position


def _line(body: str, position: int) -> int:
    return body.count("\n", 0, position) + 1


def _dotted(path: JsonPath) -> str:
    return ".".join(str(part) for part in path)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
