"""Findings as they are shown: title, excerpt, reasons, and what it costs to be told the whole."""

from collections.abc import Sequence
from dataclasses import replace

from recollect.model.search import EVENT, OBSERVATION, SESSION, Document, FoundText, Hit, Query
from recollect.recall import rank
from recollect.recall.excerpts import excerpt
from recollect.recall.folding import Found, folded
from recollect.recall.question import Question
from recollect.recall.telling import FULL, told
from recollect.store.protocol import Reading
from recollect.text import one_line, tokens

HANDED_OVER = 40  # tokens that stand around one that is told: where it comes from, how old it is


def of_document(store: Reading, document: Document, terms: Sequence[str] = ()) -> Hit | None:
    """None: it is gone."""
    text = store.document_text(document.kind, document.source)
    return _hit(store, document, text, terms) if text else None


def _hit(store: Reading, document: Document, text: FoundText, terms: Sequence[str]) -> Hit:
    return Hit(
        kind=document.kind,
        id=document.source,
        session_id=document.session_id,
        project_id=document.project_id,
        at=document.at,
        type=text.type,
        title=one_line(text.title or text.body, 120),
        excerpt=excerpt(text.body or text.title, terms),
        doubted=document.doubted,
        pinned=document.pinned,
        superseded=document.superseded,
        tokens=_price(store, document, text),
        files=text.files,
    )


def of_found(store: Reading, found: list[Found], question: Question, limit: int) -> list[Hit]:
    hits: list[Hit] = []
    best = folded(store, found, limit)
    texts = store.document_texts((each.document.kind, each.document.source) for each, _ in best)
    for each, same in best:
        text = texts.get((each.document.kind, each.document.source))
        if text is not None:
            hit = _hit(store, each.document, text, question.terms)
            reasons = rank.reasons(each.points, each.document, question)
            hits.append(replace(hit, score=each.score, reasons=reasons, folded=same))
    return hits


def by_facts(store: Reading, hits: list[Hit], question: Question) -> list[Hit]:
    """Each observation by the fact that fits best."""
    observations = [hit.id for hit in hits if hit.kind == OBSERVATION]
    best: dict[int, str] = {}
    for key, text in store.matching_facts(question.terms, observations):
        best.setdefault(key, text)
    return [
        replace(hit, excerpt=excerpt(best[hit.id], question.terms)) if hit.id in best else hit
        for hit in hits
        if hit.kind == OBSERVATION
    ]


def of_events(store: Reading, query: Query, terms: Sequence[str]) -> list[Hit]:
    return [
        Hit(
            kind=EVENT,
            id=event.id,
            session_id=event.session_id,
            project_id=event.project_id,
            at=event.at,
            type=event.tool,
            title=one_line(event.text, 100),
            excerpt=excerpt(event.text, terms),
            doubted=False,
            score=event.score,
            tokens=tokens(event.text),
            origin=event.origin,
        )
        for event in store.matching_events(terms, query.filters, max(1, query.limit))
    ]


def _price(store: Reading, document: Document, text: FoundText) -> int:
    """Of a session more is told than can be found."""
    if document.kind == SESSION:
        return tokens(told(store, SESSION, document.source, FULL) or "") + HANDED_OVER
    return tokens(text.title) + tokens(text.body) + HANDED_OVER
