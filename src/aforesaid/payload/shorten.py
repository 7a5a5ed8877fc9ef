"""Shorten a payload that is too large or has too many values to be parsed.

The payload is scanned and never parsed as a whole: values take seventy times the memory of their bytes. The
result is JSON of the same shape: short values are unchanged, long texts keep their beginning and their end,
what is too deep or too much is left out, and each cut is marked. The last member, `aforesaid_cut`, has the
original size, its sha256 and the reason. A payload that is not a JSON object is refused.

Memory and work are bounded: at most `MOST_READ` bytes and `MOST_STEPS` steps of the scanner. Beyond that the
payload is closed where the scanner stands, and only the short members at its very end, which identify the
event, are read. A text whose end was not seen is dropped: the rest of it may say that it is private. Then
`aforesaid_cut` has the number of bytes that were read (`read`) instead of the sha256.
"""

import json
import os
import re
from hashlib import sha256
from io import BytesIO
from typing import BinaryIO, NamedTuple

from aforesaid.payload.attachments import SMALLEST, attachment_mark, replace_attachments
from aforesaid.payload.limits import NotJson, shorten_reason

HIGH, HEX = rb"[dD][89abAB]", rb"[0-9a-fA-F]"
# To the last whole character or escape; half a pair of surrogates only where the other half cannot follow.
WHOLE_UNITS = re.compile(
    rb'(?:[^"\\]|\\[^u]|\\u(?!%b)%b{4}|\\u%b%b{2}(?=.{6}))*+' % (HIGH, HEX, HIGH, HEX), re.DOTALL
)
NO_ESCAPE = re.compile(rb"[^\\]{6}", re.DOTALL)  # longer than any: what follows begins afresh

MARK = "aforesaid_cut"
SHORT = 4 * 1024  # a text at the top says what the event is: it is kept when everything else is not
DEEPEST, MOST_MEMBERS, MOST_AT_TOP = 8, 2_000, 200
LONGEST_SCALAR = 1_000
MOST_READ = 64 * 1024 * 1024  # bytes
MOST_STEPS = 1_000_000  # values, brackets and signs: about a second
VALUE_COST = 32  # bytes of `Keep.out` that a value takes besides its own
END_BYTES = 4 * 1024
UNREAD = b'"[left out: not read to its end]"'

TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:,]|[-+0-9.A-Za-z]++', re.DOTALL)
SPACE = re.compile(rb"[ \t\r\n]*+")
SCALARS = re.compile(rb"-?(?:[0-9][-+0-9.eE]*|Infinity)|true|false|null|NaN")
FLAT = (
    re.compile(  # whatever opens no further bracket, at the speed of C: there may be millions of it
        rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"|\[[^"\[\]{}]*+\]|\{[^"\[\]{}]*+\})*+',
        re.DOTALL,
    )
)
CLOSING = {b"{": b"}", b"[": b"]"}
BRACKET_OR_QUOTE = re.compile(rb'["\[\]{}]')
CUT_OFF = "it was cut off"
# Short members before the bracket that ends the payload. A quote with no backslash before it is never inside
# a text, so these are names and values whatever stands before them.
LAST_MEMBERS = re.compile(
    rb'(?:,\s*"[^"\\]{1,64}"\s*:\s*(?:"[^"\\]{0,256}"|-?[0-9][-+0-9.eE]{0,32}|true|false|null)\s*)+\}\Z'
)


class _LimitReached(Exception):
    """The scanner may read no further."""


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


def cut(source: BinaryIO, why: str, keep: Keep = USUAL) -> bytes:
    """Raises NotJson, and whatever reading raises."""
    return _Cutting(source, keep).payload(why)


