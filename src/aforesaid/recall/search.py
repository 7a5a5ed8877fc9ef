"""Search by words, meaning, names and times together, the best first, each with its reasons.

Nothing here asks a model. Where the vectors are missing or broken the words alone decide, and the answer says
so.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aforesaid import log
from aforesaid.clock import Clock
from aforesaid.encoders.base import Encoder
from aforesaid.model.observations import Observation
from aforesaid.model.search import (
    EVENT,
    OBSERVATION,
    PROMPT,
    SESSION,
    SUMMARY,
    Answer,
    Document,
    Filters,
    FoundEvent,
    FoundText,
    Hit,
    Query,
)
from aforesaid.recall import rank
from aforesaid.recall.excerpts import excerpt
from aforesaid.recall.question import LONGEST, Question, understand
from aforesaid.recall.rank import Found, fold
from aforesaid.recall.render import FULL, render_item
from aforesaid.store.store import Store
from aforesaid.terms import query_terms
from aforesaid.text import one_line, tokens

if TYPE_CHECKING:
    from aforesaid.recall.matrix import Matrix, Meaning

BY_WORDS, BY_MEANING, BESIDE, BY_TIME = 120, 60, 15, 60  # candidates
COUNTED = 300  # candidates by words of a search, whose results are counted
FEW = 50  # documents
BESIDE_GOOD = 0.5  # of the best match
LATEST = 2**62
WITHIN = 300_000
RETRY_SECONDS = 60.0
LEVEL_KINDS = {"sessions": (SESSION,), "summaries": (SUMMARY,), "facts": (OBSERVATION,)}
# Without a word in common a finding must be near in meaning: in standard deviations, since there is always a
# nearest, and as a cosine.
UNLIKE, UNRELATED = 1.5, 0.25


class Searcher:
    """One per process; threads may share it."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder | None,
        clock: Clock,
        weights: rank.Weights = rank.DEFAULT,
    ) -> None:
        self._store, self.encoder, self._clock, self._weights = store, encoder, clock, weights
        self._matrix: Matrix | None = None
        self._broken: str | None = None
        self._again_at = 0.0
        self._lock = threading.Lock()
        self._counts: dict[int | None, tuple[int, int]] = {}

    def search(self, query: Query) -> Answer:
        return self.explore(query)[0]

    def explore(self, query: Query) -> tuple[Answer, list[Document]]:
        """The answer, and the documents of all its `total` results, best first."""
        limit = max(1, query.limit)
        kinds = LEVEL_KINDS.get(query.level, query.filters.kinds)
        filters = replace(query.filters, kinds=kinds)
        if query.level == "events":  # one more than asked for tells whether there are more
            events = self._event_hits(query, query_terms(query.text), limit + 1)
            more = len(events) > limit
            return Answer(tuple(events[:limit]), None, len(events), complete=not more), []
        question, candidates, without, complete = self._candidates(query.text, filters)
        results = fold(self._store, candidates)
        total = len(results)
        found = _to_hits(self._store, results[:limit], question)
        if query.level == "facts":
            found = _by_facts(self._store, found, question)
        asked = query.filters
        # Events have neither types nor names; who asks for these does not mean them.
        named = asked.kinds or asked.types or asked.concepts or asked.files
        if query.level in ("titles", "full") and not named:
            terms = self._terms_for_events(query.text, bool(found))
            events = self._event_hits(query, terms, limit)
            found = [*events, *found][:limit]
            total += len(events)
        documents = [each.document for each, _ in results]
        return Answer(tuple(found), without, total, complete), documents

    def _candidates(
        self, text: str, filters: Filters
    ) -> tuple[Question, list[Found], str | None, bool]:
        """All results, best first; and whether these are all that match by words. Filters select from the
        results without them, so that a facet's count is the number of results it leads to. Only where more
        match than are ranked, the filtered ones are searched again."""
        kinds = () if filters.types else filters.kinds  # only observations have a type
        scope = Filters(project_id=filters.project_id, kinds=kinds)
        question, found, without, complete = self._rank(text, scope, COUNTED)
        if filters != scope and not complete:
            return self._rank(text, filters, COUNTED)
        if filters != scope:
            within = self._within(filters)
            found = [each for each in found if _takes_part(each.document, filters, within)]
        return question, found, without, complete

    def find(self, text: str, filters: Filters) -> tuple[Question, list[Found], str | None]:
        return self._rank(text, filters, BY_WORDS)[:3]

    def _rank(
        self, text: str, filters: Filters, depth: int
    ) -> tuple[Question, list[Found], str | None, bool]:
        """`depth`: how many of those that match by words are ranked."""
        store, now = self._store, self._clock()
        project = filters.project_id
        counts = self.how_many(project), self.how_many(None)
        question = understand(text, store, project, *counts, now)
        within = self._within(filters)
        of_any_kind = replace(filters, kinds=())  # neighbours count, too
        words = dict(store.index.match_documents(question.terms, of_any_kind, depth))
        complete = len(words) < depth
        meaning, without = self._meaning(question.text, filters, within)
        nearest = meaning.best(BY_MEANING) if meaning else []
        ids = dict.fromkeys([*words, *nearest, *self._of_times(question, filters)])
        documents = store.index.documents(ids)
        fitting = sum(each.id in words and each.kind in filters.kinds for each in documents)
        if filters.kinds and len(words) == depth and fitting < BY_WORDS // 2:  # more of these kinds
            words |= dict(store.index.match_documents(question.terms, filters, BY_WORDS))
            documents += store.index.documents(words.keys() - {each.id for each in documents})
        if within is None:  # who filters wants what fits, not what stands beside it
            documents += self._neighbours(documents, words)
        sessions = rank.session_bests(documents, words)
        # Who was found by its words has passed the filters already.
        part = None if within is None else within | words.keys()
        wanted = [each for each in documents if _takes_part(each, filters, part)]
        keys = [each.id for each in wanted]
        evidence = rank.Evidence(words, sessions, meaning.of(keys) if meaning else {}, now)
        cosines = meaning.cosines(keys) if meaning else {}
        alike = UNLIKE if len(cosines) > FEW else 0.0  # of a few, none stands out
        found = []
        for document in wanted:
            points = rank.points(document, question, evidence, self._weights)
            near = (words.get(document.id, 0.0), evidence.meaning.get(document.id, 0.0))
            each = Found(document, points, sum(points.values()), *near)
            named = rank.in_named_time(document, question)
            if named or _is_found(each, evidence, cosines, alike):
                found.append(each)
        found.sort(
            key=lambda one: (-one.score, -one.document.at, one.document.kind, one.document.source)
        )
        return question, found, without, complete

    def _event_hits(self, query: Query, terms: Sequence[str], limit: int) -> list[Hit]:
        found = self._store.index.match_events(terms, query.filters, limit)
        return [event_hit(event, terms) for event in found]

    def hit(self, document: Document) -> Hit | None:
        text = self._store.index.document_text(document.kind, document.source)
        return _hit(self._store, document, text) if text else None

    def warm(self) -> None:
        """So that the first question does not wait for what it needs."""
        self._meaning("warm", Filters(), None)

    def _terms_for_events(self, text: str, found: bool) -> list[str]:
        """Terms to search events for: all of them if nothing was found, else names that no document has."""
        terms = query_terms(text[:LONGEST])
        names = [term for term in terms if "_" in term] if found else terms
        known = self._store.index.term_counts(names, 1) if found and names else {}
        return [name for name in names if not known.get(name)]

    def _of_times(self, question: Question, filters: Filters) -> list[int]:
        """What happened in the periods that the question mentions, whatever its words."""
        look, project = self._store.index.documents_in_period, filters.project_id
        exact = (each for each in question.mentions if each.exact)
        periods = ((each.since or 0, each.until or LATEST) for each in exact)
        return [key for since, until in periods for key in look(project, since, until, BY_TIME)]

    def _neighbours(
        self, documents: Sequence[Document], words: Mapping[int, float]
    ) -> list[Document]:
        """What stands beside the best matches may be what is meant, in other words."""
        known = {each.id for each in documents}
        best = sorted(documents, key=lambda each: -words.get(each.id, 0.0))[:BESIDE]
        beside = {key for each in best for key in (each.previous, each.next) if key is not None}
        return self._store.index.documents(sorted(beside - known))

    def _within(self, filters: Filters) -> frozenset[int] | None:
        """The documents that pass the other filters than project, kind and time; None: all."""
        if replace(filters, project_id=None, kinds=(), since=None, until=None) == Filters():
            return None
        found = self._store.index.filter_documents(filters, WITHIN)
        return None if found is None else frozenset(found)

    def _meaning(
        self, text: str, filters: Filters, within: frozenset[int] | None
    ) -> tuple["Meaning | None", str | None]:
        if self.encoder is None:
            return None, None
        with self._lock:
            if time.monotonic() < self._again_at:
                return None, self._broken
            try:
                if self._matrix is None:
                    from aforesaid.recall.matrix import Matrix

                    self._matrix = Matrix(self.encoder)
                self._matrix.refresh(self._store)
                self._broken = None
                return self._matrix.near(text, filters, within), None
            except Exception as error:  # a missing package, a damaged table: the words still serve
                self._broken = f"search by meaning is off: {error}"
                self._again_at = time.monotonic() + RETRY_SECONDS
                self._matrix = None
                log.warning("search.without_meaning", error=log.cause(error))
                return None, self._broken

    def how_many(self, project_id: int | None) -> int:
        """About how many documents there are; counting takes a while, so it is repeated when there are a
        tenth more."""
        newest = self._store.index.newest_document()
        at, count = self._counts.get(project_id, (-1, 0))
        if at < 0 or newest - at > max(50, count // 10):
            count = self._store.index.count_documents(project_id)
            self._counts[project_id] = (newest, count)
        return count


def _takes_part(document: Document, filters: Filters, within: frozenset[int] | None) -> bool:
    if within is not None and document.id not in within:
        return False
    if (filters.kinds or document.kind == SESSION) and document.kind not in filters.kinds:
        return False
    if filters.project_id is not None and document.project_id != filters.project_id:
        return False
    return (filters.since is None or document.at >= filters.since) and (
        filters.until is None or document.at < filters.until
    )


def _is_found(
    each: Found, evidence: rank.Evidence, cosines: Mapping[int, float], alike: float
) -> bool:
    """It shares a word, or means nearly the same, or stands beside what was meant: an answer may have no word
    of its question. A prompt answers nothing."""
    document = each.document
    if each.words > 0 or (each.meaning >= alike and cosines.get(document.id, 0.0) >= UNRELATED):
        return True
    beside = max(evidence.words.get(key or 0, 0.0) for key in (document.previous, document.next))
    return document.kind != PROMPT and beside >= BESIDE_GOOD * evidence.best


NOT_INDEXED = "(what it says is not indexed)"
TITLE_LENGTH = 120
HANDED_OVER = 40  # tokens around an item that is injected: where it comes from, how old it is


def make_hit(
    kind: str,
    source: int,
    where: Document | Observation | FoundEvent,
    title: str,
    body: str,
    terms: Sequence[str] = (),
) -> Hit:
    return Hit(
        kind=kind,
        id=source,
        session_id=where.session_id,
        project_id=where.project_id,
        at=where.at,
        type=None,
        title=one_line(title or body, TITLE_LENGTH),
        excerpt=excerpt(body or title, terms),
        doubted=False,
        tokens=tokens(title) + tokens(body) + HANDED_OVER,
    )


def event_hit(event: FoundEvent, terms: Sequence[str] = ()) -> Hit:
    hit = make_hit(EVENT, event.id, event, "", event.text or NOT_INDEXED, terms)
    return replace(hit, type=event.tool, score=event.score, origin=event.origin)


def _hit(store: Store, document: Document, text: FoundText, terms: Sequence[str] = ()) -> Hit:
    hit = make_hit(document.kind, document.source, document, text.title, text.body, terms)
    if document.kind == SESSION:  # its full text is longer than what is indexed of it
        whole = tokens(render_item(store, SESSION, document.source, FULL) or "")
        hit = replace(hit, tokens=whole + HANDED_OVER)
    return replace(
        hit,
        type=text.type,
        doubted=document.doubted,
        pinned=document.pinned,
        superseded=document.superseded,
        files=text.files,
    )


def _to_hits(
    store: Store, best: Sequence[tuple[Found, tuple[int, ...]]], question: Question
) -> list[Hit]:
    hits: list[Hit] = []
    for each, same in best:
        if text := store.index.document_text(each.document.kind, each.document.source):
            hit = _hit(store, each.document, text, question.terms)
            reasons = rank.reasons(each.points, each.document, question)
            hits.append(replace(hit, score=each.score, reasons=reasons, folded=same))
    return hits


def _by_facts(store: Store, hits: list[Hit], question: Question) -> list[Hit]:
    observations = [hit.id for hit in hits if hit.kind == OBSERVATION]
    best: dict[int, str] = {}
    for key, text in store.index.match_facts(question.terms, observations):
        best.setdefault(key, text)
    return [
        replace(hit, excerpt=excerpt(best[hit.id], question.terms)) if hit.id in best else hit
        for hit in hits
        if hit.kind == OBSERVATION
    ]
