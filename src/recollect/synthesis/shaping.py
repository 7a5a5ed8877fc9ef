"""A draft in the house form (C3), whatever a model made of it. What is too long moves; nothing is dropped.

Titles have at most 8 words, subtitles 24, facts 150 characters; there are at most 7 facts and 5 concepts. The
rest goes to the narrative, which has no limit.
"""

from dataclasses import replace

from recollect.model.observations import ObservationDraft
from recollect.model.prose import (
    CLAUSE_END,
    CONCEPTS,
    FACT_LENGTH,
    FACTS,
    LEAST_TITLE_WORDS,
    SENTENCE_END,
    SUBTITLE_WORDS,
    TITLE_WORDS,
    split,
)
from recollect.text import ELLIPSIS, cut

SHORT_FACT = 50  # characters
# Before these a title can end early and still say what it is about.
BREAKS = frozenset(
    (
        *("to", "by", "for", "with", "and", "in", "so", "via", "using", "when", "while"),
        *("after", "before", "on", "from"),
    )
)


def shaped(draft: ObservationDraft) -> ObservationDraft:
    title, more_title = _title(draft.title)
    subtitle, more_subtitle = _subtitle(draft.subtitle)
    facts = list(dict.fromkeys(piece for fact in draft.facts for piece in _pieces(fact)))
    long = [fact for fact in facts[:FACTS] if len(fact) > FACT_LENGTH]
    moved = [text for text in (more_title, more_subtitle, *long, *facts[FACTS:]) if text]
    moved += filter(None, [", ".join(draft.concepts[CONCEPTS:])])
    return replace(
        draft,
        title=title,
        subtitle=subtitle,
        facts=tuple(cut(fact, FACT_LENGTH) for fact in facts[:FACTS]),
        narrative=_with(draft.narrative, moved),
        concepts=draft.concepts[:CONCEPTS],
    )


def located(draft: ObservationDraft) -> ObservationDraft:
    """A short fact about the only file that was changed says which file that is."""
    if len(draft.files_modified) != 1:
        return draft
    path = draft.files_modified[0]
    return replace(draft, facts=tuple(_located(fact, path) for fact in draft.facts))


def _title(title: str | None) -> tuple[str | None, str | None]:
    """The title, and the whole of it if it had to be cut."""
    words = (title or "").rstrip(".").split()
    if len(words) <= TITLE_WORDS:
        return " ".join(words) or None, None
    ends = (n for n in range(TITLE_WORDS, LEAST_TITLE_WORDS - 1, -1) if words[n].lower() in BREAKS)
    return " ".join(words[: next(ends, TITLE_WORDS)]).rstrip(",;:"), title


def _subtitle(subtitle: str | None) -> tuple[str | None, str | None]:
    if subtitle is None or len(subtitle.split()) <= SUBTITLE_WORDS:
        return subtitle, None
    first = split(subtitle, SENTENCE_END)[0]
    if len(first.split()) <= SUBTITLE_WORDS:
        return first, subtitle
    return " ".join(subtitle.split()[:SUBTITLE_WORDS]).rstrip(",;:") + ELLIPSIS, subtitle


def _pieces(fact: str) -> list[str]:
    """One thing per fact: a long one is told as its sentences, or else as its clauses."""
    if len(fact) <= FACT_LENGTH:
        return [fact]
    for ends in (SENTENCE_END, CLAUSE_END):
        parts = [part.rstrip(",;") for part in split(fact, ends)]
        if len(parts) > 1 and min(map(len, parts)) >= SHORT_FACT:
            return parts
    return [fact]


def _located(fact: str, path: str) -> str:
    known = path in fact or path.rpartition("/")[2] in fact
    if known or len(fact) >= SHORT_FACT or len(path) + len(fact) + 2 > FACT_LENGTH:
        return fact
    return f"{path}: {fact}"


def _with(narrative: str | None, moved: list[str]) -> str | None:
    new = [text for text in moved if text not in (narrative or "")]
    return "\n\n".join(filter(None, (narrative, *new))) or None
