"""Files inside a payload (a screenshot, a PDF; base64) become a mark with their kind, hash and size.

Nothing here can look into them, they compress by nothing, and a few of them outweigh everything else that is
remembered. The hash is that of the file itself, so that it can be found again: `sha256sum`. Only what begins
as a known kind of file and is base64 from end to end is replaced; anything else stays as it came.
"""

import re
from binascii import Error, a2b_base64
from hashlib import sha256

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


def attachment_mark(encoded: bytes) -> bytes | None:
    """What takes the place of a string that is an attachment from end to end; None if it is none."""
    url = DATA_URL.match(encoded)
    begin = url.end() if url else 0
    try:
        head = a2b_base64(encoded[begin : begin + 64].replace(b"\\/", b"/")[:16], strict_mode=True)
        kind = next((kind for magic, kind in KINDS if head.startswith(magic)), None)
        if kind is None:
            return None
        data = a2b_base64(encoded[begin:].replace(b"\\/", b"/"), strict_mode=True)
    except Error:
        return None
    return b"[attachment:%s:%s:%d]" % (kind.encode(), sha256(data).hexdigest().encode(), len(data))


def replace_attachments(body: bytes) -> bytes:
    """The payload with marks for its attachments; the same bytes if there are none."""
    return ENCODED.sub(_replace, body) if len(body) > SMALLEST else body


def _replace(found: re.Match[bytes]) -> bytes:
    mark = attachment_mark(found[1])
    return b'"%s"' % mark if mark else found[0]
