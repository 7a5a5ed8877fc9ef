"""`<private>…</private>`: what stands between the tags is never stored.

It fails closed. A tag that is not closed hides the rest of its field; a closing tag alone hides what stands before
it, because clients show files and output in parts. Tags may nest, have any letter case and attributes, and be escaped
as JSON or HTML. `hook/private_prompt.py` has the rule, for the bytes of a prompt before they reach the disk.
"""

import re

from aforesaid.hook import private_prompt

MARK = "[private]"
WORD = "private"
TAG = re.compile(private_prompt.TAG.pattern.decode(), re.IGNORECASE)


def spans(text: str) -> list[tuple[int, int]]:
    return private_prompt.spans(TAG.finditer(text), 0, len(text))


def has_tag(text: str) -> bool:
    lowered = text.lower()
    words = re.finditer(WORD, lowered)
    is_likely = any(is_behind_bracket(lowered, word.start()) for word in words)
    return is_likely and TAG.search(text) is not None


def is_behind_bracket(text: str, at: int) -> bool:
    """Whether the word at this place may be a tag. Much faster than the pattern."""
    before = text[max(0, at - 32) : at].lower().rstrip().rstrip("/\\").rstrip()
    return before.endswith(("<", "&lt;", "u003c"))
