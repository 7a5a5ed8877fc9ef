"""The part of a text that shows best why it was found, with the matched words marked."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from recollect.english import stem
from recollect.model.search import MATCH_END, MATCH_START
from recollect.terms import prepared
from recollect.text import ELLIPSIS, clean

WORD = re.compile(r"[\w./\\:@#+-]*\w", re.UNICODE)
LENGTH = 220
LOOKED_AT = 8_000


def stems(terms: Collection[str]) -> frozenset[str]:
    return frozenset(stem(term) for term in terms)


@lru_cache(maxsize=16_384)
def _stems(word: str) -> frozenset[str]:
    return stems(prepared(word).split())


def closest(texts: Iterable[str], terms: Collection[str]) -> list[str]:
    """Those that share a term, the ones that share most first."""
    wanted = stems(terms)
    shared = {text: len(wanted & stems(prepared(text).split())) for text in texts}
    return sorted((text for text in shared if shared[text]), key=lambda text: -shared[text])


def excerpt(text: str, terms: Collection[str], length: int = LENGTH) -> str:
    """The window with the most of the terms, each counted once."""
    text = " ".join(clean(text[:LOOKED_AT]).replace(MATCH_START, "").split())
    wanted = stems(terms)
    found = [
        (word.start(), word.end(), hits)
        for word in WORD.finditer(text)
        if (hits := wanted & _stems(word[0]))
    ]
    if not found:
        return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + ELLIPSIS
    first = _best_window(found, length)
    begin = _line_up(text, first, length)
    end = min(len(text), begin + length)
    if end < len(text):
        end = (
            max(text.rfind(" ", begin, end), min(end, found[-1][1]))
            if " " in text[begin:end]
            else end
        )
    parts = [ELLIPSIS if begin else ""]
    place = begin
    for start, stop, _ in found:
        if start >= place and stop <= end:
            parts += [text[place:start], MATCH_START, text[start:stop], MATCH_END]
            place = stop
    return "".join([*parts, text[place:end], ELLIPSIS if end < len(text) else ""])


def _best_window(found: list[tuple[int, int, frozenset[str]]], length: int) -> int:
    """Where the first match of the best window is."""
    best, chosen = 0, found[0][0]
    for number, (start, _, _) in enumerate(found):
        seen: set[str] = set()
        for _, stop, hits in found[number:]:
            if stop > start + length:
                break
            seen |= hits
        if len(seen) > best:
            best, chosen = len(seen), start
    return chosen


def _line_up(text: str, first: int, length: int) -> int:
    """A little before the first match, at the begin of a sentence or a word."""
    if len(text) <= length:
        return 0
    begin = max(0, min(first - 40, len(text) - length))
    if begin == 0:
        return 0
    sentence = max(text.rfind(mark, begin, first) for mark in (". ", "; ", ": "))
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", begin, first)
    return space + 1 if space >= 0 else begin
