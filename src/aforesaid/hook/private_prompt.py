"""Private parts of a prompt, taken out of the payload's bytes before they reach the spool.

Loaded by capture.py when a prompt has a tag, and never else; like it, this imports nothing of the package.
`privacy/private.py` has the same rule for texts.
"""

import re
from collections.abc import Iterable

TAG = re.compile(
    rb"(?:<|\\{1,8}u003c|&lt;)(?:\s|\\[nrt]){0,8}(\\{0,8}/)?(?:\s|\\[nrt]){0,8}private(?![\w-])"
    rb"(?:(?(1)(?:\s|\\[nrt]){0,8}|(?:[^<>\\]|\\[nrt\"]){0,200}?)(?:>|\\{1,8}u003e|&gt;))?",
    re.IGNORECASE,
)
# A JSON string, with its quotes; the last one may be cut off.
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)


def hidden(body: bytes) -> bytes:
    return TEXT.sub(lambda text: _shown(text[0]) if TAG.search(text[0]) else text[0], body)


def _shown(text: bytes) -> bytes:
    """One JSON string, with its quotes."""
    whole = len(text) > 1 and text.endswith(b'"')
    end = len(text) - 1 if whole else len(text)
    shown, done = [text[:1]], 1
    for begin, stop in spans(TAG.finditer(text, 1, end), 1, end):
        shown += (text[done:begin], b"[private]")
        done = stop
    return b"".join(shown) + text[done:]


def spans(
    tags: Iterable[re.Match[str] | re.Match[bytes]], first: int, end: int
) -> list[tuple[int, int]]:
    """The private parts. Closed but not opened hides all before it, never closed all behind."""
    found: list[tuple[int, int]] = []
    depth = begin = 0
    for tag in tags:
        if not tag[1]:
            begin = begin if depth else tag.start()
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            if not depth:
                found, begin = [], first
            found.append((begin, tag.end()))
            depth = 0
    return [*found, (begin, end)] if depth else found
