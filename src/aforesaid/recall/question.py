"""What a query asks for: its words, the names in it, and the times it speaks of."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from aforesaid import times
from aforesaid.store.store import Store
from aforesaid.terms import query_terms
from aforesaid.times import Mention

LONGEST = 4_000  # characters of a query that are looked at
MOST_TERMS = 48
# A name that is on so many documents tells where to look, not what for: it would drown the other words.
EVERYWHERE = 0.15
MANY = 5_000  # documents; with fewer, common words cost nothing
RAREST = 3  # words of a query that has only common ones
COMMON = 0.02  # of many documents
FEWEST = 100  # documents: a smaller store cannot tell how rare a word is
NAMED_DAY = re.compile(
    r"\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|day\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Question:
    """`terms`: to look for. `names`: labels that it mentions, to be matched as a whole. `text`: for the
    encoder, without the names that are everywhere. `weights`: how much each term tells, about one for a rare
    one; a word that nothing has counts as rare. `known`: whether anything has one of them."""

    text: str
    terms: tuple[str, ...]
    names: frozenset[str]
    mentions: tuple[Mention, ...]
    asks_when: bool
    asks_how_many: bool
    weights: Mapping[str, float] = field(default_factory=dict)
    known: bool = True


def understand(
    text: str, store: Store, project_id: int | None, count: int, in_all: int, now: int
) -> Question:
    """`count`: documents in scope; `in_all`: in all projects, which tells how common a word is."""
    text = text[:LONGEST]
    mentions = tuple(times.mentioned(text, now))
    when, many = times.asks_when(text), times.asks_how_many(text)
    for each in reversed(mentions):
        # `last week` says when; as words it would find what was done last, in any week. A date is also a
        # word of the index.
        if not NAMED_DAY.search(each.phrase):
            text = f"{text[: each.start]} {text[each.end :]}"
    terms = query_terms(text)[:MOST_TERMS]
    labelled = store.index.label_counts(_candidates(terms), project_id)
    names = frozenset(labelled)
    everywhere = {n for n in names if labelled[n] > max(2, count * EVERYWHERE)}
    kept = [term for term in terms if term not in everywhere]
    if kept and everywhere:
        pattern = "|".join(re.escape(name) for name in sorted(everywhere))
        text = re.sub(rf"\b(?:{pattern})(?:['’]s)?\b", " ", text, flags=re.IGNORECASE)
    terms = _telling(kept or terms, store, in_all)
    counts = store.index.term_counts(terms, max(MANY, int(in_all * COMMON)))
    total = max(in_all, FEWEST)
    return Question(
        text=text,
        terms=tuple(terms),
        names=names,
        mentions=mentions,
        asks_when=when,
        asks_how_many=many,
        weights={
            term: max(0.0, math.log((total + 1) / (counts.get(term, 0) + 0.5))) / math.log(total)
            for term in terms
        },
        known=any(counts.values()),
    )


def _candidates(terms: list[str]) -> list[str]:
    """Terms, and two or three in a row: a label may have several words."""
    single = [term for term in terms if "_" not in term]
    rows = [
        "_".join(single[n : n + size]) for size in (2, 3) for n in range(len(single) - size + 1)
    ]
    return list(dict.fromkeys([*terms, *rows]))


def _telling(terms: list[str], store: Store, count: int) -> list[str]:
    """In a large store, words that are all over it cost much and say little. Where all of them are, the few
    that are not quite so common must do."""
    if count < MANY or len(terms) < 2:
        return terms
    limit = int(count * COMMON)
    spread: Mapping[str, int] = store.index.term_counts(terms, limit)
    rare = [term for term in terms if spread.get(term, 0) < limit]
    if rare:
        return rare
    counts: Mapping[str, int] = store.index.term_counts(terms, count)
    return sorted(terms, key=lambda term: counts.get(term, 0))[:RAREST]
