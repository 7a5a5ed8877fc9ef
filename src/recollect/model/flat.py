"""Observations as they were before they had parts: a type and a sentence or two. Lifted, they look like any
other: the words are cut into a title, a subtitle and facts, and the narrative keeps all of them.
"""

import re

from recollect.model.observations import ObservationDraft, known_type
from recollect.model.prose import (
    CLAUSE_END,
    FACT_LENGTH,
    LEAST_TITLE_WORDS,
    SUBTITLE_WORDS,
    TITLE_WORDS,
    sentences,
    split,
)
from recollect.text import ELLIPSIS, clean, cut, words

TITLE_LENGTH, SUBTITLE_LENGTH = 80, 240  # characters, for scripts that write no spaces
# Where a title may end: it needs less of a sentence than a fact does, so it is parted at more marks.
TITLE_END = re.compile(
    r"[,;:(]\s|\s[–—-]\s|[，；：、]|\s(?:so that|because|which|instead of|after)\s"
)
CONJUNCTION = re.compile(r"^(?:and|but|so)\s+")
LOOSE_ENDS = frozenset(
    words(
        "a an after and as at before but by for from if in into is its nor of on or per so than that the "
        "their then this to under until using via was were when which while with without are be not no"
    )
)
OPENINGS = frozenset(words("after because before by so until using via when which while without"))


def lifted(kind: str, text: str) -> ObservationDraft:
    whole = clean(text).strip()
    found = sentences(whole)
    title = _title(found[0]) if found else None
    return ObservationDraft(
        type=known_type(kind),
        title=title,
        subtitle=_subtitle(found, title),
        facts=tuple(dict.fromkeys(fact for each in found for fact in _facts(each))),
        narrative=whole or None,
    )


def _title(sentence: str) -> str:
    """The first clause, if it is enough for a title; else as many words as a title has."""
    for end in TITLE_END.finditer(sentence):
        if len(sentence[: end.start()].split()) >= LEAST_TITLE_WORDS or (
            end[0] in "，；：、" and end.start() >= LEAST_TITLE_WORDS
        ):
            sentence = sentence[: end.start()]
            break
    found = sentence.rstrip(" .,;:!。！？").split()
    kept = found[:TITLE_WORDS]
    # A cut phrase must not end in `by` or `by storing`.
    while len(kept) < len(found) and len(kept) > LEAST_TITLE_WORDS and _loose(kept[-2:]):
        kept.pop()
    return cut(" ".join(kept).rstrip(",;:("), TITLE_LENGTH)


def _loose(end: list[str]) -> bool:
    before, last = (word.lower() for word in end)
    return last in LOOSE_ENDS or before in OPENINGS


def _subtitle(found: list[str], title: str | None) -> str | None:
    """The first sentence that says more than the title, within the words that a subtitle has."""
    for sentence in found:
        if title is not None and sentence.rstrip(" .!。！") != title:
            told = sentence.split()
            short = " ".join(told[:SUBTITLE_WORDS])
            whole = len(told) <= SUBTITLE_WORDS
            return cut(short if whole else short.rstrip(" ,;:") + ELLIPSIS, SUBTITLE_LENGTH)
    return None


def _facts(sentence: str) -> list[str]:
    """One statement each: a sentence that is too long for one is parted where its clauses join."""
    if len(sentence) <= FACT_LENGTH:
        return [sentence] if any(map(str.isalnum, sentence)) else []
    facts: list[str] = []
    for clause in filter(None, split(sentence, CLAUSE_END)):
        if facts and len(facts[-1]) + len(clause) < FACT_LENGTH:
            facts[-1] = f"{facts[-1]} {clause}"
        else:
            facts.append(clause)
    return [part for fact in facts for part in _pieces(CONJUNCTION.sub("", fact).rstrip(",;"))]


def _pieces(fact: str) -> list[str]:
    """At words, or anywhere in a script without spaces."""
    pieces = [""]
    for word in fact.split():
        for part in (word[i : i + FACT_LENGTH] for i in range(0, len(word), FACT_LENGTH)):
            if pieces[-1] and len(pieces[-1]) + 1 + len(part) > FACT_LENGTH:
                pieces.append(part)
            else:
                pieces[-1] = f"{pieces[-1]} {part}".strip()
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
