"""A JSON string that comes in pieces and may be longer than memory: its beginning and its end are kept."""

import re
from dataclasses import dataclass, field

from recollect.payload import attachments
from recollect.payload.attachments import Attachment

HIGH, HEX = rb"[dD][89abAB]", rb"[0-9a-fA-F]"
# To the last whole character or escape; half a pair of surrogates only where the other half cannot follow.
WHOLE_UNITS = re.compile(
    rb'(?:[^"\\]|\\[^u]|\\u(?!%b)%b{4}|\\u%b%b{2}(?=.{6}))*+' % (HIGH, HEX, HIGH, HEX), re.DOTALL
)
NO_ESCAPE = re.compile(rb"[^\\]{6}", re.DOTALL)  # longer than any: what follows begins anew


@dataclass(slots=True)
class LongText:
    """All bytes are as they stand between the quotes, escapes included."""

    head_limit: int
    tail_limit: int
    size: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytes = b""
    _attachment: Attachment | None = None

    def begin(self, first: bytes) -> None:
        """With enough of it to tell what it is."""
        if known := attachments.begun(first):
            self._attachment, begin = known
            self._feed(first[begin:])
        self._take(first)

    def add(self, part: bytes) -> None:
        self._feed(part)
        self._take(part)

    def kept(self) -> bytes:
        """What goes between the quotes instead."""
        attached = self._attachment if self.size >= attachments.SMALLEST else None
        if attached is not None and (mark := attached.mark()):
            return mark
        if self.size == len(self._head) + len(self._tail):
            return bytes(self._head) + self._tail
        whole = WHOLE_UNITS.match(self._head)
        head = whole[0] if whole else b""
        # In the middle of an escape nobody can tell what it is: the end begins behind the first sure place.
        sure = NO_ESCAPE.search(self._tail)
        tail = self._tail[sure.end() :] if sure else b""
        left = self.size - len(head) - len(tail)
        return head + b" [... %d bytes left out ...] " % left + tail

    def _take(self, part: bytes) -> None:
        self.size += len(part)
        room = self.head_limit - len(self._head)
        self._head += part[:room]
        if rest := part[room:]:
            self._tail = (self._tail + rest)[-self.tail_limit :]

    def _feed(self, part: bytes) -> None:
        if self._attachment is not None and not self._attachment.feed(part):
            self._attachment = None
