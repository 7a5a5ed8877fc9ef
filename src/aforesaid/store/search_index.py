"""The search index: kept by triggers, filled before a transaction ends, and asked by the ranking.

Whatever writes a row, a trigger notes it in `unindexed`. A small number of notes is worked off inside the
same transaction, vectors too; what many rows at once leave behind (an import, a new version), and what the
encoder could not do, is done later, by `update` and `encode`.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from aforesaid import clock, log
from aforesaid.encoders.base import Encoder, chunks, packed
from aforesaid.model.observations import Origin
from aforesaid.model.purge import ERASED
from aforesaid.model.search import (
    OBSERVATION,
    PROMPT,
    SESSION,
    Document,
    Filters,
    FoundEvent,
    IndexHealth,
    StoredVector,
    UnreadEvent,
)
from aforesaid.store.database import Connection, Database, Part, Row
from aforesaid.store.events import stored_event
from aforesaid.store.values import MOST_TERMS, file_name, match_any, read, unpacked
from aforesaid.terms import index_text, name_term

LONGEST = 20_000  # characters of one thing that are indexed; what is longer is a pasted file
QUESTION = 240  # characters; what is longer and ends with a question says something too
SAID = 500  # characters in which a time or a number must stand to be what a text is about
# What was tried in vain is worth knowing, but it is not what was asked for.
DEAD_END = re.compile(
    r"\b(?:dead end|in vain|gave up|given up|abandoned|did(?: not|n't) (?:work|help)|no improvement"
    r"|reverted|rolled back|was wrong|turned out (?:wrong|not to)|made (?:it|things) worse)\b",
    re.IGNORECASE,
)
COPIED = ("session_id", "project_id", "at", "pinned", "doubted", "superseded", "by_user")
MOST_MONTHS = 48
YEAR = 365 * clock.DAY
# Of what stands at the same moment; everything else comes behind them.
ORDER = (PROMPT, OBSERVATION)
FOUND_IN = "{title body labels dates}"
REST = 60.0  # seconds before a broken encoder is tried again
AT_ONCE = 64  # notes that a transaction works off itself
WORDS = "5"  # raise it when `terms.py` or the documents' texts change: all is indexed again


class DocumentText(NamedTuple):
    """What a document says, as it was written. `names`: its tags: concepts, files, a sub-agent. `facts`:
    texts with their row ids."""

    row: Row
    title: str
    body: str
    names: tuple[str, ...]
    files: tuple[str, ...]
    facts: tuple[tuple[int, str], ...]

    @property
    def duplicates(self) -> tuple[int, ...]:
        """Observations that are found through this one."""
        return tuple(json.loads(self.row["duplicates"]))

    @property
    def plain(self) -> str:
        """For the encoder."""
        return f"{self.title}\n{self.body}".strip()[:LONGEST]

    def _named(self) -> Iterable[str]:
        """For filters: a file and a concept of one name are two things."""
        yield from (f"f_{label}" for label in labels(self.files))
        yield from (f"c_{label}" for label in labels(set(self.names) - set(self.files)))

    def values(self, kind: str) -> dict[str, object]:
        from aforesaid.times import date_words, says  # not needed to open a store

        body = self.body[:LONGEST]
        when, number = says(body[:SAID])
        return {name: self.row[name] for name in COPIED} | {
            "kind": kind,
            "source": self.row["id"],
            "asks": len(body) <= QUESTION and body.rstrip().endswith(("?", "？")),
            "says_when": when,
            "says_number": number,
            "dead_end": DEAD_END.search(f"{self.title}\n{body[:SAID]}") is not None,
            "labels": " ".join(labels(self.names)),
            "dates": date_words(self.row["at"]),
            "scope": " ".join((*scope(self.row, kind, self.row["type"]), *self._named())),
            "title": index_text(self.title[:LONGEST]),
            "body": index_text("\n".join((body, *self.names))),
        }


class Index(Part):
    def __init__(self, database: Database, encoder: Encoder | None = None) -> None:
        super().__init__(database)
        self._encoder = encoder
        self._encoder_rests = 0.0
        # Up to which document all have their vector, and up to which they will have when this pass is over.
        self._encoded = self._pass_to = 0
        database.before_commit = partial(self._index, limit=AT_ONCE)
        if database.writer is not None:
            self._reset_if_changed()

    def update(self, limit: int) -> int:
        """How many notes were worked off."""
        with self._db.transaction() as db:
            return self._index(db, limit)

    def encode(self, limit: int, *, below: int | None = None) -> int | None:
        """Adds missing vectors, newest first, below an id (None: a new pass). The lowest id done, or None."""
        if self._encoder is None or time.monotonic() < self._encoder_rests:
            return None
        if below is None:
            self._pass_to = self._db.number("search", "newest_id")
        wanted = {"encoder": self._encoder.name, "limit": limit, "below": below or 2**62}
        rows = self._db.rows("index", "without_vector", above=self._encoded, **wanted)
        if not rows:
            # What comes later has a higher id: a pass that finds nothing to do need not look at everything.
            self._encoded = self._pass_to
            return None
        documents = (self.document_text(row["kind"], row["source"]) for row in rows)
        vectors = self._vectors([found.plain if found else "" for found in documents])
        if vectors is None:
            return None
        with self._db.transaction() as db:
            self._add_vectors(db, [row["id"] for row in rows], vectors)
        return int(rows[-1]["id"])

    def update_observations(self) -> None:
        """All of them, now: who looks for likeness must not miss one that waits."""
        while self._db.writer is not None and self._db.row("index", "observations_wait"):
            self.update(AT_ONCE)

    def health(self, encoder: str | None = None) -> IndexHealth:
        """`encoder`: whose vectors count, where the index has none of its own."""
        name = encoder or (self._encoder.name if self._encoder else None)
        row = self._db.only("index", "health", encoder=name or "")
        return read(IndexHealth, row, encoder=name)

    def reset(self) -> int:
        """All of it will be made again. How much there is to do."""
        self._encoded = self._pass_to = 0
        with self._db.transaction() as db:
            return _forget(db)

    def unread_events(self, limit: int) -> list[UnreadEvent]:
        """Events whose texts were not indexed yet, in order."""
        after = self._db.number("index", "state", name="events")
        found = unpacked(self._db.each("index", "events_after", after=after, limit=limit))
        return [read(UnreadEvent, row, event=stored_event(row, body)) for row, body in found]

    def add_event_texts(self, texts: Iterable[tuple[UnreadEvent, str, Origin | None]]) -> None:
        """Each with its text and origin, in order, up to the first whose content was replaced since it was
        read."""
        last = 0
        with self._db.transaction() as db:
            for each, text, origin in texts:
                event = each.event
                seen = {"event_id": event.id, "content_hash": each.content_hash}
                if db.row("index", "as_read", **seen) is None:
                    break
                last = event.id
                db.run("index", "set_origin", event_id=last, origin=origin)
                if not text:
                    continue
                owner = {"project_id": each.project_id, "session_id": event.session_id}
                about = owner | {"agent": each.agent, "at": event.at}
                values = {
                    "event_id": last,
                    "project_id": each.project_id,
                    "scope": " ".join(scope(about, "event", None)),
                    "words": index_text(text),
                    "text": text,
                }
                db.run("index", "add_event_text", **values)
            if last:
                db.run("index", "set_state", name="events", value=str(last))

    def _reset_if_changed(self) -> None:
        with self._db.transaction() as db:
            row = db.row("index", "state", name="words")
            if row is None or row["value"] != WORDS:
                if row is not None:
                    _forget(db)
                db.run("index", "set_state", name="words", value=WORDS)

    def _index(self, db: Connection, limit: int) -> int:
        notes = db.rows("index", "waiting", limit=limit)
        ids: list[int] = []
        texts: list[str] = []
        for kind, source in notes:
            values = {"kind": kind, "source": source}
            db.run("index", "drop", **values)
            db.run("index", "done", **values)
            try:
                text = read_document(db, kind, source)
                key = _add(db, kind, text) if text is not None else None
            except (ValueError, OverflowError) as error:
                # Something unforeseen in a text or a time: it is not found, but it is stored.
                log.warning("index.failed", kind=kind, source=source, error=log.cause(error))
                continue
            if text is not None and key is not None and kind != SESSION:
                ids.append(key)
                texts.append(text.plain)
        if ids and self._encoder is not None and self._encoder.instant:
            vectors = self._vectors(texts)
            if vectors is not None:
                self._add_vectors(db, ids, vectors)
        return len(notes)

    def _vectors(self, texts: Sequence[str]) -> list[bytes] | None:
        """None: the encoder is broken. The words are found, and it is tried again later."""
        assert self._encoder is not None
        pieces = [chunks(text) for text in texts]
        try:
            matrix = self._encoder.encode([piece for each in pieces for piece in each])
        except Exception as error:  # whatever a library raises, the rows must be stored
            log.warning("encoder.failed", encoder=self._encoder.name, error=log.cause(error))
            self._encoder_rests = time.monotonic() + REST
            self._encoded = self._pass_to = 0  # when it is well again, everything is looked at
            return None
        found = []
        first = 0
        for each in pieces:
            found.append(packed(matrix[first : first + len(each)]))
            first += len(each)
        return found

    def _add_vectors(self, db: Connection, ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        assert self._encoder is not None
        for key, vector in zip(ids, vectors, strict=True):
            values = {"document_id": key, "encoder": self._encoder.name, "vector": vector}
            db.run("index", "drop_vector", **values)
            db.run("index", "add_vector", **values)

    def match_documents(
        self, terms: Sequence[str], filters: Filters, limit: int
    ) -> list[tuple[int, float]]:
        """Documents with any of the terms and their BM25 score, best first."""
        if not terms:
            return []
        match = " AND ".join([f"{FOUND_IN} : ({match_any(terms)})", *_clauses(filters)])
        rows = self._db.rows("search", "match", match=match, limit=limit, **_period(filters))
        return [(row["id"], row["score"]) for row in rows]

    def filter_documents(self, filters: Filters, limit: int) -> list[int] | None:
        """Who the filters let take part; None: everybody."""
        clauses = _clauses(filters)
        if not clauses:
            return None
        wanted = {"match": " AND ".join(clauses), "limit": limit}
        return self._db.column(int, "search", "matching_ids", **wanted)

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
        rows = self._db.rows("search", name, terms=[*terms], project_id=project_id)
        return dict(map(tuple, rows))

    def count_documents(self, project_id: int | None) -> int:
        name = "how_many" if project_id is None else "how_many_of_project"
        return self._db.number("search", name, project_id=project_id)

    def newest_vector(self) -> int:
        return self._db.number("search", "newest_vector")

    def newest_document(self) -> int:
        return self._db.number("search", "newest_id")

    def documents(self, ids: Iterable[int]) -> list[Document]:
        """Those that are still there."""
        return [_document(row) for row in self._db.rows("search", "documents", ids=[*ids])]

    def documents_in_period(
        self, project_id: int | None, since: int, until: int, limit: int
    ) -> list[int]:
        """The newest first."""
        name = "of_period_anywhere" if project_id is None else "of_period"
        period = {"project_id": project_id, "since": since, "until": until, "limit": limit}
        return self._db.column(int, "search", name, **period)

    def document_words(self, ids: Iterable[int]) -> dict[int, str]:
        return {row["id"]: row["words"] for row in self._db.rows("search", "texts", ids=[*ids])}

    def document_text(self, kind: str, source: int) -> DocumentText | None:
        """None: it is gone."""
        with self._db.reading() as db:
            return read_document(db, kind, source)

    def match_events(self, terms: Sequence[str], filters: Filters, limit: int) -> list[FoundEvent]:
        """The events themselves, by any of the terms, best first."""
        if not terms:
            return []
        match = _event_match(terms, filters)
        wanted = {"match": match, "limit": limit, **_period(filters)}
        return self._db.all(FoundEvent, "search", "events", **wanted)

    def match_turns(
        self, terms: Sequence[str], filters: Filters, limit: int
    ) -> dict[tuple[int, int | None], float]:
        """Turns, by session and number, in which the agent wrote any of the terms, with their BM25 score."""
        if not terms:
            return {}
        match = _event_match(terms, filters)
        rows = self._db.rows("search", "said", match=match, limit=limit, **_period(filters))
        return {(row[0], row[1]): row[2] for row in rows}

    def find_document(self, kind: str, source: int) -> int | None:
        return self._db.value(int, "search", "document_of", kind=kind, source=source)

    def vectors(self, encoder: str, after: int) -> Iterator[StoredVector]:
        for row in self._db.rows("search", "vectors", encoder=encoder, after=after):
            yield StoredVector(*row)

    def match_facts(
        self, terms: Sequence[str], observations: Iterable[int]
    ) -> list[tuple[int, str]]:
        """Of these observations: whose, and what it says, best first."""
        if not terms:
            return []
        wanted = {"match": match_any(terms), "observations": [*observations]}
        rows = self._db.rows("search", "facts", **wanted)
        return [(row["observation_id"], row["text"]) for row in rows]

    def documents_around(
        self, project_id: int, at: int, before: int, after: int, *, kind: str = "", source: int = 0
    ) -> tuple[list[Document], list[Document]]:
        """What comes before and after, in the order of time. No kind: around a moment."""
        rank = ORDER.index(kind) if kind in ORDER else len(ORDER) if kind else -1
        place = {"project_id": project_id, "at": at, "rank": rank, "source": source}
        earlier = self._db.column(int, "lookups", "earlier", **place, limit=before)
        later = self._db.column(int, "lookups", "later", **place, limit=after)
        found = {document.id: document for document in self.documents([*earlier, *later])}
        return (
            [found[key] for key in reversed(earlier) if key in found],
            [found[key] for key in later if key in found],
        )


def scope(row: Row | Mapping[str, Any], kind: str, type_: str | None) -> Iterable[str]:
    """Terms that filters ask for."""
    yield f"p_{row['project_id']}"
    yield f"s_{row['session_id']}"
    yield f"k_{kind}"
    yield f"a_{name_term(row['agent'])}"
    yield f"m_{month(row['at'])}"
    if type_:
        yield f"t_{type_}"


def month(at: int) -> int:
    """Months of thirty days since the epoch: coarse, the same everywhere, and easy to count."""
    return at // (30 * 86_400_000)


def read_document(db: Connection, kind: str, source: int) -> DocumentText | None:
    """None: there is nothing to find, or no longer."""
    row = db.row("index", kind, id=source, erased=ERASED)
    if row is None:
        return None
    facts = tuple(map(tuple, json.loads(row["facts"])))
    texts = (row["lead"], *(fact[1] for fact in facts), *json.loads(row["rest"]))
    body = "\n".join(text for text in texts if text)
    files = tuple(json.loads(row["files"]))
    names = (*json.loads(row["tags"]), *files)
    return DocumentText(row, row["title"] or "", body, names, files, facts)


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """Each name as one term. A file is known by its path and by its name."""
    found = (name_term(name) for path in names for name in (path, file_name(path)))
    return tuple(dict.fromkeys(name for name in found if name))


def _add(db: Connection, kind: str, text: DocumentText) -> int:
    key = db.number("index", "add", **text.values(kind))
    for fact, words in text.facts:
        db.run("index", "set_fact", id=fact, words=index_text(words))
    return key


def _forget(db: Connection) -> int:
    """Without a look at the full-text tables: they may be what is broken."""
    for table in ("documents", "event_texts"):
        name = f"{table}_removed"
        row = db.row("index", "trigger", name=name)
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
        db.run("index", f"forget_{table}")
        if row is not None:
            db.execute(row["sql"])
    steps = ("forget_document_labels", "empty_document_words", "empty_event_words")
    marks = ("mark_observations", "mark_summaries", "mark_prompts", "mark_sessions")
    for step in (*steps, "rebuild_fact_words", *marks):
        db.run("index", step)
    db.run("index", "set_state", name="events", value="0")
    return db.number("index", "waiting_count")


def _clauses(filters: Filters) -> list[str]:
    """A filter is a term of the scope. Times are by month: `_period` has the exact ones."""
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


def _event_match(terms: Sequence[str], filters: Filters) -> str:
    """Without the filters for what events do not have."""
    own = replace(filters, kinds=(), types=(), concepts=(), files=())
    return " AND ".join([f"words : ({match_any(terms)})", *_clauses(own)])


def _period(filters: Filters) -> dict[str, object]:
    return {"since": filters.since, "until": filters.until}


def _months(filters: Filters) -> list[str]:
    """Coarse, to narrow the search; none for a period of many years. The query has the exact times."""
    if filters.since is None and filters.until is None:
        return []
    # Clocks go wrong: without an end, what is dated in the next year counts too.
    last = month(filters.until if filters.until is not None else clock.now() + YEAR)
    first = min(last, 0 if filters.since is None else month(filters.since))
    return [f"m_{each}" for each in range(first, last + 1)] if last - first <= MOST_MONTHS else []


def _document(row: Row) -> Document:
    """By place: looking up many names in a row takes longer than finding it."""
    values = [*row]
    values[6:12] = map(bool, values[6:12])
    values[12] = frozenset(values[12].split())
    return Document._make(values)
