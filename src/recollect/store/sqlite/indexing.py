"""The index over everything that can be found: kept by triggers, filled before a transaction ends.

Whatever writes a row, a trigger notes it in `unindexed`. A small number of notes is worked off inside the
same transaction, vectors too; what many rows at once leave behind (an import, a new version), and what the
encoder could not do, is done later, by `index_waiting` and `encode_waiting`.
"""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect import log
from recollect.encoders.protocol import Encoder
from recollect.encoders.vectors import chunks, packed
from recollect.model.search import SESSION, IndexHealth, ReadEvent, UnreadEvent
from recollect.store.sqlite import document_texts
from recollect.store.sqlite.bodies import unpacked
from recollect.store.sqlite.database import Database, write, write_one
from recollect.store.sqlite.document_texts import DocumentText
from recollect.store.sqlite.events import stored_event
from recollect.store.sqlite.faults import FAULTS
from recollect.terms import prepared
from recollect.text import sqlite_safe

SHORTEST_REST, LONGEST_REST = 15.0, 900.0  # seconds before a broken encoder is tried again
AT_ONCE = 64  # notes that a transaction works off itself
WORDS = "3"  # raise it when `terms.py` or the documents' texts change: all is indexed again


@dataclass(slots=True)
class _Waiting:
    """Documents whose vectors are to be made."""

    ids: list[int]
    texts: list[str]


class Indexing(Database):
    def __init__(
        self,
        path: Path,
        *,
        writer: bool,
        encoder: Encoder | None = None,
        checked: bool = False,
    ) -> None:
        self._encoder = encoder
        self._encoder_pause, self._encoder_rests = SHORTEST_REST, 0.0
        # Up to which document all have their vector, and up to which they will have when this pass is over.
        self._encoded = self._pass_to = 0
        super().__init__(path, writer=writer, checked=checked)
        if writer:
            self._begin_anew_if_changed()

    def index_waiting(self, limit: int) -> int:
        """How many notes were worked off."""
        with self.transaction() as connection:
            return self._index(connection, limit)

    def encode_waiting(self, limit: int, *, below: int | None = None) -> int | None:
        """Vectors for documents without one of this encoder, the newest first, from those below an id; None
        begins a pass, of which there is one at a time. The lowest id that was done, to go on from; None when
        there was none. The slow part is outside the transaction."""
        if self._encoder is None or time.monotonic() < self._encoder_rests:
            return None
        if below is None:
            row = self.row("search", "newest_id")
            self._pass_to = int(row[0]) if row else 0
        wanted = {"encoder": self._encoder.name, "limit": limit, "below": below or 2**62}
        rows = self.rows("index", "without_vector", above=self._encoded, **wanted)
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
        with self.transaction() as connection:
            self._add_vectors(connection, [row["id"] for row in rows], vectors)
        return int(rows[-1]["id"])

    def document_source(self, kind: str, source: int) -> DocumentText | None:
        """What there is to find of a row, read anew."""
        try:
            return document_texts.read(self._reader(), kind, source)
        except FAULTS as error:
            raise self._refused(error) from error

    def index_observations(self) -> None:
        """All of them, now: who looks for likeness must not miss one that waits."""
        while self._writer is not None and self.row("index", "observations_wait"):
            self.index_waiting(AT_ONCE)

    def index_health(self) -> IndexHealth:
        name = self._encoder.name if self._encoder else None
        row = self.row("index", "health", encoder=name or "")
        assert row is not None
        return IndexHealth(row["documents"], row["vectors"], row["waiting"], name)

    def forget_index(self) -> int:
        """All of it will be made again. How much there is to do."""
        self._encoded = self._pass_to = 0
        with self.transaction() as connection:
            return _forget(connection)

    def events_unread(self, limit: int) -> list[UnreadEvent]:
        """Events whose texts were not indexed yet, in order."""
        row = self.row("index", "state", name="events")
        values = {"after": int(row[0]) if row else 0, "limit": limit}
        found = unpacked(self.each("index", "events_after", **values))
        return [
            UnreadEvent(
                *(each["agent"], each["project_id"], each["project_dir"], stored_event(each, body)),
                *(each["root"], each["content_hash"]),
            )
            for each, body in found
        ]

    def add_event_texts(self, texts: Iterable[ReadEvent]) -> None:
        """In the order of `events_unread`; an empty text says nothing and is passed over. Up to the first
        whose content was replaced since: what was read of it is no longer there, and it is read anew."""
        last = 0
        with self.transaction() as connection:
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
                    "scope": " ".join(document_texts.scope(about, "event", None)),
                    "words": prepared(text),
                    "text": sqlite_safe(text),
                }
                write(connection, "index", "add_event_text", values)
            if last:
                write(connection, "index", "set_state", {"name": "events", "value": str(last)})

    def before_commit(self, connection: sqlite3.Connection) -> None:
        self._index(connection, AT_ONCE)

    def _begin_anew_if_changed(self) -> None:
        with self.transaction() as connection:
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
                text = document_texts.read(connection, kind, source)
                key = _add(connection, kind, text) if text is not None else None
            except (ValueError, OverflowError) as error:
                # Something that nobody thought of in a text or a time: it is not found, but it is stored.
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
