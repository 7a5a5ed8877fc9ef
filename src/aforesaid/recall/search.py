"""Search by words, meaning, names and times together, the best first, each with its reasons.

Nothing here asks a model. Where the vectors are missing or broken the words alone decide, and the answer says
so.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil
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
    Hit,
    Query,
)
from aforesaid.recall import rank
from aforesaid.recall.excerpts import excerpt, without_marks
from aforesaid.recall.question import LONGEST, Question, understand
from aforesaid.recall.rank import Found
from aforesaid.recall.render import FULL, render_item
from aforesaid.store.store import Store
from aforesaid.terms import index_text, query_terms
from aforesaid.text import one_line, tokens

if TYPE_CHECKING:
    from aforesaid.recall.matrix import Matrix, Meaning

BY_WORDS, BY_MEANING, BESIDE, BY_TIME = 120, 60, 15, 60  # candidates
COUNTED = 300  # candidates by words of a search, whose results are counted
FEW = 50  # documents
SAID = 150  # events by words
BESIDE_GOOD = 0.5  # of the best match
LATEST = 2**62
WITHIN = 300_000
RETRY_SECONDS = 60.0
LEVEL_KINDS = {"sessions": (SESSION,), "summaries": (SUMMARY,), "facts": (OBSERVATION,)}
# Without a word in common a finding must be near in meaning: in standard deviations, since there is always a
# nearest, and as a cosine.
UNLIKE, UNRELATED = 1.5, 0.25
ALMOST_EQUAL = 0.5  # the cosine that is needed where no word of the question is known
SAME = 0.8  # Jaccard similarity of the words of two results
FEWEST_WORDS = 4  # shorter texts are not compared
LEADING = 0.5  # of the words of a prompt that an observation takes the place of
SHOWN_BY_EVENT, ALL_WORDS = 0.5, 0.9
WEAK, BEST = 0.4, 10  # relevance below which no result answers, and how many are looked at


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
        results = self._fold(_one_per_turn(candidates))
        total = len(results)
        found = self._to_hits(results[:limit], question)
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
        best = [each for each, _ in results[:BEST]]
        is_weak = self._is_weak(best, [each for each in found if each.kind == EVENT], question)
        answer = Answer(tuple(found), without, total, complete, is_weak)
        return answer, [each.document for each, _ in results]

    def _is_weak(self, best: list[Found], events: list[Hit], question: Question) -> bool:
        """Whether nothing is near; of events, whether none shows half of the question's rare words."""
        if self.how_many(None) < FEW or not (best or events):
            return False
        if not best:
            said = (index_text(without_marks(each.excerpt)).split() for each in events)
            return max(rank.share(words, question) for words in said) < SHOWN_BY_EVENT
        if any(rank.in_named_time(each.document, question) for each in best):
            return False
        near = self.relevance(best, question)
        return all(share < ALL_WORDS and share * each < WEAK for each, share in near)

    def relevance(self, found: Sequence[Found], question: Question) -> list[tuple[float, float]]:
        """See `rank.relevance`."""
        texts = self._store.index.document_words(each.document.id for each in found)
        return rank.relevance(found, question, texts, self.how_many(None))

    def _fold(self, found: Sequence[Found]) -> list[tuple[Found, tuple[int, ...]]]:
        """All of them, each with the ids of those behind it that say the same.

        Two that do share a word among the rarest fifth of either's (prefix filtering): only those are
        compared."""
        texts = self._store.index.document_words(each.document.id for each in found)
        sets = [frozenset(texts.get(each.document.id, "").split()) for each in found]
        spread = Counter(chain.from_iterable(sets))
        kept: list[tuple[Found, frozenset[str], list[int]]] = []
        by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
        for each, words in zip(found, sets, strict=True):
            size = len(words) - ceil(SAME * len(words)) + 1
            most = sorted(map(spread.__getitem__, words))[size - 1] if words else 0
            keys = [(each.document.kind, word) for word in words if 1 < spread[word] <= most]
            others = sorted({number for key in keys for number in by_word[key]})
            same = next((kept[n][2] for n in others if _is_same(words, kept[n][1])), None)
            if same is not None:
                same.append(each.document.source)
                continue
            for key in keys:
                by_word[key].append(len(kept))
            kept.append((each, words, []))
        return [(each, tuple(same)) for each, _, same in kept]

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
        if within is None:  # with filters, only matches count
            documents += self._neighbours(documents, words)
        sessions = rank.session_bests(documents, words)
        # Who was found by its words has passed the filters already.
        part = None if within is None else within | words.keys()
        wanted = [each for each in documents if _takes_part(each, filters, part)]
        keys = [each.id for each in wanted]
        cosines = meaning.cosines(keys) if meaning else {}
        near = UNRELATED if question.known else ALMOST_EQUAL
        alike = UNLIKE if len(cosines) > FEW else 0.0  # of a few, none stands out
        evidence = rank.Evidence(
            words,
            sessions,
            meaning.of(keys) if meaning else {},
            now,
            cosines,
            {(d.session_id, d.turn): words.get(d.id, 0.0) for d in documents if d.kind == PROMPT},
            store.index.match_turns(question.terms, filters, SAID),
        )
        found = [
            each
            for each in rank.score(wanted, question, evidence, self._weights)
            if rank.in_named_time(each.document, question) or _is_found(each, evidence, alike, near)
        ]
        found.sort(
            key=lambda one: (-one.score, -one.document.at, one.document.kind, one.document.source)
        )
        return question, found, without, complete

    def _event_hits(self, query: Query, terms: Sequence[str], limit: int) -> list[Hit]:
        found = self._store.index.match_events(terms, query.filters, limit)
        return [event_hit(event, terms) for event in found]

    def hit(self, document: Document, terms: Sequence[str] = ()) -> Hit | None:
        text = self._store.index.document_text(document.kind, document.source)
        if text is None:
            return None
        hit = make_hit(document.kind, document.source, document, text.title, text.body, terms)
        if document.kind == SESSION:  # its full text is longer than what is indexed of it
            whole = tokens(render_item(self._store, SESSION, document.source, FULL) or "")
            hit = replace(hit, tokens=whole + ITEM_OVERHEAD)
        return replace(
            hit,
            type=text.row["type"],
            unverified=document.doubted,
            pinned=document.pinned,
            superseded=document.superseded,
            files=text.files,
            duplicates=text.duplicates,
        )

    def _to_hits(
        self, best: Sequence[tuple[Found, tuple[int, ...]]], question: Question
    ) -> list[Hit]:
        hits: list[Hit] = []
        for each, same in best:
            if hit := self.hit(each.document, question.terms):
                reasons = rank.reasons(each.points, each.document, question)
                found = replace(hit, score=each.score, reasons=reasons)
                hits.append(replace(found, duplicates=(*hit.duplicates, *same)))
        return hits

    def warm(self) -> None:
        """Load what the first query needs."""
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
        periods = ((each.since or 0, each.until or LATEST) for each in question.mentions)
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


