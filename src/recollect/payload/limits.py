"""How large a payload may be, and of how many parts, before it is cut.

`json.loads` takes up to seventy bytes of memory for one byte of input (8 MB of `[]` are 560 MB), so what a
payload would become is counted before it is parsed. Counting needs no more memory than the payload.
"""

import re
from itertools import accumulate

LOSSLESS = 16 * 1024 * 1024  # bytes; above, a payload is cut
SMALL = 64 * 1024  # bytes that cannot become much, whatever is in them
MOST_VALUES = 100_000  # the client's largest recorded payload has some hundreds
DEEPEST = 200  # containers within each other; Python's own parser gives up at about a thousand
MOST_DIGITS = 1_000  # of one number; Python refuses to read more than 4,300

STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
DIGITS = bytes(48 if 48 <= each <= 57 else 0 for each in range(256))
TOO_LONG = b"0" * (MOST_DIGITS + 1)
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def excess(body: bytes) -> str | None:
    """What there is too much of, in words for the mark; None for a payload that may be parsed."""
    if len(body) > LOSSLESS:
        return f"it has {len(body):,} bytes; up to {LOSSLESS:,} are kept whole"
    return intricacy(body)


def intricacy(body: bytes, most_values: int = MOST_VALUES) -> str | None:
    """The same, whatever its size."""
    if len(body) <= SMALL and not _has_long_number(body):
        return None
    bones = STRINGS.sub(b'""', body)  # what is left is structure and numbers
    values = bones.count(b",") + bones.count(b"[") + bones.count(b"{")
    if values > most_values:
        return f"it has over {most_values:,} values"
    if _has_long_number(bones):
        return f"a number has over {MOST_DIGITS:,} digits"
    return f"it is nested over {DEEPEST} deep" if _depth(bones) > DEEPEST else None


def _has_long_number(body: bytes) -> bool:
    """A pattern would try every digit of a text anew; a search for equal bytes skips a thousand at a time."""
    return TOO_LONG in body.translate(DIGITS)


def _depth(bones: bytes) -> int:
    brackets = bones.translate(None, NOT_BRACKETS)
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)
