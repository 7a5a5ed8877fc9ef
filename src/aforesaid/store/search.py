"""What the ranking needs to know: who matches, what stands beside it, and the vectors."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from aforesaid import clock
from aforesaid.model.search import (
    OBSERVATION,
    PROMPT,
    Document,
    Filters,
    FoundEvent,
    FoundText,
    StoredVector,
)
from aforesaid.store.database import Row
from aforesaid.store.search_index import Indexing, month
from aforesaid.store.values import MOST_TERMS, match_any
from aforesaid.terms import name_term

MOST_MONTHS = 48
YEAR = 365 * clock.DAY
OVER = 5  # times as many events are looked at as are wanted: some are of another time
# Of what stands at the same moment; everything else comes behind them.
ORDER = (PROMPT, OBSERVATION)
FOUND_IN = "{title body labels dates}"


class Index(Indexing):
    def match_documents(
        self, terms: Sequence[str], filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        """Documents with any of the terms and their BM25 score, best first."""
        if not terms:
            return []
        match = " AND ".join([f"{FOUND_IN} : ({match_any(terms)})", *_clauses(filters)])
        rows = self._db.rows("search", "match", match=match, limit=limit)
        return [(row["id"], row["score"]) for row in rows]

    def filter_documents(self, filters: Filters, limit: int) -> list[int] | None:
        """Who the filters let take part; None: everybody."""
        clauses = _clauses(filters)
        if not clauses:
            return None
        found = self._db.rows("search", "matching_ids", match=" AND ".join(clauses), limit=limit)
        return [row["id"] for row in found]

    def term_counts(self, terms: Iterable[str], limit: int) -> dict[str, int]:
        """In how many documents each term occurs, counted up to a limit."""
        matches = {term: f"{FOUND_IN} : ({match_any([term])})" for term in list(terms)[:MOST_TERMS]}
        return {
            term: self._db.number("search", "spread", match=match, limit=limit)
            for term, match in matches.items()
        }

    def label_counts(self, terms: Iterable[str], project_id: int | None) -> Mapping[str, int]:
        """How many documents bear each term as a label; those that none bears are left out."""
        name = "labelled_anywhere" if project_id is None else "labelled"
        wanted = json.dumps(list(terms))
        return dict(map(tuple, self._db.rows("search", name, terms=wanted, project_id=project_id)))

    def count_documents(self, project_id: int | None) -> int:
        name = "how_many" if project_id is None else "how_many_of_project"
        return self._db.number("search", name, project_id=project_id)

    def newest_vector(self) -> int:
        return self._db.number("search", "newest_vector")

    def newest_document(self) -> int:
        return self._db.number("search", "newest_id")

    def documents(self, ids: Iterable[int]) -> list[Document]:
        """Those that are still there."""
        return [_document(row) for row in self._db.rows("search", "documents", ids=_json(ids))]

    def documents_in_period(
        self, project_id: int | None, since: int, until: int, limit: int
    ) -> list[int]:
        """The newest first."""
        name = "of_period_anywhere" if project_id is None else "of_period"
        period = {"project_id": project_id, "since": since, "until": until, "limit": limit}
        return [row[0] for row in self._db.rows("search", name, **period)]

    def document_words(self, ids: Iterable[int]) -> dict[int, str]:
        return {row["id"]: row["words"] for row in self._db.rows("search", "texts", ids=_json(ids))}

    def document_text(self, kind: str, source: int) -> FoundText | None:
        found = self.document_source(kind, source)
        if found is None:
            return None
        return FoundText(found.title, found.body, found.row["type"], found.files)

    def document_texts(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], FoundText]:
        """Of many, by kind and number; what is gone is left out."""
        found = ((each, self.document_text(*each)) for each in wanted)
        return {each: text for each, text in found if text is not None}

    def match_events(self, terms: Sequence[str], filters: Filters, limit: int) -> list[FoundEvent]:
        """The events themselves, by any of the terms, best first."""
        if not terms:
            return []
        scope = replace(filters, kinds=(), types=(), concepts=(), files=())
        match = " AND ".join([f"words : ({match_any(terms)})", *_clauses(scope)])
        found: list[FoundEvent] = []
        for key, score in self._db.rows("search", "events", match=match, limit=limit * OVER):
            row = self._db.row("search", "event", id=key)
            if row is not None and _in_time(row["at"], filters) and len(found) < limit:
                found.append(FoundEvent(**dict(row), score=score))
        return found

    def find_document(self, kind: str, source: int) -> int | None:
        found: int | None = self._db.value("search", "document_of", kind=kind, source=source)
        return found

    def vectors(self, encoder: str, after: int) -> Iterator[StoredVector]:
        for row in self._db.rows("search", "vectors", encoder=encoder, after=after):
            yield StoredVector(*row)

    def match_facts(
        self, terms: Sequence[str], observations: Iterable[int]
    ) -> list[tuple[int, str]]:
        """Of these observations: whose, and what it says, best first."""
        if not terms:
            return []
        ids = _json(sorted(observations))
        rows = self._db.rows("search", "facts", match=match_any(terms), observations=ids)
        return [(row["observation_id"], row["text"]) for row in rows]

    def documents_around(
        self, project_id: int, at: int, before: int, after: int, *, kind: str = "", source: int = 0
    ) -> tuple[list[Document], list[Document]]:
        """What comes before and after, in the order of time. No kind: around a moment."""
        rank = ORDER.index(kind) if kind in ORDER else len(ORDER) if kind else -1
        place = {"project_id": project_id, "at": at, "rank": rank, "source": source}
        earlier = [row["id"] for row in self._db.rows("lookups", "earlier", **place, limit=before)]
        later = [row["id"] for row in self._db.rows("lookups", "later", **place, limit=after)]
        found = {document.id: document for document in self.documents([*earlier, *later])}
        return (
            [found[key] for key in reversed(earlier) if key in found],
            [found[key] for key in later if key in found],
        )

    def count_vectors(self) -> dict[str, int]:
        """By encoder."""
        rows = self._db.rows("lookups", "how_many_vectors")
        return {row["encoder"]: row["number"] for row in rows}

    def count_unread_events(self) -> int:
        """Whose texts are still to be indexed."""
        return self._db.number("lookups", "how_many_events_unread")


def _clauses(filters: Filters) -> list[str]:
    """A filter is a term of the scope. Times are by month; the rest of it is up to the caller."""
    given: list[tuple[str, Iterable[object]]] = [
        ("p", () if filters.project_id is None else (filters.project_id,)),
        ("s", () if filters.session_id is None else (filters.session_id,)),
        ("a", () if filters.agent is None else (name_term(filters.agent),)),
        ("k", map(name_term, filters.kinds)),
        ("t", map(name_term, filters.types)),
        ("c", map(name_term, filters.concepts)),
        ("f", map(name_term, filters.files)),
    ]
    found = [[f"{mark}_{value}" for value in values] for mark, values in given]
    return [f"scope : ({match_any(terms)})" for terms in (*found, _months(filters)) if terms]


def _in_time(at: int, filters: Filters) -> bool:
    return (filters.since is None or at >= filters.since) and (
        filters.until is None or at < filters.until
    )


def _months(filters: Filters) -> list[str]:
    """Coarse: within a month, or a year of a long period, the caller decides."""
    if filters.since is None and filters.until is None:
        return []
    # Clocks go wrong: without an end, what is dated in the next year counts too.
    last = month(filters.until if filters.until is not None else clock.now() + YEAR)
    first = min(last, 0 if filters.since is None else month(filters.since))
    if last - first <= MOST_MONTHS:
        return [f"m_{each}" for each in range(first, last + 1)]
    return [f"y_{each}" for each in range(last // 12, first // 12 - 1, -1)]


def _json(ids: Iterable[int]) -> str:
    return json.dumps(list(ids))


def _document(row: Row) -> Document:
    """By place: looking up seventeen names in a row takes longer than finding it."""
    values = [*row]
    values[6:14] = map(bool, values[6:14])
    values[14] = frozenset(values[14].split())
    return Document._make(values)
