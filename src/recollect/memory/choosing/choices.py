"""A model's choice from a numbered list of names, read however it is written.

Asked for is a line `Notes:` with names or `none`. Models also send JSON, in a code block or in prose, numbers
instead of names, a list with dashes, or tags.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.text import clean

LONGEST = 8_000  # characters of a reply that are looked at
MOST_TRIES = 50  # places at which JSON may begin
LISTED = 2  # times as many as may be chosen: whoever names so many has not chosen
LABEL = re.compile(
    r"^\W*(?:[\w ]{0,30}\b)?(?:notes?|memor(?:y|ies)|names?|answer)\b[*_`\s]*:",
    re.IGNORECASE | re.MULTILINE,
)
NONE = re.compile(
    r"(?:none|nothing|no (?:notes?|memor(?:y|ies)|names?)\b[^.\n]*|n/a|null)", re.IGNORECASE
)
ASKS = re.compile(r"asks for:\s*(?=\S+$)", re.IGNORECASE)
EMPTY_TAG = re.compile(r"<(\w+)\s*/>|<(\w+)>\s*</\2>")
TAG = re.compile(r"</?\w[^>\n]*>")
FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
BULLET = re.compile(r"^[\s>*+-]*(?:(\d{1,4})[.):]?(?=\s|$))?\s*")
STRING = re.compile(r'"([^"\n]{1,200})"')
NOT_NAME = re.compile(r"[^\w]+")
# What stands around a name on its line.
AROUND = " \t*`'\"“”‘’[](){},;."


def read(reply: str, names: Sequence[str], most: int) -> list[str] | None:
    """The names that it chooses, at most so many; none of them is an answer, too. `names` are as they were
    listed, the first has the number 1. None: it cannot be read, or it names nothing that was listed, or
    nearly everything."""
    text = clean(reply[:LONGEST])
    known = _Known(names)
    labels = list(LABEL.finditer(text))
    found = _named(text[labels[-1].end() :] if labels else text, known)
    if found is None or len(found) > LISTED * most:
        return None
    return found[:most]


def _named(text: str, known: "_Known") -> list[str] | None:
    for items in _arrays(text):
        found = known.all_of(items)
        if found or not items:
            return found
    listed = known.all_of(_lines(text))
    if listed:
        return listed
    return [] if _says_none(text) else known.mentioned(text) or None


class _Known:
    """Names, found again however they are spelled: `Use_Tabs.md` is `use-tabs`."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._by_form = {_form(name): name for name in reversed(names)}

    def all_of(self, items: Sequence[str | int]) -> list[str]:
        """Each once, in order. A number counts only where it is no name."""
        found = (self._one(item) for item in items)
        return list(dict.fromkeys(name for name in found if name is not None))

    def _one(self, item: str | int) -> str | None:
        if isinstance(item, int):
            return self._by_form.get(str(item)) or self._numbered(item)
        said = item.strip(AROUND)
        bullet = BULLET.match(said)
        number = bullet[1] if bullet else None
        plain = said[bullet.end() :] if bullet else said
        for candidate in (said, plain, re.split(r":|\s[—–-]\s|\s", plain, maxsplit=1)[0]):
            if name := self._by_form.get(_form(candidate)):
                return name
        return self._numbered(int(number)) if number and not plain.strip(AROUND) else None

    def _numbered(self, number: int) -> str | None:
        return self._names[number - 1] if 1 <= number <= len(self._names) else None

    def mentioned(self, text: str) -> list[str]:
        """In prose, in the order in which it speaks of them."""
        places = {}
        for name in self._names:
            if found := re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
                places[name] = found.start()
        return sorted(places, key=lambda name: places[name])


def _arrays(text: str) -> Iterator[list[str | int]]:
    """Every JSON array in it, also within an object, also one that was cut off."""
    decoder = json.JSONDecoder()
    end = 0
    for found in list(re.finditer(r"\[", text))[:MOST_TRIES]:
        start = found.start()
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
            yield [item for each in value for item in _item(each)]
        except (ValueError, RecursionError):
            if cut := STRING.findall(text, start):
                yield cut


def _item(value: Any) -> Iterator[str | int]:
    named = value.get("name", value.get("number")) if isinstance(value, dict) else value
    if isinstance(named, str | int) and not isinstance(named, bool):
        yield named


def _lines(text: str) -> list[str]:
    plain = TAG.sub("\n", FENCE.sub("", text))
    lines = (part for line in plain.splitlines() for part in (line, *line.split(",")))
    return [line for line in lines if line.strip()]


def _says_none(text: str) -> bool:
    plain = TAG.sub(" ", FENCE.sub("", text)).strip(AROUND + "\n")
    plain = ASKS.sub("", plain)
    return bool(NONE.fullmatch(plain)) or (not plain and bool(EMPTY_TAG.search(text)))


def _form(name: str) -> str:
    return (
        NOT_NAME.sub("-", name.strip(AROUND).removesuffix(".md").lower())
        .replace("_", "-")
        .strip("-")
    )
