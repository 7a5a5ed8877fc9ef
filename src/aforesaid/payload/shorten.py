"""Shorten a payload that is too large or has too many values to be parsed.

Long texts keep their beginning and their end, what is too deep or too much is left out, and each cut is
marked. The last member, `aforesaid_cut`, has the original size, its sha256 and the reason. A payload that is
not a JSON object is refused.

Texts are shortened in the bytes, because values take seventy times the memory of their bytes; only what is
left is parsed. What still has too many values, or more than `MOST_READ` bytes, keeps only the short members
at its beginning and its end, which identify the event: the rest of a text may say that it is private. Of one
that was not read to its end, `aforesaid_cut` has the number of bytes that were read (`read`), and no sha256.
"""

import json
import os
import re
from functools import partial
from hashlib import sha256
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from aforesaid.payload.attachments import SMALLEST, attachment_mark, replace_attachments
from aforesaid.payload.limits import (
    MOST_VALUES,
    STRINGS,
    NotJson,
    json_object,
    parse_obstacle,
    shorten_reason,
)

HIGH, HEX = rb"[dD][89abAB]", rb"[0-9a-fA-F]"
# To the last whole character or escape; half a pair of surrogates only where the other half cannot follow.
WHOLE_UNITS = re.compile(
    rb'(?:[^"\\]|\\[^u]|\\u(?!%b)%b{4}|\\u%b%b{2}(?=.{6}))*+' % (HIGH, HEX, HIGH, HEX), re.DOTALL
)
NO_ESCAPE = re.compile(rb"[^\\]{6}", re.DOTALL)  # longer than any: what follows begins afresh

MARK = "aforesaid_cut"
SHORT = 4 * 1024  # a text at the top says what the event is: it is kept when everything else is not
DEEPEST, MOST_MEMBERS = 8, 2_000
MOST_READ = 64 * 1024 * 1024  # bytes
VALUE_COST = 32  # bytes of `Keep.out` that a value takes besides its own
END_BYTES = 4 * 1024
CUT_OFF = "it was cut off"
SCALAR = rb"-?[0-9][-+0-9.eE]{0,32}|true|false|null"
SHORT_MEMBER = rb'\s*"[^"\\]{1,64}"\s*:\s*(?:"(?:[^"\\]|\\.){0,4096}"|%b)\s*' % SCALAR
SHORT_OBJECT = rb'\s*"[^"\\]{1,64}"\s*:\s*\{%b(?:,%b){0,20}\}\s*' % (SHORT_MEMBER, SHORT_MEMBER)
FIRST_MEMBERS = re.compile(rb"\s*\{((?:(?:%b|%b),)*)" % (SHORT_MEMBER, SHORT_OBJECT), re.DOTALL)
# A quote with no backslash before it is never inside a text, so these are names and values whatever stands
# before them.
LAST_MEMBERS = re.compile(
    rb'((?:,\s*"[^"\\]{1,64}"\s*:\s*(?:"[^"\\]{0,256}"|%b)\s*)+)\}\Z' % SCALAR
)


class Keep(NamedTuple):
    """Bytes: of the beginning and the end of each long text, and of everything that comes out. Short texts at
    the top come in any case."""

    head: int = 32 * 1024
    tail: int = 16 * 1024
    out: int = 1024 * 1024


USUAL = Keep()


def is_cut(payload: bytes) -> bool:
    """Quotes inside a text are escaped, so no text has this."""
    return b'"%s":{"bytes":' % MARK.encode() in payload


def fit_payload(body: bytes) -> bytes:
    """The agent's own bytes, with attachments as marks; shortened if they are too large or have too many
    values. Raises NotJson if that cannot be done."""
    lean = replace_attachments(body)
    why = shorten_reason(lean)
    return cut(BytesIO(body), why) if why else lean


def cut(source: BinaryIO, why: str, keep: Keep = USUAL) -> bytes:
    """Raises NotJson, and whatever reading raises."""
    start = source.tell()
    data = source.read(MOST_READ).removeprefix(b"\xef\xbb\xbf")
    size = source.seek(0, os.SEEK_END) - start
    read = min(size, MOST_READ)
    note: dict[str, object] = {"bytes": size, "read": read}
    members = None
    if read == size:
        source.seek(start)
        note = {"bytes": size, "sha256": sha256(source.read()).hexdigest()}
        members = _shorten_members(data, keep)
    if members is None:
        source.seek(max(start + size - END_BYTES, start))
        members = _find_short_members(data, source.read())
    mark = json.dumps({MARK: note | {"why": why}}, separators=(",", ":")).encode()
    return b"{" + b",".join(filter(None, (members, mark[1:-1]))) + b"}"


def _shorten_members(data: bytes, keep: Keep) -> bytes | None:
    """None if there are too many values to parse them."""
    if data.count(b'"') - data.count(b'\\"') > 4 * MOST_VALUES:
        return None
    lean = STRINGS.sub(partial(_shorten_text, keep=keep), data)
    if parse_obstacle(lean):
        return None
    reduced = _Reduction(keep.out).reduce(json_object(lean), 0)
    return json.dumps(reduced, separators=(",", ":")).encode()[1:-1]


def _find_short_members(data: bytes, end: bytes) -> bytes:
    first, last = FIRST_MEMBERS.match(data), LAST_MEMBERS.search(end.rstrip())
    if first is None or not end.rstrip().endswith(b"}"):
        raise NotJson(CUT_OFF if first else "the payload is not a JSON object")
    return (first[1] + (last[1] if last else b"").lstrip(b",")).strip(b",")


class _Reduction:
    """`left`: bytes that may still come out."""

    def __init__(self, left: int) -> None:
        self.left = left

    def reduce(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, SHORT if depth == 1 else 0)
        if not isinstance(value, dict | list):
            return value
        if depth > DEEPEST or (self.left <= 0 and depth):
            return f"[left out: {len(value):,} values]"
        found: list[tuple[str, Any]] = []
        for name, each in value.items() if isinstance(value, dict) else (("", e) for e in value):
            if len(found) >= MOST_MEMBERS or (self.left <= 0 and depth):
                found.append((MARK, f"[left out: {len(value) - len(found):,} values]"))
                break
            found.append((self._text(name, SHORT), self.reduce(each, depth + 1)))
            self.left -= VALUE_COST
        return dict(found) if isinstance(value, dict) else [each for _, each in found]

    def _text(self, text: str, least: int) -> str:
        if len(text) > max(self.left, least):
            text = f"{text[: max(self.left, least)]} [... cut ...]"
        self.left -= len(text)
        return text


def _shorten_text(found: re.Match[bytes], keep: Keep) -> bytes:
    """What comes instead of a text with its quotes. All bytes are as they stand there, escapes included."""
    text, head, tail = found[0][1:-1], keep.head, max(1, keep.tail)
    if len(text) >= SMALLEST and (mark := attachment_mark(text)):
        return b'"%s"' % mark
    if len(text) <= head + tail or not found[0].endswith(b'"'):
        return found[0]
    whole = WHOLE_UNITS.match(text[:head])
    begin = whole[0] if whole else b""
    # In the middle of an escape it is unknown what it is: the end begins behind the first sure place.
    sure = NO_ESCAPE.search(text[-tail:])
    end = text[-tail:][sure.end() :] if sure else b""
    left = len(text) - len(begin) - len(end)
    return b'"%s [... %d bytes left out ...] %s"' % (begin, left, end)
