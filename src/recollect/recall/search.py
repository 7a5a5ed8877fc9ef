"""Finding: words, meaning, names and times together, the best first, each with its reasons.

Nothing here asks a model. Where the vectors are missing or broken the words alone decide, and the answer says
so.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect import log
from recollect.clock import Clock
from recollect.encoders.protocol import Encoder
from recollect.model.search import (
    OBSERVATION,
    PROMPT,
    SESSION,
    SUMMARY,
    Answer,
    Document,
    Filters,
    Hit,
    Query,
)
from recollect.recall import hits, rank
from recollect.recall.folding import Found
from recollect.recall.question import LONGEST, Question, understand
from recollect.store.protocol import Reading
from recollect.terms import asked

if TYPE_CHECKING:
    from recollect.recall.matrix import Matrix, Meaning

BY_WORDS, BY_MEANING, BESIDE, BY_TIME = 120, 60, 15, 60  # candidates
FEW = 50  # documents
BESIDE_GOOD = 0.5  # of the best match
LATEST = 2**62
WITHIN = 300_000
RETRY_SECONDS = 60.0
# Without a word in common a finding must be near in meaning: in standard deviations, since there is always a
# nearest, and as a cosine.
UNLIKE, UNRELATED = 1.5, 0.25


class Searcher:
    """One per process; threads may share it."""

    def __init__(
        self,
        store: Reading,
        encoder: Encoder | None,
        clock: Clock,
        weights: rank.Weights = rank.DEFAULT,
    ) -> None:
        self._store, self.encoder, self._clock = store, encoder, clock
        self._weights = weights
        self._matrix: Matrix | None = None
        self._broken: str | None = None
        self._again_at = 0.0
        self._lock = threading.Lock()
        self._counts: dict[int | None, tuple[int, int]] = {}

    def search(self, query: Query) -> Answer:
        return self.explore(query)[0]

    def explore(self, query: Query) -> tuple[Answer, list[Document]]:
        """And all that came into question, best first: what others than the best have in common."""
        limit = max(1, query.limit)
        filters = _filters_of(query)
        if query.level == "events":
            return Answer(tuple(hits.of_events(self._store, query, asked(query.text))), None), []
        question, best, without = self.find(query.text, filters)
        found = hits.of_found(self._store, best, question, limit)
        if query.level == "facts":
            found = hits.by_facts(self._store, found, question)
        if query.level in ("titles", "full") and _may_be_events(query.filters):
            unheard = self._unheard(query.text, bool(found))
            found = [*hits.of_events(self._store, query, unheard), *found][:limit]
        return Answer(tuple(found), without), [each.document for each in best]

    def find(self, text: str, filters: Filters) -> tuple[Question, list[Found], str | None]:
        """All candidates, best first, and why there was no meaning in it, if there was none."""
        store, now = self._store, self._clock()
        project = filters.project_id
        counts = self.how_many(project), self.how_many(None)
        question = understand(text, store, project, *counts, now)
        within = self._within(filters)
        words = self._words(question, replace(filters, kinds=()))  # neighbours of all kinds count
        meaning, without = self._meaning(question.text, filters, within)
        nearest = meaning.best(BY_MEANING) if meaning else []
        ids = dict.fromkeys([*words, *nearest, *self._of_times(question, filters)])
        documents = store.documents(ids)
        if filters.kinds and len(words) == BY_WORDS and _few(documents, words, filters):
            words |= self._words(question, filters)  # more of these kinds, whose places others took
            documents += store.documents(words.keys() - {each.id for each in documents})
        if within is None:  # who filters wants what fits, not what stands beside it
            documents += self._neighbours(documents, words)
        sessions = rank.session_bests(documents, words)
        # Who was found by its words has passed the filters already.
        part = None if within is None else within | words.keys()
        wanted = [each for each in documents if _takes_part(each, filters, part)]
        keys = [each.id for each in wanted]
        evidence = rank.Evidence(words, sessions, meaning.of(keys) if meaning else {}, now)
        found = []
        for document in wanted:
            points = rank.points(document, question, evidence, self._weights)
            near = (words.get(document.id, 0.0), evidence.meaning.get(document.id, 0.0))
            found.append(Found(document, points, sum(points), *near))
        cosines = meaning.cosines(keys) if meaning else {}
        alike = UNLIKE if len(cosines) > FEW else 0.0  # of a few, none stands out
        found = [
            each
            for each in found
            if _is_found(each, evidence, cosines, alike)
            or rank.in_named_time(each.document, question)
        ]
        found.sort(
            key=lambda one: (-one.score, -one.document.at, one.document.kind, one.document.source)
        )
        return question, found, without

    def hit(self, document: Document) -> Hit | None:
        return hits.of_document(self._store, document)

    def warm(self) -> None:
        """So that the first question does not wait for what it needs."""
        self._meaning("warm", Filters(), None)

    def _unheard(self, text: str, found: bool) -> list[str]:
        """What only events can answer: all of it where nothing was found, else names that no document has."""
        terms = asked(text[:LONGEST])
        names = [term for term in terms if "_" in term] if found else terms
        known = self._store.spread(names, 1) if found and names else {}
        return [name for name in names if not known.get(name)]

    def _words(self, question: Question, filters: Filters) -> dict[int, float]:
        return dict(self._store.matching_documents(question.terms, filters, BY_WORDS))

    def _of_times(self, question: Question, filters: Filters) -> list[int]:
        """What happened in the periods that the question mentions, whatever its words."""
        found: list[int] = []
        for mention in question.mentions:
            if mention.exact:
                since, until = mention.since or 0, mention.until or LATEST
                found += self._store.documents_of_period(filters.project_id, since, until, BY_TIME)
        return found

    def _neighbours(
        self, documents: Sequence[Document], words: Mapping[int, float]
    ) -> list[Document]:
        """What stands beside the best matches may be what is meant, in other words."""
        known = {each.id for each in documents}
        best = sorted(documents, key=lambda each: -words.get(each.id, 0.0))[:BESIDE]
        beside = {key for each in best for key in (each.previous, each.next) if key is not None}
        return self._store.documents(sorted(beside - known))

    def _within(self, filters: Filters) -> frozenset[int] | None:
        """Whom the filters let take part, beyond project, kind and time; None: everybody."""
        if replace(filters, project_id=None, kinds=(), since=None, until=None) == Filters():
            return None
        found = self._store.documents_within(filters, WITHIN)
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
                    from recollect.recall.matrix import Matrix

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
        """About how many documents there are; counting takes a while, so it is done anew when there are a
        tenth more."""
        newest = self._store.newest_document()
        at, count = self._counts.get(project_id, (-1, 0))
        if at < 0 or newest - at > max(50, count // 10):
            count = self._store.how_many_documents(project_id)
            self._counts[project_id] = (newest, count)
        return count


def _filters_of(query: Query) -> Filters:
    kinds = {"sessions": (SESSION,), "summaries": (SUMMARY,), "facts": (OBSERVATION,)}
    return replace(query.filters, kinds=kinds.get(query.level, query.filters.kinds))


def _few(documents: Sequence[Document], words: Mapping[int, float], filters: Filters) -> bool:
    """Of the kinds that are wanted, among those that match."""
    wanted = sum(each.id in words and each.kind in filters.kinds for each in documents)
    return wanted < BY_WORDS // 2


def _may_be_events(filters: Filters) -> bool:
    """Events have neither types nor names; who asks for these does not mean them."""
    return not (filters.kinds or filters.types or filters.concepts or filters.files)


def _takes_part(document: Document, filters: Filters, within: frozenset[int] | None) -> bool:
    if within is not None and document.id not in within:
        return False
    if document.kind == SESSION and SESSION not in filters.kinds:
        return False
    if filters.kinds and document.kind not in filters.kinds:
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
