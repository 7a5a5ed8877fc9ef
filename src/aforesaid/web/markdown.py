"""Markdown as a tree that the viewer makes elements of. HTML in the source stays text.

A node is a text or `[tag, *children]`, where the first child may be an object of attributes: `href` of a page
elsewhere, `memory` (a memory's name) or `start` (of a numbered list).
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

Node = Any
MAX_CHARACTERS = 50_000  # the rest is shown as it is written: parsing takes time
MAX_DEPTH = 20
LINK = re.compile(r"\[\[(?P<memory>[^\[\]]{1,300})\]\]|https?://[^\s<>()\"'`]*[^\s<>()\"'`.,;:!?]")
WEB = ("http://", "https://")


def parse_markdown(text: str) -> list[Node]:
    end = len(text)
    if end > MAX_CHARACTERS:
        end = max(text.rfind("\n", 0, MAX_CHARACTERS), MAX_CHARACTERS // 2)
    found = _build(_parser().parse(text[:end]))
    return [*found, ["pre", text[end:].removeprefix("\n")]] if text[end:] else found


def parse_line(text: str | None) -> list[Node]:
    """Without blocks: code, emphasis and links."""
    text = text or ""
    found = _build(_parser().parseInline(text[:MAX_CHARACTERS]))
    return [*found, text[MAX_CHARACTERS:]] if text[MAX_CHARACTERS:] else found


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_DEPTH}).enable("table")


def _build(tokens: "Sequence[Token]") -> list[Node]:
    from markdown_it.tree import SyntaxTreeNode

    return list(_children(SyntaxTreeNode(tokens), 0))


def _children(parent: "SyntaxTreeNode", depth: int, *, in_link: bool = False) -> Iterator[Node]:
    for node in parent.children:
        match node.type:
            case "text" if not in_link:
                yield from _link(node.content)
            case "text" | "image":  # of an image its description is shown
                yield node.content
            case "softbreak":
                yield "\n"
            case "code_inline":
                yield ["code", node.content]
            case "fence" | "code_block":
                yield ["pre", ["code", node.content.removesuffix("\n")]]
            case _:
                element = [] if depth >= MAX_DEPTH else _element(node)
                linked = in_link or element[:1] == ["a"]
                children = _children(node, depth + bool(element), in_link=linked)
                yield from [[*element, *children]] if element else children


def _element(node: "SyntaxTreeNode") -> list[Node]:
    """The tag and its attributes. Empty: only its children are shown."""
    match node.type:
        case "inline":
            return []
        case "link":
            target = str(node.attrs.get("href", ""))
            return ["a", {"href": target}] if target.lower().startswith(WEB) else []
        case "heading":  # the page has its own first heading
            return [f"h{min(6, int(node.tag[1]) + 1)}"]
        case "paragraph" if node.hidden:  # in a tight list
            return []
        case _:
            start = node.attrs.get("start")
            return [node.tag] if start is None else [node.tag, {"start": start}]


def _link(text: str) -> Iterator[Node]:
    """A text with its bare addresses and `[[names]]` of memories as links."""
    last = 0
    for found in LINK.finditer(text):
        if found.start() > last:
            yield text[last : found.start()]
        name = found["memory"]
        yield ["a", {"memory": name}, name] if name else ["a", {"href": found[0]}, found[0]]
        last = found.end()
    if text[last:]:
        yield text[last:]
