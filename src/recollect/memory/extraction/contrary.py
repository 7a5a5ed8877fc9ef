"""Whether a proposal turns round what a user said.

In `no, staging runs on heron, not on egret` heron is affirmed and egret denied. A proposal may affirm the one
and deny the other, and nothing else.
"""

import re

from recollect.memory.facts import said
from recollect.statements import opposed, statement

PIECE = re.compile(
    r"[;,:]\s+|\s[–—-]\s"
    r"|\s+(?=(?:but|instead|rather than|in place of|over|better than|more than)\s)",
    re.IGNORECASE,
)
# What follows is what is not wanted; the second, where something is preferred.
AGAINST = re.compile(r"(?:instead of|rather than|in place of)\s", re.IGNORECASE)
BEHIND = re.compile(r"(?:over|better than|more than)\s", re.IGNORECASE)
PREFERS = re.compile(r"\b(?:prefer|like|love|favou?r)", re.IGNORECASE)
GOES_ON = re.compile(r"n?or\s", re.IGNORECASE)


def contrary(text: str, source: str) -> bool:
    """Whether the text affirms what the source denies, or denies what it affirms, as far as words tell."""
    if any(opposed(one.statement, statement(source)) for one in said(text)):
        return True
    affirmed, denied = _sides(source)
    mine, not_mine = _sides(text)
    if mine & (denied - affirmed):
        return True
    known = not_mine & (affirmed | denied)
    return bool(known) and known <= affirmed - denied


def _sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The telling words of what it affirms, and of what it denies."""
    sides: tuple[set[str], set[str]] = set(), set()
    for each in said(text):
        prefers = PREFERS.search(each.text) is not None
        denies = False
        for piece in PIECE.split(each.text):
            behind = AGAINST.match(piece) or (prefers and BEHIND.match(piece))
            goes_on = denies and GOES_ON.match(piece) is not None
            denies = bool(behind) or goes_on or statement(piece).denies
            sides[denies].update(word for part in said(piece) for word in part.about)
    return frozenset(sides[False]), frozenset(sides[True])
