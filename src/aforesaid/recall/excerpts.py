"""The part of a text that shows best why it was found, with the matched words marked."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from aforesaid.english import SHORTEST_STEM, stem
from aforesaid.model.search import MATCH_END, MATCH_START
from aforesaid.terms import LONGEST_NAME, index_text
from aforesaid.text import ELLIPSIS, clean

# Symbols in a row are one: an emoji may have several parts, and a mark between them would take it apart.
WORD = re.compile(r"[\w./\\:@#+-]*\w|[^\w\s\x00-\x7f]+")
LENGTH = 220
LOOKED_AT = 8_000
MOST_WORDS = 16_384  # whose stems are kept
BETWEEN = " · "  # what stood on lines of its own
CODE = "`"
SENTENCE = (". ", "; ", ": ", BETWEEN)
Match = tuple[int, int, frozenset[str]]  # from, to, the terms that it matches


def stems(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(term) for term in terms)


def _stems_of(word: str) -> frozenset[str]:
    return stems(index_text(word).split())


_known_stems = lru_cache(MOST_WORDS)(_stems_of)  # most words of a store are met again and again


def closest(texts: Iterable[str], terms: Collection[str]) -> list[str]:
    wanted = stems(terms)
    shared = {text: len(wanted & stems(index_text(text).split())) for text in texts}
    return sorted((text for text in shared if shared[text]), key=lambda text: -shared[text])


def excerpt(text: str, terms: Collection[str], length: int = LENGTH) -> str:
    """The window with the most of the terms, each counted once."""
    lines = (" ".join(line.split()) for line in clean(text[:LOOKED_AT]).split("\n"))
    text = BETWEEN.join(filter(None, lines))
    found = _matches(text, terms)
    begin = _line_up(text, _best_window(found, length), length) if found else 0
    end = _end(text, begin, length, found)
    before, after = (CODE if _within_code(text, at) else "" for at in (begin, end))
    window = before + _marked(text, begin, end, found) + after
    return (ELLIPSIS if begin else "") + window + (ELLIPSIS if end < len(text) else "")


def without_marks(text: str) -> str:
    return text.replace(MATCH_START, "").replace(MATCH_END, "")


def marked(text: str, terms: Collection[str]) -> str:
    text = clean(text)
    return _marked(text, 0, len(text), _matches(text, terms))


def _matches(text: str, terms: Collection[str]) -> list[Match]:
    wanted = stems(terms)
    begins = _begins(wanted) if text.replace(BETWEEN, "").isascii() else None
    looked_at = _spaced(text, begins) if begins else [(0, len(text))]
    return [
        (word.start(), word.end(), wanted & own)
        for first, last in looked_at
        for word in WORD.finditer(text, first, last)
        if not wanted.isdisjoint(
            own := (_known_stems if len(word[0]) <= LONGEST_NAME else _stems_of)(word[0])
        )
    ]


@lru_cache(maxsize=64)
def _begins(wanted: frozenset[str]) -> re.Pattern[str] | None:
    """What the words begin with, somewhere in which a stem is found: no ending is longer than what it leaves.
    None: it might be anything."""
    found = {each.partition("_")[0][:SHORTEST_STEM] for each in wanted}
    return re.compile("|".join(map(re.escape, found))) if found and all(found) else None


def _spaced(text: str, begins: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """What stands between spaces and has such a begin in it: most of a text has not, and need not be taken
    apart."""
    small, place = text.lower(), 0
    while match := begins.search(small, place):
        first = small.rfind(" ", 0, match.start()) + 1
        place = small.find(" ", match.end())
        if place < 0:
            place = len(text)
        yield first, place


def _within_code(text: str, at: int) -> bool:
    """Whether a cut there parts two backticks of one line: what follows would be read the wrong way round."""
    begin, end = text.rfind(BETWEEN, 0, at) + 1, text.find(BETWEEN, at)
    rest = text[at:] if end < 0 else text[at:end]
    return text.count(CODE, begin, at) % 2 == 1 and CODE in rest


def _marked(text: str, begin: int, end: int, found: list[Match]) -> str:
    parts = []
    place = begin
    for start, stop, _ in found:
        if start >= place and stop <= end:
            parts += [text[place:start], MATCH_START, text[start:stop], MATCH_END]
            place = stop
    return "".join([*parts, text[place:end]])


def _end(text: str, begin: int, length: int, found: list[Match]) -> int:
    """Behind the last word that fits, if there is one."""
    most = begin + length
    if most >= len(text):
        return len(text)
    matched = max((stop for _, stop, _ in found if stop <= most), default=0)
    end = max(text.rfind(" ", begin, most + 1), matched)
    return begin + len(text[begin:end].rstrip(BETWEEN)) if end > begin else most


def _best_window(found: list[Match], length: int) -> int:
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
    begin = min(first - 40, len(text) - length)
    if begin <= 0:
        return 0
    ends = ((text.rfind(mark, begin, first), len(mark)) for mark in SENTENCE)
    sentence = max((at + width for at, width in ends if at >= 0), default=0)
    if sentence:
        return sentence
    space = text.find(" ", begin, first)
    return space + 1 if space >= 0 else first
