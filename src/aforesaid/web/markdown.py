"""Markdown as a tree that the viewer makes elements of. HTML in the source stays text.

A node is a text or `[tag, *children]`, where the first child may be an object of attributes: `href` of a page
elsewhere, `memory` (a memory's name) or `start` (of a numbered list).
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
    root: list[Node] = []
    open_nodes = [root]
    nested = (each.children or () if each.type == "inline" else (each,) for each in tokens)
    for token in chain.from_iterable(nested):
        if token.hidden:  # a paragraph in a tight list
            continue
        parent = open_nodes[-1]
        if token.nesting > 0:
            node = _element(token)
            if node is None or len(open_nodes) > MAX_DEPTH:
                open_nodes.append(parent)  # its children are the parent's
            else:
                parent.append(node)
                open_nodes.append(node)
        elif token.nesting < 0:
            open_nodes.pop()
        elif token.type == "text" and parent[:1] != ["a"]:
            parent.extend(_link(token.content))
        else:
            parent.append(_leaf(token))
    return root


def _element(token: "Token") -> Node | None:
    """None: only its children are shown."""
    if token.tag == "a":
        target = str(token.attrs.get("href", ""))
        return ["a", {"href": target}] if target.lower().startswith(WEB) else None
    if token.type == "heading_open":  # the page has its own first heading
        return [f"h{min(6, int(token.tag[1]) + 1)}"]
    start = token.attrs.get("start")
    return [token.tag] if start is None else [token.tag, {"start": start}]


def _leaf(token: "Token") -> Node:
    match token.type:
        case "softbreak":
            return "\n"
        case "hardbreak" | "hr":
            return [token.tag]
        case "code_inline":
            return ["code", token.content]
        case "fence" | "code_block":
            return ["pre", ["code", token.content.removesuffix("\n")]]
        case _:  # a text in a link, or an image, of which its description is shown
            return token.content


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