class _Cutting:
    def __init__(self, source: BinaryIO, keep: Keep) -> None:
        self._source, self._start = source, source.tell()
        self._data = source.read(MOST_READ)
        self._has_more = len(self._data) == MOST_READ and bool(source.read(1))
        self._at = 3 if self._data.startswith(b"\xef\xbb\xbf") else 0
        self._keep, self._left = keep, keep.out
        self._begin = self._steps = 0  # of the last token
        self._limited = False

    def payload(self, why: str) -> bytes:
        if self._token() != b"{":
            raise NotJson("the payload is not a JSON object")
        members = self._container(b"{", 1)[1:-1]
        size = self._source.seek(0, os.SEEK_END) - self._start
        if self._limited:
            note: dict[str, object] = {"bytes": size, "read": self._at}
            members += self._last_members()
        elif self._has_more or self._skip_space() < len(self._data):
            raise NotJson(f"something follows after byte {self._at}")
        else:
            note = {"bytes": size, "sha256": sha256(self._data).hexdigest()}
        mark = b'"%s":%s' % (
            MARK.encode(),
            json.dumps(note | {"why": why}, separators=(",", ":")).encode(),
        )
        return b"{" + b",".join(filter(None, (members.lstrip(b","), mark))) + b"}"

    def _last_members(self) -> bytes:
        end = self._source.seek(0, os.SEEK_END)
        self._source.seek(max(end - END_BYTES, self._start))
        last = self._source.read().rstrip()
        if not last.endswith(b"}"):
            raise NotJson(CUT_OFF)
        found = LAST_MEMBERS.search(last)
        return found[0][:-1] if found else b""

    def _container(self, opening: bytes, depth: int) -> bytes:
        """What follows an opening bracket, as far as it may be read. `depth`: of what is in it."""
        closing, named = CLOSING[opening], opening == b"{"
        most = MOST_AT_TOP if depth == 1 else MOST_MEMBERS
        parts: list[bytes] = []
        try:
            while not self._limited and (token := self._token()) != closing:
                if parts and token != b",":
                    raise NotJson(f"a comma is missing at byte {self._begin}")
                if not parts:
                    self._at = self._begin
                if len(parts) >= most or (self._left <= 0 and depth > 1):
                    mark = self._skip_members()
                    parts.append(b'"%s":%s' % (MARK.encode(), mark) if named else mark)
                else:
                    name = self._name() if named else b""
                    parts.append(name + self._value(depth))
                    self._left -= VALUE_COST
        except _LimitReached:
            self._limited = True
        return opening + b",".join(parts) + closing

    def _name(self) -> bytes:
        token = self._token()
        if token[:1] != b'"' or self._token() != b":":
            raise NotJson(f"a name is missing at byte {self._begin}")
        return self._text(token, SHORT) + b":"

    def _value(self, depth: int) -> bytes:
        try:
            token = self._token()
            if token[:1] == b'"':
                return self._text(token, SHORT if depth == 1 else 0)
            if token not in CLOSING:
                return self._scalar(token)
            if depth < DEEPEST and self._left > 0:
                return self._container(token, depth + 1)
            mark = self._skip_members()
            self._at += 1
            return mark
        except _LimitReached:
            self._limited = True
            return UNREAD

    def _text(self, token: bytes, least: int) -> bytes:
        """With its quotes. `least`: what is kept of it even when there is no more room."""
        room = max(self._left, least)
        head, tail = min(self._keep.head, room), max(1, min(self._keep.tail, room))
        kept = _shorten_text(token[1:-1], head, tail)
        self._left -= len(kept)
        return b'"%s"' % kept

    def _scalar(self, token: bytes) -> bytes:
        if not SCALARS.fullmatch(token):
            raise NotJson(f"byte {self._begin} begins no value")
        self._left -= len(token)
        return token if len(token) <= LONGEST_SCALAR else b'"[left out: a number]"'

    def _skip_members(self) -> bytes:
        """To the closing bracket of the container that is open. Returns a mark."""
        begin, depth = self._at, 0
        while True:
            self._count_step()
            flat = FLAT.match(self._data, self._at)
            found = BRACKET_OR_QUOTE.search(self._data, flat.end() if flat else self._at)
            if found is None:
                raise self._end_of_data()
            self._at = found.start()
            if found[0] in b"]}" and depth == 0:
                return b'"[left out: %d bytes]"' % (self._at - begin)
            self._token()  # the whole of a text
            depth += {b"[": 1, b"{": 1, b'"': 0}.get(found[0], -1)

    def _token(self) -> bytes:
        """A text, a bracket, a sign, a number or a word."""
        self._count_step()
        self._begin = self._skip_space()
        found = TOKEN.match(self._data, self._begin)
        if found is None and self._data[self._begin : self._begin + 1] not in (b"", b'"'):
            raise NotJson(f"byte {self._begin} begins no value")
        # A word at the very end may go on.
        if found is None or (found.end() == len(self._data) and found[0][-1:].isalnum()):
            raise self._end_of_data()
        self._at = found.end()
        return found[0]

    def _skip_space(self) -> int:
        space = SPACE.match(self._data, self._at)
        return space.end() if space else self._at

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _LimitReached

    def _end_of_data(self) -> Exception:
        return _LimitReached() if self._has_more else NotJson(CUT_OFF)


def _shorten_text(text: bytes, head: int, tail: int) -> bytes:
    """What goes between the quotes instead. All bytes are as they stand there, escapes included."""
    if len(text) >= SMALLEST and (mark := attachment_mark(text)):
        return mark
    if len(text) <= head + tail:
        return text
    whole = WHOLE_UNITS.match(text[:head])
    begin = whole[0] if whole else b""
    # In the middle of an escape it is unknown what it is: the end begins behind the first sure place.
    sure = NO_ESCAPE.search(text[-tail:])
    end = text[-tail:][sure.end() :] if sure else b""
    left = len(text) - len(begin) - len(end)
    return begin + b" [... %d bytes left out ...] " % left + end


def fit_payload(body: bytes) -> bytes:
    """The agent's own bytes, with attachments as marks; shortened if they are too large or have too many
    values. Raises NotJson if that cannot be done."""
    lean = replace_attachments(body)
    why = shorten_reason(lean)
    return cut(BytesIO(body), why) if why else lean
