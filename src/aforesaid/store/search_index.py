"""The index over everything that can be found: kept by triggers, filled before a transaction ends.

Whatever writes a row, a trigger notes it in `unindexed`. A small number of notes is worked off inside the
same transaction, vectors too; what many rows at once leave behind (an import, a new version), and what the
encoder could not do, is done later, by `index_waiting` and `encode_waiting`.
"""

import re
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aforesaid import log
from aforesaid.encoders.base import Encoder, chunks, packed
from aforesaid.model.purge import ERASED
from aforesaid.model.search import SESSION, IndexHealth, ReadEvent, UnreadEvent
from aforesaid.store.database import FAULTS, Database, Part, Row, write, write_one
from aforesaid.store.turns import stored_event
from aforesaid.store.values import file_name, unpacked
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
SUMMARY_TEXTS = ("investigated", "learned", "completed", "next_steps", "notes")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """`names`: its tags: concepts, files, a sub-agent. `facts`: words by row id."""

    row: Row
    title: str
    body: str
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    type: str | None = None
    pinned: bool = False
    doubted: bool = False
    superseded: bool = False
    by_user: bool = False
    facts: tuple[tuple[int, str], ...] = ()

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
        return {
            "kind": kind,
            "source": self.row["id"],
            "session_id": self.row["session_id"],
            "project_id": self.row["project_id"],
            "at": self.row["at"],
            "asks": len(body) <= QUESTION and body.rstrip().endswith(("?", "？")),
            "says_when": when,
            "says_number": number,
            "pinned": self.pinned,
            "doubted": self.doubted,
            "superseded": self.superseded,
            "by_user": self.by_user,
            "dead_end": DEAD_END.search(f"{self.title}\n{body[:SAID]}") is not None,
            "labels": " ".join(labels(self.names)),
            "dates": date_words(self.row["at"]),
            "scope": " ".join((*scope(self.row, kind, self.type), *self._named())),
            "title": index_text(self.title[:LONGEST]),
            "body": index_text("\n".join((body, *self.names))),
        }


def scope(row: Row | Mapping[str, Any], kind: str, type_: str | None) -> Iterable[str]:
    """Terms that filters ask for."""
    yield f"p_{row['project_id']}"
    yield f"s_{row['session_id']}"
    yield f"k_{kind}"
    yield f"a_{name_term(row['agent'])}"
    yield f"m_{month(row['at'])}"
    yield f"y_{month(row['at']) // 12}"
    if type_:
        yield f"t_{type_}"


def month(at: int) -> int:
    """Months of thirty days since the epoch: coarse, the same everywhere, and easy to count."""
    return at // (30 * 86_400_000)


def read_document(connection: sqlite3.Connection, kind: str, source: int) -> DocumentText | None:
    """None: there is nothing to find, or no longer."""
    row = write_one(connection, "index", kind, {"id": source})
    if row is None:
        return None
    match kind:
        case "observation":
            return _observation(connection, row)
        case "summary":
            paths = _column(connection, "summary_files", source)
            return DocumentText(
                row,
                row["request"] or "",
                _joined(row[part] for part in SUMMARY_TEXTS),
                tuple(paths),
                tuple(paths),
                doubted=bool(row["doubted"]),
            )
        case "prompt":
            return None if row["text"] == ERASED else DocumentText(row, "", row["text"])
        case _:
            titles = _column(connection, "session_titles", source)
            requests = _column(connection, "session_requests", source)
            return DocumentText(
                row, row["title"] or "", _joined([row["subtitle"], *requests, *titles])
            )


def _observation(connection: sqlite3.Connection, row: Row) -> DocumentText:
    key = row["id"]
    facts = write(connection, "index", "facts", {"id": key}).fetchall()
    concepts = _column(connection, "concepts", key)
    files = _column(connection, "files", key)
    who = [row["subagent_type"]] if row["subagent_type"] else []
    return DocumentText(
        row,
        row["title"] or "",
        _joined([row["subtitle"], *(fact["text"] for fact in facts), row["narrative"]]),
        (*concepts, *who, *files),
        tuple(files),
        type=row["type"],
        pinned=bool(row["pinned"]),
        doubted=bool(row["doubted"]),
        superseded=bool(row["superseded"]),
        by_user=bool(row["edited"]),
        facts=tuple((fact["id"], index_text(fact["text"])) for fact in facts),
    )


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """Each name as one term. A file is known by its path and by its name."""
    found = (name_term(name) for path in names for name in (path, file_name(path)))
    return tuple(dict.fromkeys(name for name in found if name))


