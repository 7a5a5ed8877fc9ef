"""The one question that every way in asks: what of these bytes is kept?"""

from io import BytesIO

from recollect.payload.attachments import left_out
from recollect.payload.cutting import cut
from recollect.payload.limits import excess


def fitted(body: bytes) -> bytes:
    """The agent's own bytes, with attachments as marks; cut if it is too much to be parsed. Raises NotJson if
    that cannot be done."""
    lean = left_out(body)
    why = excess(lean)
    return cut(BytesIO(body), why) if why else lean
