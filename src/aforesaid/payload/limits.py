"""Limits of a payload, in bytes and in values: to be kept whole, and to be parsed at all.

`json.loads` takes up to seventy bytes of memory for one byte of input (8 MB of `[]` are 560 MB), so values
are counted before a payload is parsed. Counting needs no more memory than the payload. What is kept whole is
less than what can be parsed, because redaction takes up to seconds per megabyte and 0.1 ms per value, and the
other captures wait meanwhile. Stored payloads of earlier versions may be larger and are still parsed.
"""

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from itertools import accumulate
from typing import Any


class NotJson(ValueError):
    """Where the input stops being JSON, or that it ends too early."""


KEPT_BYTES = 2 * 1024 * 1024  # a larger payload is shortened; no model takes as much as one text
KEPT_VALUES = 20_000
PARSED_BYTES = 16 * 1024 * 1024  # a larger payload is never in memory as a whole
SMALL = 64 * 1024  # bytes that cannot become much, whatever is in them
MOST_VALUES = 100_000  # to be parsed; the client's largest recorded payload has some hundreds
DEEPEST = 200  # containers within each other; Python's own parser gives up at about a thousand
MOST_DIGITS = 1_000  # of one number; Python refuses to read more than 4,300

STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
DIGITS = bytes(48 if 48 <= each <= 57 else 0 for each in range(256))
TOO_LONG = b"0" * (MOST_DIGITS + 1)
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def shorten_reason(body: bytes) -> str | None:
    """Why a payload has to be shortened; None if it is kept whole."""
    if len(body) > KEPT_BYTES:
        return too_large(len(body))
    return structure_excess(body, KEPT_VALUES)


def too_large(size: int) -> str:
    return f"it has {size:,} bytes; up to {KEPT_BYTES:,} are kept whole"


def parse_obstacle(body: bytes) -> str | None:
    """Why a payload cannot be parsed; None if it can."""
    if len(body) > PARSED_BYTES:
        return f"it has {len(body):,} bytes; up to {PARSED_BYTES:,} are parsed"
    return structure_excess(body)


def structure_excess(body: bytes, most_values: int = MOST_VALUES) -> str | None:
    """Why it has too many values, too long a number or too deep a nesting; None if it has not."""
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
    """A search for equal bytes; a pattern would be quadratic."""
    return TOO_LONG in body.translate(DIGITS)


def _depth(bones: bytes) -> int:
    brackets = bones.translate(None, NOT_BRACKETS)
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


def json_object(body: bytes) -> dict[str, Any]:
    """Raises NotJson, with a reason that a person can act on. What is no UTF-8 is read as far as it is."""
    if not body.strip():
        raise NotJson("the agent sent nothing")
    if why := parse_obstacle(body):
        raise NotJson(why)
    wide = body.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    try:
        value = json.loads(body.decode("utf-16" if wide else "utf-8-sig", "replace"))
    except ValueError as error:
        raise NotJson(
            f"the payload is not JSON ({error}): it was cut off, or is not the agent's"
        ) from None
    except RecursionError:
        raise NotJson("the payload is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotJson("the payload is not a JSON object")
    return value
