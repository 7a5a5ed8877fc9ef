"""What stands in the columns of a claude-mem database, as values. Nothing in them is taken for granted."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.clock import SECOND
from recollect.text import clean

SECONDS_BELOW = 100_000_000_000  # in milliseconds, that is in 1973
LARGEST = 2**53


def time_of(epoch: object, text: object) -> int | None:
    """Milliseconds. Some releases wrote seconds; some rows have only the date in words."""
    try:
        number = int(float(str(epoch)))
    except (ValueError, OverflowError):
        number = 0
    if 0 < number < LARGEST:
        return number * SECOND if number < SECONDS_BELOW else number
    try:
        return round(datetime.fromisoformat(str(text)).timestamp() * SECOND)
    except (ValueError, OverflowError, OSError):
        return None


def number_of(value: object) -> int | None:
    try:
        number = int(str(value))
    except ValueError:
        return None
    return number if 0 <= number < LARGEST else None


def text_of(value: object) -> str | None:
    """Clean; None where there is nothing."""
    if value is None:
        return None
    return clean(str(value)).strip() or None


def list_of(value: object) -> tuple[str, ...]:
    """A JSON list, as it should be. What is no JSON is one item."""
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = value
    items = found if isinstance(found, list) else [found]
    texts = (text_of(_plain(item)) for item in items if item is not None)
    return tuple(dict.fromkeys(text for text in texts if text))


def _plain(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and len(item) == 1:
        return _plain(next(iter(item.values())))
    return json.dumps(item, ensure_ascii=False)
