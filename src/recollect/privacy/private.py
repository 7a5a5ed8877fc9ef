"""`<private>…</private>`: what stands in it is never kept.

It fails closed. A tag that is not closed hides the rest of its field; one that only closes hides what stands
before it, because clients show files and output in parts, and the part may begin in the middle. Tags may
nest, have any letter case and attributes, and be escaped as JSON or HTML. `hook/capture.py` does the same
to the bytes of a prompt, before they reach the disk; a contract test keeps the two equal.
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
    """What is hidden, in order."""
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
    return WORD in text.lower() and TAG.search(text) is not None
