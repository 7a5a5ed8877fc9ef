"""Findings that say the same as a better one of their kind stand behind it. Nothing is re-ranked by that."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.model.search import Document
from recollect.store.protocol import Reading

SAME = 0.8  # of the words of two findings: they are one
AMONG = 4  # times the limit
FEWEST_WORDS = 4  # with less, everything is like everything


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its points. `words`: BM25; `meaning`: in standard deviations, 0 without vectors."""

    document: Document
    points: tuple[float, ...]
    score: float
    words: float
    meaning: float


def folded(
    store: Reading, found: Sequence[Found], limit: int
) -> list[tuple[Found, tuple[int, ...]]]:
    """The best, each with the numbers of those that stand behind it."""
    kept: list[tuple[Found, frozenset[str], list[int]]] = []
    for first in range(0, min(len(found), limit * AMONG), limit):
        block = found[first : first + limit]
        words = store.document_words(each.document.id for each in block)
        for each in block:
            if len(kept) == limit:
                return [(one, tuple(same)) for one, _, same in kept]
            terms = frozenset(words.get(each.document.id, "").split())
            twin = next((one for one in kept if _same(each, terms, one[0], one[1])), None)
            if twin:
                twin[2].append(each.document.source)
            else:
                kept.append((each, terms, []))
    return [(each, tuple(same)) for each, _, same in kept]


def _same(one: Found, words: frozenset[str], other: Found, theirs: frozenset[str]) -> bool:
    small, large = min(len(words), len(theirs)), max(len(words), len(theirs))
    if small < FEWEST_WORDS or small < SAME * large or one.document.kind != other.document.kind:
        return False
    shared = len(words & theirs)
    return shared >= SAME * (small + large - shared)