def _is_found(each: Found, evidence: rank.Evidence, alike: float, near: float) -> bool:
    """It shares a word, or means nearly the same, or stands beside what was meant: an answer may have no word
    of its question. A prompt answers nothing."""
    document = each.document
    if each.words > 0:
        return True
    if each.meaning >= alike and evidence.cosines.get(document.id, 0.0) >= near:
        return True
    beside = max(evidence.words.get(key or 0, 0.0) for key in (document.previous, document.next))
    return document.kind != PROMPT and beside > 0 and beside >= BESIDE_GOOD * evidence.best


def _one_per_turn(found: Sequence[Found]) -> list[Found]:
    """Where an observation of a turn was found, it takes the place of its summary and its prompt; else the
    summary that of the prompt."""
    leads: dict[tuple[int, int], Found] = {}
    for kind in (OBSERVATION, SUMMARY):
        for each in found:
            if each.document.kind == kind and each.document.turn:
                leads.setdefault((each.document.session_id, each.document.turn), each)
    shown: dict[int, Found] = {}
    for each in found:
        document = each.document
        lead = each
        if document.turn and document.kind != OBSERVATION:
            lead = leads.get((document.session_id, document.turn), each)
        if lead.document.superseded or lead.words < LEADING * each.words:
            lead = each
        shown.setdefault(lead.document.id, lead)
    return list(shown.values())


def _is_same(words: frozenset[str], others: frozenset[str]) -> bool:
    small, large = sorted((len(words), len(others)))
    if small < FEWEST_WORDS or small < SAME * large:
        return False
    shared = len(words & others)
    return shared >= SAME * (small + large - shared)


NOT_INDEXED = "(what it says is not indexed)"
TITLE_LENGTH = 120
ITEM_OVERHEAD = 40  # tokens around an item that is injected: where it comes from, how old it is


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
        unverified=False,
        tokens=tokens(title) + tokens(body) + ITEM_OVERHEAD,
    )


def event_hit(event: FoundEvent, terms: Sequence[str] = ()) -> Hit:
    hit = make_hit(EVENT, event.id, event, "", event.text or NOT_INDEXED, terms)
    return replace(hit, type=event.tool, score=event.score, origin=event.origin)


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
