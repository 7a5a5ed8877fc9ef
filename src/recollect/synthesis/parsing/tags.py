"""Where the tags are in a model's reply: the ones we asked for, by name, and nothing else.

Models write `if a < b && c`, `List<String>` and `<div>` into their sentences. So a tag is only what has a
name of the vocabulary and the shape of a tag; all other `<` and `&` are text.
"""

import html.entities
import re
from collections.abc import Mapping
from dataclasses import dataclass

WRAPPERS = frozenset({"observations", "response", "reply", "answer", "output", "result", "xml"})
NOTHING = frozenset({"none", "nothing", "no_observations", "no_observation", "no_summary"})
CARRIERS = ("value", "text", "name", "path", "reason")  # attributes that may hold an element's text
LONGEST_LOOSE_TAG = 300

ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
TAG = re.compile(
    r"""<(?P<close>/\s*)?(?P<name>[A-Za-z][A-Za-z0-9_-]*)"""
    r"""(?P<attributes>(?:\s+[A-Za-z_][\w.-]*\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*)"""
    r"""\s*(?P<empty>/?)>"""
)
# The quotes of an attribute do not match: the tag is believed, its attributes are not.
LOOSE_TAG = re.compile(
    rf"<(?P<close>/\s*)?(?P<name>[A-Za-z][\w-]*)\s[^<>]{{0,{LONGEST_LOOSE_TAG}}}=[^<>]"
    rf"{{0,{LONGEST_LOOSE_TAG}}}>"
)
ENTITY = re.compile(r"&(?:#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|([A-Za-z][A-Za-z0-9]{1,31};))?")
CDATA, CDATA_END = "<![CDATA[", "]]>"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`block` holds fields and lists; `lists` names each list's item. Items are fields too. A field holds
    text alone. `lines`: the fields of one line."""

    block: str
    lists: Mapping[str, str]
    fields: frozenset[str]
    lines: frozenset[str]

    def knows(self, name: str) -> bool:
        return (
            name in self.fields
            or name in self.lists
            or name == self.block
            or name in WRAPPERS
            or says_nothing(name)
        )


def says_nothing(name: str) -> bool:
    return name in NOTHING or name.startswith("skip")


@dataclass(frozen=True, slots=True)
class Tag:
    start: int
    end: int
    name: str
    closes: bool
    empty: bool
    attributes: tuple[tuple[str, str], ...]


def tags(reply: str, vocabulary: Vocabulary) -> list[Tag]:
    found: list[Tag] = []
    at = reply.find("<")
    while at >= 0:
        match = TAG.match(reply, at) or LOOSE_TAG.match(reply, at)
        name = match["name"].lower().replace("-", "_") if match else ""
        if match and vocabulary.knows(name):
            found.append(_tag(match, name))
            at = match.end() - 1
        at = reply.find("<", at + 1)
    return found


def _tag(match: re.Match[str], name: str) -> Tag:
    groups = match.groupdict()
    attributes = ATTRIBUTE.findall(groups.get("attributes") or "")
    return Tag(
        match.start(),
        match.end(),
        name,
        bool(groups["close"]),
        bool(groups.get("empty")),
        tuple((key.lower(), one or two or bare) for key, one, two, bare in attributes),
    )


def whole(reply: str, vocabulary: Vocabulary) -> str:
    """With the tag finished in whose midst the reply was cut off. If not even its name can be told, it is
    left out: it holds no word yet."""
    start = reply.rfind("<")
    rest = reply[start:]
    if start < 0 or ">" in rest:
        return reply
    for end in (">", '">', "'>"):
        match = TAG.fullmatch(rest + end)
        if match and vocabulary.knows(match["name"].lower().replace("-", "_")):
            return reply + end
    begun = rest[1:].lstrip("/ ").lower()
    if "=" in begun:
        begun = begun.split(None, 1)[0]
    names = (*vocabulary.fields, *vocabulary.lists, vocabulary.block, *WRAPPERS, *NOTHING)
    return reply[:start] if any(name.startswith(begun) for name in names) else reply


def without_cdata(reply: str, vocabulary: Vocabulary) -> str:
    """What a CDATA section holds is text, written with entities from here on. A section around a whole
    block, and one that never ends, only loses its marks."""
    if CDATA not in reply:
        return reply
    first, *sections = reply.split(CDATA)
    parts = [first]
    for section in sections:
        inner, end, after = section.partition(CDATA_END)
        if end and f"<{vocabulary.block}" not in inner.lower():
            inner = inner.replace("&", "&amp;").replace("<", "&lt;")
        parts += [inner, after]
    return "".join(parts)


def escaped(text: str) -> str:
    """As a parser reads it back. Entities that we know are left to it, so each is decoded once."""
    return ENTITY.sub(_entity, text).replace("<", "&lt;")


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    known = len(match[0]) > 1 and (name is None or name in html.entities.html5)
    return match[0] if known else "&amp;" + match[0][1:]
