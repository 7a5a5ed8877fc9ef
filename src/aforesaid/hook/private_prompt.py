"""Private parts of a prompt, taken out of the payload's bytes before they reach the spool.

Loaded by capture.py when a prompt has a tag, and never else; like it, this imports nothing of the package.
The rule is that of privacy/private.py, on JSON that nobody has read yet; a test keeps the two equal.
"""

import re

TAG = re.compile(
    rb"(?:<|\\{1,8}u003c|&lt;)(?:\s|\\[nrt]){0,8}(\\{0,8}/)?(?:\s|\\[nrt]){0,8}private(?![\w-])"
    rb"(?:(?(1)(?:\s|\\[nrt]){0,8}|(?:[^<>\"\\]|\\[nrt\"]){0,200}?)(?:>|\\{1,8}u003e|&gt;))?",
    re.IGNORECASE,
)
# A JSON string, with its quotes; the last one may be cut off.
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)


def hidden(body: bytes) -> bytes:
    return TEXT.sub(lambda text: _shown(text[0]) if TAG.search(text[0]) else text[0], body)


def _shown(text: bytes) -> bytes:
    """In one JSON string, with its quotes. Closed but not opened hides all before it, never closed all
    behind."""
    whole = len(text) > 1 and text.endswith(b'"')
    end = len(text) - 1 if whole else len(text)
    shown: list[bytes] = []
    done, depth, begin = 1, 0, 1
    for found in TAG.finditer(text, 1, end):
        if not found[1]:
            begin = begin if depth else found.start()
            depth += 1
        elif depth > 1:
            depth -= 1
        else:
            shown = [*shown, text[done:begin], b"[private]"] if depth else [b"[private]"]
            done, depth = found.end(), 0
    if depth:
        shown += (text[done:begin], b"[private]")
        done = end
    return text[:1] + b"".join(shown) + text[done:]
