"""Redacts a whole payload: JSON of any shape, text by text, its shape kept.

A payload without secrets keeps its bytes. What a tool read from a guarded file is not kept. The texts of one list are
the lines of one text, as in a patch. What is secret or private in one text is replaced in all others of the payload:
an edit carries the same lines several times, and only some of them show what they belong to.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

from aforesaid.privacy import assignments, files, own_rules, private
from aforesaid.privacy.redactor import KEY, PRIVATE, Redactor, is_worth_repeating

Json = Any
SHAPE = frozenset(("type", "role", "id"))  # of a block in a list: what it is, not what it says
LEAST = 6  # characters of a private line that is searched for elsewhere
_JOINT = "\n\0\n"  # no pattern goes across it
_LINE_JOINT = "\n\0"  # between the lines of one text
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrt\"/\\]))")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t"}
_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


def redacted(redactor: Redactor, body: bytes) -> bytes:
    """A payload as an agent sent it. What is no JSON is redacted as text."""
    text = body.decode("utf-8-sig", "replace")
    try:
        before = json.loads(text)
        lowered = text.lower()
        may_be_private = private.WORD in lowered or "\\u00" in lowered  # any letter may be escaped
        after = value(redactor, before, may_be_private=may_be_private)
        return body if after is before else json.dumps(after).encode()
    except (ValueError, RecursionError):
        return raw(redactor, body)


def value(redactor: Redactor, before: Json, *, may_be_private: bool = True) -> Json:
    """The same object if there is nothing to replace."""
    after = _without_files(redactor, before)
    if may_be_private:
        after = hide_private(after, redactor.fields.place)
    # One look at all texts together is faster than one at each, and most payloads are clean. A pattern of the user's
    # own may depend on where a text begins.
    texts = list(_texts(after))
    named = [text for name, text in texts if assignments.is_named_secret(name, text)]
    joined = _JOINT.join(text for _, text in texts)
    if not named and not redactor.own and redactor.is_clean(joined):
        return after
    known = dict.fromkeys(named, assignments.PASSWORD)
    for _, text in texts:
        for found in redactor.find(text):
            part = text[found.start : found.end]
            if found.kind == KEY:
                lines = (line.lstrip("+") for line in _KEY_LINE.findall(part))
                known |= dict.fromkeys(lines, KEY)
            elif found.kind != PRIVATE and is_worth_repeating(part):
                known |= dict.fromkeys(own_rules.spell(part), found.kind)
    longest = dict(sorted(known.items(), key=lambda item: (-len(item[0]), item[0])))
    after = _redact_fields(redactor, after)
    return change_texts(after, lambda text: redactor.text(text, longest))


def raw(redactor: Redactor, data: bytes) -> bytes:
    """Any bytes, such as a payload that was cut off. Escapes are read as what they stand for, if that matters."""
    text = data.decode("utf-8", "surrogateescape")
    plain = _ESCAPE.sub(_unescape, text)
    shown, shown_plain = redactor.text(text), redactor.text(plain)
    if shown == text and shown_plain == plain:
        return data
    return redactor.text(shown_plain).encode("utf-8", "surrogateescape")


def change_texts(value: Json, change: Callable[[str], str]) -> Json:
    """Every text changed, names of fields too; the same object if none was."""
    return _change(value, lambda _, text: change(text), change)


def _change(
    value: Json,
    change: Callable[[str, str], str],
    rename: Callable[[str], str] = str,
    name: str = "",
) -> Json:
    """Each text changed, given the name of its field; the same object if none was."""
    if isinstance(value, str):
        return change(name, value)
    return _map(value, lambda name, each: _change(each, change, rename, name), rename)


def _map(
    value: Json, change: Callable[[str, Json], Json], rename: Callable[[str], str] = str
) -> Json:
    """An object or a list with each item changed, given its name; the same object if none was."""
    if isinstance(value, dict):
        pairs = {rename(name): change(name, each) for name, each in value.items()}
        same = pairs.keys() == value.keys() and all(pairs[name] is value[name] for name in value)
        return value if same else pairs
    if isinstance(value, list):
        items = [change("", each) for each in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value


def _redact_fields(redactor: Redactor, payload: Json, name: str = "") -> Json:
    if isinstance(payload, str):
        secret = assignments.is_named_secret(name, payload)
        return redactor.mark(assignments.PASSWORD, payload) if secret else payload
    if isinstance(payload, list) and _are_lines(payload):
        return _redact_lines(redactor, payload)
    return _map(payload, lambda name, each: _redact_fields(redactor, each, name))


def _redact_lines(redactor: Redactor, lines: list[str]) -> list[str]:
    """A secret over several lines is replaced in each of them."""
    whole = _LINE_JOINT.join(lines)
    secrets = [
        (start, end, redactor.mark(kind, whole[start:end]))
        for kind, start, end in redactor.find(whole)
        if kind != PRIVATE and _LINE_JOINT in whole[start:end]
    ]
    return _replace_parts(whole, _LINE_JOINT, secrets) if secrets else lines


def _replace_parts(whole: str, joint: str, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """The joined texts, with a mark in each of those that a span goes over."""
    shown: list[str] = []
    done = 0
    for start, end, mark in spans:
        shown += (whole[done:start], mark, (joint + mark) * whole.count(joint, start, end))
        done = end
    return "".join((*shown, whole[done:])).split(joint)


def _are_lines(items: list[Json]) -> bool:
    return len(items) > 1 and all(isinstance(each, str) and "\0" not in each for each in items)


def _texts(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text with the name of its field, and these names without one. The lines of a list are one text, too."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield "", key
            yield from _texts(each, key)
    elif isinstance(value, list):
        if _are_lines(value):
            yield "", _LINE_JOINT.join(value)
        for each in value:
            yield from _texts(each)


def _unescape(match: re.Match[str]) -> str:
    if match[1] is None:
        return _PLAIN.get(match[2], match[2])
    number = int(match[1], 16)
    return "\ufffd" if 0xD800 <= number < 0xE000 else chr(number)


def _without_files(redactor: Redactor, payload: Json) -> Json:
    """A tool's event without what it says of a guarded file. Of a command the first line is kept: what follows may be
    the file."""
    names, about = redactor.fields, next(iter(redactor.fields.given & _keys(payload)), "")
    given = payload[about] if about else None
    if not isinstance(given, dict):
        return payload
    command = given.get("command")
    if isinstance(command, str) and redactor.guarded.named_in(command):
        first, _, rest = command.partition("\n")
        given = given | {"command": f"{first}\n{files.MARK}" if rest else first}
    else:
        paths = names.files | names.paths
        touched = (each for name, each in given.items() if name in paths and isinstance(each, str))
        if isinstance(command, str) or not any(map(redactor.guarded.holds, touched)):
            return payload
    kept = names.kept | names.files | names.paths
    bare = {name: payload[name] for name in names.results & _keys(payload)} | {about: given}

    def hide(name: str, text: str) -> str:
        return text if name in kept or not text else files.MARK

    return payload | {name: _change(each, hide) for name, each in bare.items()}  # numbers stay


def _keys(value: Json) -> Set[str]:
    return value.keys() if isinstance(value, dict) else set()


def hide_private(value: Json, place: Set[str] = frozenset()) -> Json:
    """Without what stands between `<private>` tags. The texts of a list are parts of one: a tag that one of them
    opens another may close. The same object if nothing is private."""
    lines: set[str] = set()
    after = _hide(value, lines)
    if not lines:
        return after
    longest = sorted(lines, key=lambda line: (-len(line), line))

    def change(name: str, each: Json) -> Json:
        if name in place:
            return each
        return change_texts(each, lambda text: _without_lines(text, longest))

    return _map(after, change) if isinstance(after, dict) else change("", after)


def _hide(value: Json, lines: set[str]) -> Json:
    if isinstance(value, str):
        return _hide_in(value, lines)
    if isinstance(value, dict):
        return _map(value, lambda _, each: _hide(each, lines), lambda name: _hide_in(name, lines))
    if isinstance(value, list) and any(map(private.has_tag, said := _said(value))):
        shown = iter(_hide_joined(said, lines))
        return _change(value, lambda name, text: text if name in SHAPE else next(shown))
    return value


def _hide_in(text: str, lines: set[str]) -> str:
    return _hide_joined([text], lines)[0] if private.has_tag(text) else text


def _hide_joined(parts: list[str], lines: set[str]) -> list[str]:
    # A NUL of the text itself would be taken for a joint. `text.clean` drops it anyway.
    whole = "\0".join(part.replace("\0", "") for part in parts)
    spans = private.spans(whole)
    for start, end in spans:
        for line in private.TAG.sub("\n", whole[start:end]).replace("\0", "\n").splitlines():
            lines.update(each for each in (line.strip(), line.strip(" \t+-")) if len(each) >= LEAST)
    return _replace_parts(whole, "\0", ((*span, private.MARK) for span in spans))


def _said(value: Json) -> list[str]:
    """Every text of a list, in order, without what only says what a block is."""
    found: list[str] = []

    def note(name: str, text: str) -> str:
        found.extend([] if name in SHAPE else [text])
        return text

    _change(value, note)
    return found


def _without_lines(text: str, lines: list[str]) -> str:
    text = text.replace("\0", "")
    for line in lines:
        if line in text:
            text = text.replace(line, private.MARK)
    return text
