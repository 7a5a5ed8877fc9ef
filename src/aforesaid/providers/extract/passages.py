"""Markdown that an agent or a user wrote, as passages: sentences, and lead-ins with their list items.

A passage can stand alone: a list that follows "This causes:" is one passage with its lead-in, and an item
keeps the label or heading it stands under. Code blocks, tables and rules are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aforesaid import text
from aforesaid.model.prose import BULLET, SENTENCE_END, split

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
TRACE = re.compile(
    r"^(?:[ \t]*File \".*\", line \d+.*|Traceback \(most.*|[ \t]+at \S+.*\(.*\)?|[ \t]+at \S+:\d+.*"
    r"|E[ ]{2,}.*|[ \t]*\^+[ \t]*|[ \t]*(?:[\w.]+\.)?\w+(?:Error|Exception): .*|goroutine \d+.*"
    r"|[ \t]+[│|].*|[ \t]{4,}\S.*|(?:FAILED|PASSED|ERROR) \S+.*|\[?\d{4}-\d\d-\d\d[T ]\d\d:.*)$",
    re.MULTILINE,
)
INJECTED = re.compile(r"<(aforesaid[\w-]*)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^)\s]{0,500}\)")
EMPHASIS = re.compile(r"\*\*|__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
HEADING = re.compile(r"^\s*#{1,6}\s+(.+?)\s*#*$")
BOLD_LINE = re.compile(r"^\s*(?:\d{1,2}[.)]\s+)?(?:\*\*|__)([^*_\n]{2,80}?):?(?:\*\*|__):?\s*$")
BOLD_LEAD = re.compile(
    r"^(?:\*\*|__)([^*\n]{2,60}?)(?::(?:\*\*|__)|(?:\*\*|__)(?::|\s+[–—-]\s|\s+\([^)]*\):?))\s*(?=\S)"
)
WORD_LEAD = re.compile(r"([A-Z][\w'’]*(?: [\w'’]+){0,2}):\s+(?=\S)")  # `Cause: …` without bold
SYMBOLS = re.compile(
    r"^[^\w`\"'“(\[/@$.<*-]+\s*"
)  # check marks and other pictures before the words
QUOTED_LINE = re.compile(r"^(?:[ ]{0,3}>)+ ?", re.MULTILINE)
LOOKED_AT = 24_000
LONGEST = 320  # characters of a passage
LABEL_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Passage:
    """`label`: the bold lead-in or heading it stands under; `joined`: a lead-in with its list items."""

    text: str
    label: str = ""
    item: bool = False
    joined: bool = False

    @property
    def lead(self) -> str:
        """The label as it stands before an item, unless that is part of the text or says nothing."""
        plain = not self.item or PLAIN_LABEL.match(self.label) or self.label in self.text
        return "" if plain or len(self.label) > LABEL_LENGTH else f"{self.label.rstrip('.:')}: "


PLAIN_LABEL = re.compile(
    r"(?:key |main |the |my |all |code |files? |test |final |quick |proposed |suggested |recommended )*"
    r"(?:summary|overview|findings?|details?|results?|changes?|changed|what|conclusion|answer|notes?|files|how"
    r"|why|implementation|next|tests?|verification|in short|tl;?dr|background|done|completed|problem|issue"
    r"|solution|fix|root cause|cause|options?|steps?|analysis|behaviou?r|status|benefits|location|example"
    r"|context|scenario|impact|approach|plan|modified|created|updated|added|removed)\b",
    re.IGNORECASE,
)


def plain_prompt(prompt: str) -> str:
    """What the user wrote, without pasted code and traces and without what was injected."""
    raw = INJECTED.sub("\n", text.clean(prompt[:LOOKED_AT]))
    lines = TRACE.sub("", FENCE.sub("\n", raw)).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(">")).strip()


def plain_line(line: str) -> str:
    """One line of Markdown as text; code keeps its backticks."""
    return " ".join(EMPHASIS.sub("", LINK.sub(r"\1", line)).split())


def parse_heading(line: str) -> str | None:
    """The words of a heading, or of a bold line that stands for one."""
    mark = HEADING.match(line) or BOLD_LINE.match(line)
    return SYMBOLS.sub("", plain_line(BULLET.sub("", mark[1]))).rstrip(":") if mark else None


def heading_level(line: str) -> int:
    """The lower, the more it stands above; a bold line stands below all others."""
    bare = line.strip()
    return len(bare) - len(bare.lstrip("#")) or 7


def read_passages(source: str) -> list[Passage]:
    found: list[Passage] = []
    for label, lead, items in _blocks(source):
        found += _join(label, lead, items) if items else _sentences(lead, label)
    return found


def split_sentences(paragraph: str) -> list[str]:
    return [part for part in split(paragraph, SENTENCE_END) if part.strip(" .!-*_")]


def read_sentences(source: str) -> list[str]:
    """The sentences of some Markdown in order; a list item is one or more."""
    parts = (part for _, lead, items in _blocks(source) for part in (lead, *items))
    return [sentence for part in parts for sentence in split_sentences(plain_line(part))]


def _blocks(source: str) -> Iterator[tuple[str, str, list[str]]]:
    """Paragraphs and lists with the heading above them: (label, lead-in or paragraph, items)."""
    label, lead, items = "", "", list[str]()
    gap = True
    plain = QUOTED_LINE.sub("", FENCE.sub("\n\n", text.clean(source[:LOOKED_AT])))
    for line in plain.splitlines():
        heading, bullet = parse_heading(line), BULLET.match(line)
        bare = line.strip()
        if heading is not None or _is_table(bare):
            if lead or items:
                yield label, lead, items
            label, lead, items = heading or label, "", []
        elif not bare:
            gap = True
            continue
        elif bullet:
            items.append(BULLET.sub("", line).strip())
        elif items and not gap:
            items[-1] = f"{items[-1]} {bare}"
        elif gap or items:
            if lead or items:
                yield label, lead, items
            lead, items = bare, []
        else:
            lead = f"{lead} {bare}"
        gap = False
    if lead or items:
        yield label, lead, items


def _is_table(line: str) -> bool:
    return line.startswith("|") or (bool(line) and not line.strip("-=_*| "))


def _sentences(paragraph: str, label: str, *, item: bool = False) -> list[Passage]:
    """The sentences of a paragraph or an item. A bold lead-in is their label."""
    paragraph = SYMBOLS.sub("", paragraph)
    if lead := BOLD_LEAD.match(paragraph):
        label, item = BULLET.sub("", SYMBOLS.sub("", plain_line(lead[1]))), True
        paragraph = paragraph[lead.end() :].lstrip(" :–—-")
    found = []
    for sentence in split_sentences(plain_line(paragraph)):
        lead = WORD_LEAD.match(sentence)
        if lead and PLAIN_LABEL.match(lead[1]):
            found.append(Passage(sentence[lead.end() :], lead[1], item=True))
        else:
            found.append(Passage(sentence, label, item))
    return found


def _join(label: str, lead: str, items: list[str]) -> list[Passage]:
    """A lead-in with a colon and its items are one passage if they are short enough."""
    before = _sentences(lead, label)
    if not before or not before[-1].text.endswith(":"):
        return [*before, *(p for each in items for p in _sentences(each, label, item=True))]
    last = before.pop()
    flat = [SYMBOLS.sub("", plain_line(item)).rstrip(".;") for item in items]
    above = last.text.rstrip(":").strip()
    plain = not above or PLAIN_LABEL.fullmatch(above)  # `Changes:` says nothing
    whole = "; ".join(flat) if plain else f"{above}: {'; '.join(flat)}"
    if len(whole) <= LONGEST:
        return [
            *before,
            Passage(whole, above if plain and above else last.label, last.item, joined=True),
        ]
    label = above if 0 < len(above) <= LABEL_LENGTH else last.label
    return [*before, *(p for each in items for p in _sentences(each, label, item=True))]
