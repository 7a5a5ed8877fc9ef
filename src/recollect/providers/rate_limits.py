"""When a server that limits its callers will answer again, in the many ways in which they say so."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from recollect.clock import DAY, SECOND

LONGEST = DAY  # a clock that is wrong, or a broken header, must not park the queue for a year
SHORTEST = SECOND
EPOCH_SECONDS = 1_000_000_000  # a larger number is a date, a smaller one a delay
EPOCH_MILLISECONDS = 1_000_000_000_000

DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600}
IN_BODY = re.compile(r'"retryDelay":\s*"([^"]{1,40})"')


def until(headers: Mapping[str, str], body: object, now: int) -> int | None:
    """The time from which it may be asked again; None when it does not say."""
    lower = {name.lower(): value for name, value in headers.items()}
    at = _asked_for(lower, now) or _reset(lower, now) or _in_body(body, now)
    return None if at is None else min(max(at, now + SHORTEST), now + LONGEST)


def _asked_for(headers: Mapping[str, str], now: int) -> int | None:
    """`retry-after` is the answer to this very question; the others are hints."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return now + round(milliseconds)
    return _moment(headers.get("retry-after", ""), now)


def _reset(headers: Mapping[str, str], now: int) -> int | None:
    """The latest of those limits that are used up: requests, tokens and the like have one each."""
    return max(_resets(headers, now), default=None)


def _resets(headers: Mapping[str, str], now: int) -> Iterator[int]:
    for name, value in headers.items():
        if "ratelimit" in name and "reset" in name:
            left = _number(headers.get(name.replace("reset", "remaining"), "0"))
            at = _moment(value, now)
            if at is not None and not left:
                yield at


def _in_body(body: object, now: int) -> int | None:
    """Gemini writes it into the details of the error."""
    try:
        found = IN_BODY.search(json.dumps(body))
    except (TypeError, ValueError, RecursionError):
        return None
    return _moment(found[1], now) if found else None


def _moment(value: str, now: int) -> int | None:
    """A delay (`30`, `1.5s`, `6m0s`), an epoch in seconds or milliseconds, or a date."""
    text = value.strip()
    number = _number(text)
    if number is not None:
        return _of_number(number, now)
    if DURATION.fullmatch(text):
        seconds = sum(float(size) * UNITS[unit] for size, unit in PART.findall(text))
        return _of_number(min(seconds, LONGEST), now)
    return _of_date(text)


def _of_number(number: float, now: int) -> int:
    if number >= EPOCH_MILLISECONDS:
        return round(number)
    if number >= EPOCH_SECONDS:
        return round(number * SECOND)
    return now + round(number * SECOND)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _of_date(text: str) -> int | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = read(text)
            return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * SECOND)
        except (ValueError, TypeError, OverflowError):
            continue
    return None
