"""Files inside a payload (a screenshot, a PDF; base64) become a mark with their kind, hash and size.

Nothing here can look into them, they compress by nothing, and a few of them outweigh everything else that is
remembered. The hash is that of the file itself, so that it can be found again: `sha256sum`. Only what begins
as a known kind of file and is base64 from end to end is replaced; anything else stays as it came.
"""

import re
from binascii import Error, a2b_base64
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash

SMALLEST = 16 * 1024  # bytes of base64
DATA_URL = re.compile(rb"data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,")
ENCODED = re.compile(
    rb'"((?:data:[\w.+-]{1,40}/[\w.+-]{1,80};base64,)?[A-Za-z0-9+/\\]{%d,}+={0,2})"' % SMALLEST
)
KINDS = (
    (b"\x89PNG", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"RIFF", "riff"),  # WebP, WAV
    (b"BM", "bmp"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"%PDF", "pdf"),
    (b"PK\x03\x04", "zip"),  # and the formats of office programs
    (b"\x1f\x8b", "gzip"),
    (b"ID3", "mp3"),
    (b"\xff\xfb", "mp3"),
    (b"OggS", "ogg"),
    (b"\0\0\0\x18ftyp", "mp4"),
    (b"\0\0\0\x20ftyp", "mp4"),
)


@dataclass(slots=True)
class Attachment:
    """One, as it comes in pieces. `feed` is False once it turns out to be none."""

    kind: str
    size: int = 0
    _left: bytes = b""
    _ended: bool = False
    _digest: "_Hash" = field(default_factory=sha256)

    def feed(self, encoded: bytes) -> bool:
        data = self._left + encoded.replace(b"\\/", b"/")
        whole = len(data) - len(data) % 4
        self._left = data[whole:]
        try:
            decoded = a2b_base64(data[:whole], strict_mode=True)
        except Error:
            return False
        if decoded and self._ended:  # something behind the padding
            return False
        self._ended = self._ended or data[:whole].endswith(b"=")
        self.size += len(decoded)
        self._digest.update(decoded)
        return True

    def mark(self) -> bytes | None:
        """None if it was cut off."""
        if self._left:
            return None
        return b"[attachment:%s:%s:%d]" % (
            self.kind.encode(),
            self._digest.hexdigest().encode(),
            self.size,
        )


def begun(start: bytes) -> tuple[Attachment, int] | None:
    """What a string is if it starts like this, and where in it the base64 begins."""
    url = DATA_URL.match(start)
    begin = url.end() if url else 0
    try:
        head = a2b_base64(start[begin : begin + 64].replace(b"\\/", b"/")[:16], strict_mode=True)
    except Error:
        return None
    kind = next((kind for magic, kind in KINDS if head.startswith(magic)), None)
    return (Attachment(kind), begin) if kind else None


def left_out(body: bytes) -> bytes:
    """The payload with its attachments as marks; the very same bytes where there are none."""
    return ENCODED.sub(_marked, body) if len(body) > SMALLEST else body


def _marked(found: re.Match[bytes]) -> bytes:
    known = begun(found[1])
    if known is None:
        return found[0]
    attachment, begin = known
    mark = attachment.mark() if attachment.feed(found[1][begin:]) else None
    return b'"%s"' % mark if mark else found[0]