def _column(connection: sqlite3.Connection, name: str, key: int) -> list[str]:
    return [row[0] for row in write(connection, "index", name, {"id": key}).fetchall()]


def _joined(parts: Iterable[str | None]) -> str:
    return "\n".join(part for part in parts if part)


SHORTEST_REST, LONGEST_REST = 15.0, 900.0  # seconds before a broken encoder is tried again
AT_ONCE = 64  # notes that a transaction works off itself
WORDS = "3"  # raise it when `terms.py` or the documents' texts change: all is indexed again


@dataclass(slots=True)
class _Waiting:
    """Documents whose vectors are to be made."""

    ids: list[int]
    texts: list[str]


class Indexing(Part):
    def __init__(self, database: Database, encoder: Encoder | None = None) -> None:
        super().__init__(database)
        self._encoder = encoder
        self._encoder_pause, self._encoder_rests = SHORTEST_REST, 0.0
        # Up to which document all have their vector, and up to which they will have when this pass is over.
        self._encoded = self._pass_to = 0
        database.before_commit = self._before_commit
        if database.writer is not None:
            self._reset_if_changed()

    def update(self, limit: int) -> int:
        """How many notes were worked off."""
        with self._db.transaction() as connection:
            return self._index(connection, limit)

    def encode(self, limit: int, *, below: int | None = None) -> int | None:
        """Vectors for documents without one of this encoder, the newest first, from those below an id; None
        begins a pass, of which there is one at a time. The lowest id that was done, to go on from; None when
        there was none. The slow part is outside the transaction."""
        if self._encoder is None or time.monotonic() < self._encoder_rests:
            return None
        if below is None:
            row = self._db.row("search", "newest_id")
            self._pass_to = int(row[0]) if row else 0
        wanted = {"encoder": self._encoder.name, "limit": limit, "below": below or 2**62}
        rows = self._db.rows("index", "without_vector", above=self._encoded, **wanted)
        if not rows:
            # What comes later has a higher id: a pass that finds nothing to do need not look at everything.
            self._encoded = self._pass_to
            return None
        texts = []
        for row in rows:
            found = self.document_source(row["kind"], row["source"])
            texts.append(found.plain if found else "")
        vectors = self._vectors(texts)
        if vectors is None:
            return None
        with self._db.transaction() as connection:
            self._add_vectors(connection, [row["id"] for row in rows], vectors)
        return int(rows[-1]["id"])

    def document_source(self, kind: str, source: int) -> DocumentText | None:
        """What there is to find of a row, read again."""
        try:
            return read_document(self._db.reader(), kind, source)
        except FAULTS as error:
            raise self._db.refused(error) from error

    def update_observations(self) -> None:
        """All of them, now: who looks for likeness must not miss one that waits."""
        while self._db.writer is not None and self._db.row("index", "observations_wait"):
            self.update(AT_ONCE)

    def health(self) -> IndexHealth:
        name = self._encoder.name if self._encoder else None
        row = self._db.row("index", "health", encoder=name or "")
        assert row is not None
        return IndexHealth(row["documents"], row["vectors"], row["waiting"], name)

    def reset(self) -> int:
        """All of it will be made again. How much there is to do."""
        self._encoded = self._pass_to = 0
        with self._db.transaction() as connection:
            return _forget(connection)

    def unread_events(self, limit: int) -> list[UnreadEvent]:
        """Events whose texts were not indexed yet, in order."""
        row = self._db.row("index", "state", name="events")
        values = {"after": int(row[0]) if row else 0, "limit": limit}
        found = unpacked(self._db.each("index", "events_after", **values))
        return [
            UnreadEvent(
                *(each["agent"], each["project_id"], each["project_dir"], stored_event(each, body)),
                *(each["root"], each["content_hash"]),
            )
            for each, body in found
        ]

    def add_event_texts(self, texts: Iterable[ReadEvent]) -> None:
        """In the order of `events_unread`; an empty text says nothing and is passed over. Up to the first
        whose content was replaced since: what was read of it is no longer there, and it is read again."""
        last = 0
        with self._db.transaction() as connection:
            for read in texts:
                each, text = read.unread, read.text
                seen = {"event_id": each.event.id, "content_hash": each.content_hash}
                if write_one(connection, "index", "as_read", seen) is None:
                    break
                last = each.event.id
                write(connection, "index", "set_origin", {"event_id": last, "origin": read.origin})
                if not text:
                    continue
                about = {
                    "project_id": each.project_id,
                    "session_id": each.event.session_id,
                    "agent": each.agent,
                    "at": each.event.at,
                }
                values = {
                    "event_id": last,
                    "project_id": each.project_id,
                    "scope": " ".join(scope(about, "event", None)),
                    "words": index_text(text),
                    "text": text,
                }
                write(connection, "index", "add_event_text", values)
            if last:
                write(connection, "index", "set_state", {"name": "events", "value": str(last)})

    def _before_commit(self, connection: sqlite3.Connection) -> None:
        self._index(connection, AT_ONCE)

    def _reset_if_changed(self) -> None:
        with self._db.transaction() as connection:
            row = write_one(connection, "index", "state", {"name": "words"})
            if row is None or row["value"] != WORDS:
                if row is not None:
                    _forget(connection)
                write(connection, "index", "set_state", {"name": "words", "value": WORDS})

    def _index(self, connection: sqlite3.Connection, limit: int) -> int:
        notes = write(connection, "index", "waiting", {"limit": limit}).fetchall()
        waiting = _Waiting([], [])
        for kind, source in notes:
            values = {"kind": kind, "source": source}
            write(connection, "index", "drop", values)
            write(connection, "index", "done", values)
            try:
                text = read_document(connection, kind, source)
                key = _add(connection, kind, text) if text is not None else None
            except (ValueError, OverflowError) as error:
                # Something unforeseen in a text or a time: it is not found, but it is stored.
                log.warning("index.failed", kind=kind, source=source, error=log.cause(error))
                continue
            if text is not None and key is not None and kind != SESSION:
                waiting.ids.append(key)
                waiting.texts.append(text.plain)
        if waiting.ids and self._encoder is not None and self._encoder.instant:
            vectors = self._vectors(waiting.texts)
            if vectors is not None:
                self._add_vectors(connection, waiting.ids, vectors)
        return len(notes)

    def _vectors(self, texts: Sequence[str]) -> list[bytes] | None:
        """None: the encoder is broken. Nothing is lost by that; the words are found, and it is tried again
        later."""
        assert self._encoder is not None
        pieces = [chunks(text) for text in texts]
        try:
            matrix = self._encoder.encode([piece for each in pieces for piece in each])
        except Exception as error:  # whatever a library raises, the rows must be stored
            log.warning("encoder.failed", encoder=self._encoder.name, error=log.cause(error))
            self._encoder_rests = time.monotonic() + self._encoder_pause
            self._encoder_pause = min(self._encoder_pause * 2, LONGEST_REST)
            self._encoded = self._pass_to = 0  # when it is well again, everything is looked at
            return None
        self._encoder_pause = SHORTEST_REST
        found = []
        first = 0
        for each in pieces:
            found.append(packed(matrix[first : first + len(each)]))
            first += len(each)
        return found

    def _add_vectors(
        self, connection: sqlite3.Connection, ids: Sequence[int], vectors: Sequence[bytes]
    ) -> None:
        assert self._encoder is not None
        for key, vector in zip(ids, vectors, strict=True):
            values = {"document_id": key, "encoder": self._encoder.name, "vector": vector}
            write(connection, "index", "drop_vector", values)
            write(connection, "index", "add_vector", values)


def _add(connection: sqlite3.Connection, kind: str, text: DocumentText) -> int:
    row = write_one(connection, "index", "add", text.values(kind))
    assert row is not None
    for fact, words in text.facts:
        write(connection, "index", "set_fact", {"id": fact, "words": words})
    return int(row["id"])


def _forget(connection: sqlite3.Connection) -> int:
    """Without a look at the full-text tables: they may be what is broken."""
    for table in ("documents", "event_texts"):
        name = f"{table}_removed"
        row = write_one(connection, "index", "trigger", {"name": name})
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        write(connection, "index", f"forget_{table}", {})
        if row is not None:
            connection.execute(row["sql"])
    steps = ("forget_document_labels", "empty_document_words", "empty_event_words")
    for step in (*steps, "rebuild_fact_words"):
        write(connection, "index", step, {})
    for mark in ("mark_observations", "mark_summaries", "mark_prompts", "mark_sessions"):
        write(connection, "index", mark, {})
    write(connection, "index", "set_state", {"name": "events", "value": "0"})
    row = write_one(connection, "index", "waiting_count", {})
    return int(row[0]) if row else 0
