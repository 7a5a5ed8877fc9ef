"""`<private>…</private>`: what stands between the tags is never stored.

It fails closed. A tag that is not closed hides the rest of its field; a closing tag alone hides what stands before
it, because clients show files and output in parts. Tags may nest, have any letter case and attributes, and be escaped
as JSON or HTML. `hook/capture.py` does the same to the bytes of a prompt before they reach the disk; a contract test
keeps the two equal.
"""

import re

MARK = "[private]"
WORD = "private"
# The bytes of a payload may have it all escaped once more.
TAG = re.compile(
    r"(?:<|\\{1,4}u003c|&lt;)\s{0,8}(?P<closes>\\{0,4}/)?\s{0,8}private(?![\w-])"
    r"(?:(?(closes)\s{0,8}|[^<>\\]{0,200}?)(?:>|\\{1,4}u003e|&gt;))?",
    re.IGNORECASE,
)


def spans(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    depth = begin = 0
    for tag in TAG.finditer(text):
        if not tag["closes"]:
            begin = begin if depth else tag.start()
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            # Not opened: whatever stands before it, with all that was shown of it.
            found = [*found, (begin, tag.end())] if depth else [(0, tag.end())]
            depth = 0
    if depth:
        found.append((begin, len(text)))
    return found


def has_tag(text: str) -> bool:
    lowered = text.lower()
    at = lowered.find(WORD)
    while at >= 0:
        if is_behind_bracket(lowered, at):
            return TAG.search(text) is not None
        at = lowered.find(WORD, at + 1)
    return False


def is_behind_bracket(text: str, at: int) -> bool:
    """Whether the word at this place may be a tag. Much faster than the pattern."""
    before = text[max(0, at - 32) : at].lower().rstrip().rstrip("/\\").rstrip()
    return before.endswith(("<", "&lt;", "u003c"))
