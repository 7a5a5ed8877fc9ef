"""What a model proposes to remember, read from its reply. Total: a reply that cannot be read is a value too.

Asked for is a JSON array. Fences, words around it, a single object, commas too many, an end that was cut
off and tags instead of JSON are all read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.model.memories import FEEDBACK, PROJECT, REFERENCE, TYPES, USER
from recollect.text import clean, cut, one_line, words

MOST = 5  # of one reply; whoever finds more repeats itself
LONGEST = 20_000  # characters of a reply that are looked at
LONGEST_LINE, LONGEST_TEXT = 200, 1_200
FIELDS = ("type", "name", "description", "body", "why", "how", "updates")
OTHER_NAMES = {
    "how": ("how_to_apply", "how to apply", "apply"),
    "description": ("summary", "title"),
    "body": ("content", "text", "statement", "memory", "fact"),
    "updates": ("update", "replaces"),
    "why": ("reason",),
    "name": ("id", "slug"),
}
LIKE = {
    "preference": USER,
    "person": USER,
    "rule": FEEDBACK,
    "instruction": FEEDBACK,
    "constraint": FEEDBACK,
    "guideline": FEEDBACK,
    "convention": FEEDBACK,
    "correction": FEEDBACK,
    "fact": PROJECT,
    "decision": PROJECT,
    "background": PROJECT,
    "link": REFERENCE,
    "location": REFERENCE,
    "pointer": REFERENCE,
}
TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")
TAGGED = re.compile(
    r"<(?P<tag>memory|item|draft)\b[^<>]*>(?P<inner>.*?)</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
TAG = re.compile(r"<(?P<tag>\w+)>(?P<text>.*?)</(?P=tag)>", re.DOTALL)
NOTHING = re.compile(
    r"\W*(?:none|null|nothing(?: (?:new|to (?:remember|keep|add)).*)?|no (?:new )?memor(?:y|ies).*|n/a)\W*",
    re.IGNORECASE | re.DOTALL,
)
EMPTY = re.compile(
    r"\W*(?:none|null|n/a|unknown|not (?:stated|given|specified|mentioned))?\W*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Draft:
    """`body`: the statement alone. `updates`: the name of the memory that it takes the place of."""

    type: str
    name: str
    description: str
    body: str
    why: str = ""
    how: str = ""
    updates: str = ""


@dataclass(frozen=True, slots=True)
class Unusable:
    why: str


def read_extraction(reply: str) -> tuple[Draft, ...] | Unusable:
    text = clean(reply[:LONGEST]).strip()
    found = [draft for each in _objects(text) if (draft := _draft(each))]
    if found:
        return tuple(dict.fromkeys(found))[:MOST]
    if re.search(r"\[\s*\]", text) or NOTHING.fullmatch(text.strip("`")):
        return () if text else Unusable("it is empty")
    return Unusable("there is neither a memory nor an empty list in it")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Every object of a JSON text, wherever it stands; an array that was cut off has its first ones."""
    decoder = json.JSONDecoder(strict=False)
    tidy = TRAILING_COMMA.sub("", text.replace("“", '"').replace("”", '"'))
    at, found = tidy.find("{"), False
    while at >= 0:
        try:
            value, end = decoder.raw_decode(tidy, at)
        except (ValueError, RecursionError):
            at = tidy.find("{", at + 1)
            continue
        found = True
        yield from _flat(value)
        at = tidy.find("{", end)
    if not found:
        for block in TAGGED.finditer(text):
            yield {each["tag"].lower(): each["text"] for each in TAG.finditer(block["inner"])}


def _flat(value: Any) -> Iterator[Mapping[str, Any]]:
    """An object that holds a list of memories stands for them."""
    if isinstance(value, Mapping):
        inner = [each for each in value.values() if isinstance(each, list)]
        lists = [each for each in inner if each and all(isinstance(one, Mapping) for one in each)]
        if not lists:
            yield value
        for each in lists:
            yield from each


def _draft(value: Mapping[str, Any]) -> Draft | None:
    known = {str(key).lower().strip(): each for key, each in value.items()}
    read = {field: _field(known, field) for field in FIELDS}
    line = one_line(read["description"] or read["body"], LONGEST_LINE)
    body = cut(read["body"] or read["description"], LONGEST_TEXT)
    if not line:
        return None
    return Draft(
        _type(read["type"]),
        one_line(read["name"], 80),
        line,
        body,
        one_line(read["why"], LONGEST_LINE),
        one_line(read["how"], LONGEST_LINE),
        one_line(read["updates"], 80),
    )


def _field(known: Mapping[str, Any], field: str) -> str:
    for name in (field, *OTHER_NAMES.get(field, ())):
        value = known.get(name)
        if isinstance(value, list):
            value = " ".join(str(each) for each in value if isinstance(each, str))
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value).strip()
            if not EMPTY.fullmatch(text):
                return text
    return ""


def _type(said: str) -> str:
    """`project` where it is none of the four: told in one project alone, a wrong guess harms least."""
    names = words(said.lower().replace("_", " "))
    plain = next((each for each in names if each in TYPES), None)
    return plain or next((LIKE[each] for each in names if each in LIKE), PROJECT)
