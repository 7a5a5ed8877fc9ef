"""A payload that is too large or too intricate, cut to what identifies it and the ends of what it says.

It is read in pieces and never parsed as a whole, so 200 MB need no more memory than one. What comes out is
JSON of the same shape: short values stay as they are, long texts keep their beginning and their end, what is
too deep or too much is left out, and each cut is marked. Last comes `recollect_cut`: the size and the sha256
of what there was, and why it was cut. Refused is what is no JSON object, as in a whole payload.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import BinaryIO

from recollect.payload.long_text import LongText

MARK = "recollect_cut"
SHORT = 4 * 1024  # a text at the top says what the event is: it is kept when everything else is not
DEEPEST, MOST_MEMBERS, MOST_AT_TOP = 8, 2_000, 200
LONGEST_SCALAR = 1_000
PIECE = 256 * 1024
ENOUGH = 512  # bytes of a text that tell what it is

SPACE = re.compile(rb"[ \t\r\n]*+")
PLAIN = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
SCALAR = re.compile(rb"[-+0-9.A-Za-z]*+")
SCALARS = re.compile(rb"-?(?:[0-9][-+0-9.eE]*|Infinity)|true|false|null|NaN")
FLAT = (
    re.compile(  # whatever opens no further bracket, at the speed of C: there may be millions of it
        rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"|\[[^"\[\]{}]*+\]|\{[^"\[\]{}]*+\})*+',
        re.DOTALL,
    )
)
BRACKET_OR_QUOTE = re.compile(rb'["\[\]{}]')
CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}
QUOTE, COLON, COMMA = b'":,'
CUT_OFF = "it was cut off"


class NotJson(ValueError):
    """Where the input stops being JSON, or that it ends too early."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Bytes: of the beginning and the end of each long text, and of everything that comes out. Short texts at
    the top come in any case."""

    head: int = 32 * 1024
    tail: int = 16 * 1024
    out: int = 1024 * 1024


USUAL = Keep()


def cut(source: BinaryIO, why: str, keep: Keep = USUAL) -> bytes:
    """Raises NotJson, and whatever reading raises."""
    return _Cutting(source, keep).payload(why)


class _Cutting:
    def __init__(self, source: BinaryIO, keep: Keep) -> None:
        self._source, self._keep, self._left = source, keep, keep.out
        self._buffer, self._at = b"", 0
        self._size, self._digest = 0, sha256()
        while self._more():
            if self._size >= 3:
                break
        self._at = 3 if self._buffer.startswith(b"\xef\xbb\xbf") else 0

    def payload(self, why: str) -> bytes:
        if self._peek() != ord("{"):
            raise NotJson("the payload is not a JSON object")
        members = self._container(1)
        if self._peek() is not None:
            raise NotJson(f"something follows after byte {self._position}")
        note = {"bytes": self._size, "sha256": self._digest.hexdigest(), "why": why}
        told = b'"%s":%s' % (MARK.encode(), json.dumps(note).encode())
        return members[:-1] + (b"," if len(members) > 2 else b"") + told + b"}"

    def _value(self, depth: int) -> bytes:
        match self._peek():
            case 0x22:
                return self._text(SHORT if depth == 1 else 0)
            case 0x5B | 0x7B if depth < DEEPEST and self._left > 0:
                return self._container(depth + 1)
            case 0x5B | 0x7B:
                return self._passed_over()
            case _:
                return self._scalar()

    def _container(self, depth: int) -> bytes:
        """`depth`: of what is in it."""
        opening = self._take()
        closing, named = CLOSING[opening], opening == ord("{")
        parts: list[bytes] = []
        most = MOST_AT_TOP if depth == 1 else MOST_MEMBERS
        while self._peek() != closing:
            if parts and self._take() != COMMA:
                raise NotJson(f"a comma is missing at byte {self._position}")
            if len(parts) >= most or (self._left <= 0 and depth > 1):
                parts.append(self._rest(named))
                break
            parts.append(self._member(depth) if named else self._value(depth))
            self._left -= 1
        if self._take() != closing:
            raise NotJson(f"a bracket is missing at byte {self._position}")
        return bytes([opening]) + b",".join(parts) + bytes([closing])

    def _member(self, depth: int) -> bytes:
        if self._peek() != QUOTE:
            raise NotJson(f"a name is missing at byte {self._position}")
        name = self._text(SHORT)
        if self._peek() != COLON or not self._take():
            raise NotJson(f"a colon is missing at byte {self._position}")
        return name + b":" + self._value(depth)

    def _text(self, least: int) -> bytes:
        """With its quotes. `least`: what is kept of it even when there is no more room."""
        room = max(self._left, least)
        text = LongText(min(self._keep.head, room), max(1, min(self._keep.tail, room)))
        self._take()
        while len(self._buffer) - self._at < ENOUGH and self._more():
            pass
        pieces = self._pieces()
        text.begin(next(pieces))
        for piece in pieces:
            text.add(piece)
        kept = text.kept()
        self._left -= len(kept)
        return b'"%s"' % kept

    def _pieces(self) -> Iterator[bytes]:
        """Of the string that is open, to its end; the first may be all of it."""
        while True:
            found = PLAIN.match(self._buffer, self._at)
            assert found is not None  # it matches nothing, too
            self._at = found.end()
            yield found[0]
            if self._at < len(self._buffer) and self._buffer[self._at] == QUOTE:
                self._at += 1
                return
            if not self._more():
                raise NotJson(CUT_OFF)

    def _scalar(self) -> bytes:
        parts = []
        while True:
            found = SCALAR.match(self._buffer, self._at)
            assert found is not None
            self._at = found.end()
            parts.append(found[0][: LONGEST_SCALAR + 1])
            if self._at < len(self._buffer) or not self._more():
                break
        scalar = b"".join(parts)
        if not SCALARS.fullmatch(scalar):
            raise NotJson(f"byte {self._position} begins no value" if self._buffer else CUT_OFF)
        self._left -= len(scalar)
        return scalar if len(scalar) <= LONGEST_SCALAR else b'"[left out: a number]"'

    def _passed_over(self) -> bytes:
        begin = self._position
        self._take()
        self._to_the_end()
        self._take()
        return b'"[left out: %d bytes]"' % (self._position - begin)

    def _rest(self, named: bool) -> bytes:
        """Of a container: to its bracket, which stays."""
        begin = self._position
        self._to_the_end()
        mark = b'"[left out: %d bytes]"' % (self._position - begin)
        return b'"%s":%s' % (MARK.encode(), mark) if named else mark

    def _to_the_end(self) -> None:
        """Of the container that is open; before its closing bracket."""
        depth = 0
        while True:
            flat = FLAT.match(self._buffer, self._at)
            found = BRACKET_OR_QUOTE.search(self._buffer, flat.end() if flat else self._at)
            if found is None:
                self._at = len(self._buffer)
                if not self._more():
                    raise NotJson(CUT_OFF)
                continue
            self._at = found.start()
            match found[0]:
                case b'"':
                    self._at += 1
                    for _ in self._pieces():
                        pass
                    continue
                case b"[" | b"{":
                    depth += 1
                case _:
                    if depth == 0:
                        return
                    depth -= 1
            self._at += 1

    def _peek(self) -> int | None:
        """The next byte that says something; None at the end."""
        while True:
            space = SPACE.match(self._buffer, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return None

    def _take(self) -> int:
        found = self._peek()
        if found is None:
            raise NotJson(CUT_OFF)
        self._at += 1
        return found

    def _more(self) -> bool:
        piece = self._source.read(PIECE)
        self._size += len(piece)
        self._digest.update(piece)
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return bool(piece)

    @property
    def _position(self) -> int:
        return self._size - len(self._buffer) + self._at
