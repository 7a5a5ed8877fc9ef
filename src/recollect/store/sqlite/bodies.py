"""Events' bodies as the table has them: compressed, whole, and of a bounded size when they come out.

Whoever works on many events at once gets large ones cut: thirty of 16 MB would be a gigabyte once parsed, and
no author reads more than a few pages of any. Who asks for one event's body gets all of it.
"""

import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO

from recollect.errors import StoreDamaged
from recollect.payload.cutting import NotJson, cut
from recollect.store.sqlite.database import Row

FASTEST = 1  # zlib level: a quarter of the size for a tenth of the time of level 9
LARGEST = 64 * 1024 * 1024  # more was never stored, so more is none of ours
WHOLE = 1024 * 1024  # bytes of a body that are read uncut among others
TOGETHER = 64 * 1024 * 1024  # bytes of the uncut ones of one reading
LITTLE = 64 * 1024  # what may be read uncut beyond that
LONG = "it is long, and read among others"


def pack(body: bytes) -> bytes:
    return zlib.compress(body, FASTEST)


def unpack(packed: bytes) -> bytes:
    """A few bytes can stand for gigabytes, in a file that somebody else has made."""
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(packed, LARGEST)
    except (zlib.error, TypeError) as error:
        raise StoreDamaged(f"A stored text cannot be read ({error}). {ADVICE}") from error
    if not stream.eof:
        raise StoreDamaged(f"A stored text has over {LARGEST:,} bytes, or no end. {ADVICE}")
    return body


ADVICE = "Run `recollect doctor`."


def unpacked(rows: Iterable[Row]) -> Iterator[tuple[Row, bytes]]:
    """Each row with its body, the large ones cut."""
    together = 0
    for row in rows:
        body = unpack(row["body"])
        if len(body) > (WHOLE if together + len(body) <= TOGETHER else LITTLE):
            body = _shortened(body)
        together += len(body)
        yield row, body


def _shortened(body: bytes) -> bytes:
    try:
        return cut(BytesIO(body), LONG)
    except NotJson:
        return body[:LITTLE]  # it could be read once, by another parser
