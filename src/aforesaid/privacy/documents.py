"""Secrets that a whole document names: values of a Kubernetes Secret, the private part of a JSON web key."""

import re
from collections.abc import Iterator

from aforesaid.privacy import values
from aforesaid.privacy.rules import Places

NEEDLES = (
    "kind: secret",
    '"kind": "secret"',
    '"kind":"secret"',
    '\\"kind\\":\\"secret\\"',
    '"kty"',
    '\\"kty\\"',
)
_AROUND = 16_000
_DATA = re.compile(r"(?:string)?data\\{0,3}\"?:\s{0,3}(?P<json>\{)?", re.IGNORECASE)
_LINE = re.compile(r"(?P<lead>[^\n]{0,60}?)[\w.-]{1,80}:[ \t]+[\"']?(?P<value>[^\s\"'|>#]{4,})")
_PAIR = re.compile(r"\"[\w.-]{1,80}\\{0,3}\":\s{0,3}\\{0,3}\"(?P<value>[^\"\\\s]{4,})")
_PART = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\\{0,3}\"\s{0,3}:\s{0,3}\\{0,3}\"(?P<value>[\w-]{20,})")


def spans(text: str, lowered: str, places: Places) -> Iterator[tuple[int, int]]:
    done = 0
    for at in sorted(at for needle in NEEDLES for at in places.get(needle, ())):
        if at < done:
            continue
        begin = max(done, at - _AROUND, lowered.rfind("\n---", max(0, at - _AROUND), at))
        end = lowered.find("\n---", at, at + _AROUND)
        done = end = end if end >= 0 else min(len(text), at + _AROUND)
        if "kty" in lowered[at : at + 8]:
            yield from (found.span("value") for found in _PART.finditer(text, begin, end))
            continue
        for data in _DATA.finditer(text, begin, end):
            yield from _read_pairs(text, data, end)


def _read_pairs(text: str, data: re.Match[str], end: int) -> Iterator[tuple[int, int]]:
    if data["json"]:
        close = text.find("}", data.end(), end)
        pairs = _PAIR.finditer(text, data.end(), close if close >= 0 else end)
    else:
        pairs = _read_lines(text, data, end)
    for pair in pairs:
        if not values.is_placeholder(pair["value"]):
            yield pair.span("value")


def _read_lines(text: str, data: re.Match[str], end: int) -> Iterator[re.Match[str]]:
    """The lines below `data:` that are indented more than it."""
    column = data.start() - (text.rfind("\n", 0, data.start()) + 1)
    at = text.find("\n", data.end(), end)
    while 0 <= at < end:
        line = _LINE.match(text, at + 1)
        key = line and re.search(r"[\w.-]+:[ \t]+[\"']?\Z", text[at + 1 : line.start("value")])
        if not line or not key or key.start() <= column:
            return
        yield line
        at = text.find("\n", line.end(), end)
