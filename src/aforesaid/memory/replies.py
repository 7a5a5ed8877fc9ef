"""Reads JSON from a model's reply, however it is wrapped."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_STARTS = 500  # places at which a value may begin: what is broken is tried again at each
TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
START = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class Unusable:
    """A reply that cannot be read."""

    why: str


def json_values(reply: str) -> Iterator[Any]:
    """Every complete object and array, in order. Code fences, prose around them, trailing commas and raw line
    breaks in strings are tolerated; of a value that was cut off, the complete ones within it are returned."""
    decoder = json.JSONDecoder(strict=False)
    text, at = TRAILING_COMMA.sub("", reply), 0
    for _ in range(MAX_STARTS):
        if not (found := START.search(text, at)):
            return
        try:
            value, at = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            continue
        yield value
