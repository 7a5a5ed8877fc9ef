"""A model's reply, read as a flat list of named texts, whatever became of its markup.

A scanner decides which tags are markup and which were only written about. lxml builds the tree, with its
HTML parser: given a stray closing tag, the XML parser ends the document there and loses the rest, while
this one goes on. The names are changed before, since HTML gives `title` and `summary` a meaning of its own.
Total: any string has an answer. No entity but characters, no DTD, no network; nothing nests deeply, because
blocks, lists and fields close what is open of their kind.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from recollect.synthesis.parsing.tags import (
    CARRIERS,
    WRAPPERS,
    Tag,
    Vocabulary,
    escaped,
    says_nothing,
    tags,
    whole,
    without_cdata,
)
from recollect.text import ELLIPSIS

# Characters; no model writes as much, a broken one may.
LONGEST_REPLY = 1_000_000
LOOK_AHEAD = 32  # tags, to see whether a field goes on behind a tag that it contains
LOOK_BACK = 200  # characters
PREFIX = "r-"
WORDS = frozenset({"type", "concept", "file"})  # fields that hold no sentence
LIST_TAGS = frozenset({"ul", "ol", "li", "item"})
ANY_TAG = re.compile(r"(?:(?<!\w)<|</)([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>")
CLOSED = re.compile(r"</\s*([A-Za-z][\w-]*)")
UNREADABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Part:
    """A text of the reply. `name` is its field, the block's where one begins, or empty for text that stands
    in no field; `within` is the list it stands in."""

    name: str
    within: str | None
    text: str
    attributes: tuple[tuple[str, str], ...] = ()


def parts(reply: str, vocabulary: Vocabulary) -> list[Part]:
    readable = UNREADABLE.sub("", reply[:LONGEST_REPLY])
    source = whole(without_cdata(_after_thinking(readable), vocabulary), vocabulary)
    page = f"<html><body><div>{_Scanner(source, vocabulary).markup()}</div></body></html>"
    parser = etree.HTMLParser(recover=True, no_network=True, huge_tree=True, encoding="utf-8")
    tree = etree.fromstring(page.encode(), parser)
    root = tree.find(".//div")
    found = () if root is None else _read(root, None, vocabulary)
    return [part for part in found if part.name or part.text.strip()]


def _after_thinking(reply: str) -> str:
    """Some models think aloud first, in drafts that they then do not mean."""
    if not reply.lstrip().lower().startswith("<think"):
        return reply
    end = re.search(r"</think(?:ing)?>", reply, re.IGNORECASE)
    return reply[end.end() :] if end else reply


def _read(element: etree._Element, within: str | None, vocabulary: Vocabulary) -> Iterator[Part]:
    for child in element:
        name = str(child.tag).removeprefix(PREFIX)
        attributes = tuple((str(key), str(value)) for key, value in child.attrib.items())
        text = child.text or ""
        if name in vocabulary.lists:
            yield Part("", name, text)
            yield from _read(child, name, vocabulary)
        elif name == vocabulary.block:
            yield Part(name, None, "", attributes)
            yield Part("", "", text)
            yield from _read(child, "", vocabulary)
        else:
            carried = (value for key, value in attributes if key in CARRIERS)
            yield Part(name, within, text if text.strip() else next(carried, ""))
            yield from _read(child, within, vocabulary)
        if within is not None:
            yield Part("", within, child.tail or "")


@dataclass(slots=True)
class _Scanner:
    source: str
    vocabulary: Vocabulary
    in_block: bool = False
    in_list: str | None = None
    in_field: str | None = None
    began: int = 0  # where the text of the open field begins
    quoted: set[str] = field(default_factory=set)  # opened in the field's text, not closed yet
    wrapped: set[str] = field(default_factory=set)
    tags: list[Tag] = field(default_factory=list)
    closed: frozenset[str] = frozenset()

    def markup(self) -> str:
        self.tags = tags(self.source, self.vocabulary)
        self.closed = frozenset(name.lower() for name in CLOSED.findall(self.source))
        out, at = [], 0
        for number, tag in enumerate(self.tags):
            if self._is_text(number, tag):
                continue
            out += [self._text(at, tag.start), self._markup(number, tag)]
            at = tag.end
        return "".join([*out, self._text(at, len(self.source)), self._cut()])

    def _cut(self) -> str:
        """The mark of a reply that ends within a field, in the middle of a sentence."""
        in_prose = self.in_field is not None and self.in_field not in WORDS
        said = self.source[self.began :].rstrip() if in_prose else ""
        return ELLIPSIS if said and said[-1].isalnum() else ""

    def _text(self, start: int, end: int) -> str:
        """Outside fields, an element that we did not ask for is a paragraph of the block's own text."""
        text = self.source[start:end]
        if self.in_field is None and (self.in_block or self.in_list):
            text = ANY_TAG.sub(self._unknown, text)
        return escaped(text)

    def _unknown(self, tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if self.in_list:
            return "\n" if name in LIST_TAGS and name in self.closed else tag[0]
        return "\n\n" if name in self.closed or tag[0].endswith("/>") else tag[0]

    def _markup(self, number: int, tag: Tag) -> str:
        name, vocabulary = tag.name, self.vocabulary
        if tag.closes:
            return self._closing(name)
        if name in WRAPPERS:
            self.wrapped.add(name)
            return ""
        if name == vocabulary.block:
            before = self._closing(name)
            self.in_block = not tag.empty
        elif name in vocabulary.lists:
            before = self._closing(self.in_list) if self.in_list else self._closing(self.in_field)
            self.in_list = None if tag.empty else name
        else:
            alien = self.in_list and vocabulary.lists[self.in_list] != name
            before = self._closing(self.in_list if alien else self.in_field)
            if name in vocabulary.fields and not tag.empty:
                self.in_field, self.began = name, tag.end
        opened = f"{before}<{PREFIX}{name}{self._attributes(tag)}>"
        alone = tag.empty or (says_nothing(name) and not self._closes(number + 1, name))
        return f"{opened}</{PREFIX}{name}>" if alone else opened

    def _closing(self, name: str | None) -> str:
        """Whatever is open inside closes with it, and a field closes with any other field's tag."""
        if name is None:
            return ""
        inner = self.in_field
        self.in_field, self.quoted = None, set()
        if name in self.wrapped:
            name = self.vocabulary.block
        if name == self.vocabulary.block:
            self.in_block, self.in_list = False, None
        elif name in self.vocabulary.lists:
            self.in_list = None
        elif inner is not None:
            name = inner
        return f"</{PREFIX}{name}>"

    def _attributes(self, tag: Tag) -> str:
        known = {*self.vocabulary.fields, *CARRIERS}
        pairs = ((key, value) for key, value in tag.attributes if key in known)
        return "".join(
            f' {key}="{escaped(value).replace(chr(34), "&quot;")}"' for key, value in pairs
        )

    # What is only written about

    def _is_text(self, number: int, tag: Tag) -> bool:
        if self.in_field is None:
            return not tag.closes and self._mentioned(number, tag)
        if tag.closes:
            return tag.name != self.in_field and self._quotes_closing(number, tag)
        if not self._quotes_opening(number, tag):
            return False
        if not tag.empty:
            self.quoted.add(tag.name)
        return True

    def _mentioned(self, number: int, tag: Tag) -> bool:
        """In chatter or a list's line: in mid-line, and nothing of its own follows."""
        name = tag.name
        line = self._before(tag).rpartition("\n")[2].rstrip()
        if not line or line.endswith(">") or tag.empty or says_nothing(name) or name in WRAPPERS:
            return False
        after = self._tag(number + 1)
        if after is None:
            return not self.in_block
        if name in self.vocabulary.fields:
            inside = self.in_block and self.in_list is None
            return not inside and after.name != name
        if after.closes:
            return after.name != name
        at_once = not self.source[tag.end : after.start].strip()
        return not at_once and not self._closes(number + 2, after.name)

    def _quotes_closing(self, number: int, tag: Tag) -> bool:
        if tag.name in self.quoted:
            self.quoted.remove(tag.name)
            return True
        if tag.name in WRAPPERS and tag.name not in self.wrapped:
            return True
        after = self._tag(number + 1)
        if after is None or not self._closes(number + 1, self.in_field):
            return False
        return bool(self.source[tag.end : after.start].strip())

    def _quotes_opening(self, number: int, tag: Tag) -> bool:
        if says_nothing(tag.name) or tag.name in WRAPPERS:
            return True
        if self._is_generic(tag) and not self._closes(number + 1, tag.name):
            return True  # `Vec<File>`
        if tag.name == self.in_field:
            return False
        if tag.name not in self.vocabulary.fields:
            return self._is_named(number)
        if self._on_fresh_line(tag) and self.in_field in self.vocabulary.lines:
            return False
        return self._field_goes_on(number, tag)

    def _is_generic(self, tag: Tag) -> bool:
        name = self.source[tag.start + 1 : tag.end - 1]
        before = self.source[tag.start - 1 : tag.start]
        return before.isalnum() and name[:1].isupper() and not name.isupper()

    def _on_fresh_line(self, tag: Tag) -> bool:
        before = self._before(tag)
        return bool(before.strip()) and "\n" in before[len(before.rstrip()) :]

    def _is_named(self, number: int) -> bool:
        """A list or block that the field speaks of: before the field ends, others are named at most."""
        for at in range(number + 1, number + 1 + LOOK_AHEAD):
            after = self._tag(at)
            if after is None or after.closes or after.name in self.vocabulary.fields:
                return self._closes(at, self.in_field)
        return False

    def _field_goes_on(self, number: int, tag: Tag) -> bool:
        """Whether the open field ends behind this tag, with nothing but other fields' tags between."""
        unclosed = not tag.empty
        for at in range(number + 1, number + 1 + LOOK_AHEAD):
            after = self._tag(at)
            if after is None or after.name not in self.vocabulary.fields:
                return False
            if after.name == self.in_field:
                crossed = unclosed and self._closes(at + 1, tag.name)
                return after.closes and not crossed and not self._wraps(tag, after)
            if after.closes and after.name == tag.name:
                unclosed = False
        return False

    def _wraps(self, tag: Tag, end: Tag) -> bool:
        """The open field holds just one whole other field."""
        inner = self._before(end).rstrip().lower()
        return not self._before(tag).strip() and inner.endswith(f"</{tag.name}>")

    def _before(self, tag: Tag) -> str:
        """The last of the text before a tag: of the open field's, if there is one. Texts can be huge."""
        start = max(self.began if self.in_field else 0, tag.start - LOOK_BACK)
        return self.source[start : tag.start]

    def _closes(self, number: int, name: str | None) -> bool:
        tag = self._tag(number)
        return tag is not None and tag.closes and tag.name == name

    def _tag(self, number: int) -> Tag | None:
        return self.tags[number] if number < len(self.tags) else None
