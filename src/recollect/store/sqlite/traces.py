"""A text, wherever it stands: found in every column that can hold words, or replaced there.

The asker says what matches and what takes its place. Afterwards `scrub` leaves no byte of what was deleted:
not in the index, not in free pages, not in the write-ahead log.
"""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.errors import StoreError
from recollect.ids import digest
from recollect.model.erasing import Changing, Matching, Progress, Rows
from recollect.store.sqlite import queries
from recollect.store.sqlite.bodies import pack, unpack
from recollect.store.sqlite.database import Database, Row, write
from recollect.terms import prepared
from recollect.text import sqlite_safe

AT_ONCE = 32  # events or replies that are read in one go: some are large
OWNED = ("prompts", "observations", "summaries", "forgotten")
COLUMNS = ("key", "tool", "subagent_type", "prompt_id", "capture_id")
INDEXES = ("rebuild_document_words", "rebuild_event_words", "rebuild_fact_words")
# Pages that readers still look at keep the log from being emptied; nobody looks for long.
TRIES, PAUSE = 50, 0.1
BUSY = "The database's log could not be emptied: another program keeps it open. Close it and try again."


class Traces(Database):
    def rows_with(self, matching: Matching, on_progress: Progress) -> Rows:
        """Everything of its own in which it occurs."""
        reader = self._reader()
        with _asking(reader, matching):
            events = self._events_with(reader, matching, on_progress)
            found = {name: self._found(reader, name) for name in OWNED}
        return Rows(events=events, **found)

    def replace_text(
        self, matching: Matching, changing: Changing, on_progress: Progress
    ) -> Iterator[int]:
        """In steps: how many rows each has changed. Killed and called again it goes on."""
        assert self._writer is not None
        after, done = 0, 0
        last = self.row("traces", "last_event")
        assert last is not None
        while rows := self.rows("traces", "events", after=after, limit=AT_ONCE):
            changed = [row for row in rows if _has(row, matching)]
            after, done = rows[-1]["id"], done + len(rows)
            on_progress(done, last["number"])
            if changed:
                self._replace_events(changed, matching, changing)
                yield len(changed)
        yield self._replace_others(matching, changing)

    def scrub(self) -> None:
        """No byte stays of what was deleted. Takes as long as copying the database."""
        assert self._writer is not None
        with self.transaction() as connection:
            for name in INDEXES:
                write(connection, "traces", name, {})
        with self._lock:
            try:
                self._writer.execute("VACUUM")
            except sqlite3.DatabaseError as error:
                raise self._refused(error) from error
        self.empty_log()

    def empty_log(self) -> None:
        """The write-ahead log is in the database, and nothing is left in its file."""
        assert self._writer is not None
        for _ in range(TRIES):
            with self._lock:
                try:
                    busy = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                except sqlite3.DatabaseError as error:
                    raise self._refused(error) from error
            if not busy:
                return
            time.sleep(PAUSE)
        raise StoreError(BUSY)

    def _events_with(
        self, reader: sqlite3.Connection, matching: Matching, on_progress: Progress
    ) -> frozenset[int]:
        found: set[int] = set()
        after, done = 0, 0
        last = self.row("traces", "last_event")
        assert last is not None
        while rows := self.rows("traces", "events", after=after, limit=AT_ONCE):
            found |= {row["id"] for row in rows if _has(row, matching)}
            span = {"after": after, "last": rows[-1]["id"]}
            found |= self._found(reader, "event_texts", **span)
            after, done = rows[-1]["id"], done + len(rows)
            on_progress(done, last["number"])
        return frozenset(found)

    def _found(self, reader: sqlite3.Connection, name: str, **values: object) -> frozenset[int]:
        try:
            rows = reader.execute(queries.load("traces")[name], values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._refused(error) from error
        return frozenset(int(row[0]) for row in rows)

    def _replace_events(self, rows: list[Row], matching: Matching, changing: Changing) -> None:
        ids = json.dumps([row["id"] for row in rows])
        with self.transaction() as connection, _asking(connection, matching, changing):
            for row in rows:
                body = changing(_text(row["body"])).encode("utf-8", "surrogateescape")
                values = {name: _changed(row[name], changing) for name in COLUMNS}
                content = {
                    "id": row["id"],
                    "body": pack(body),
                    "size": len(body),
                    "content_hash": digest(body, 32),
                }
                write(connection, "traces", "set_event", values | content)
            for said in write(connection, "traces", "event_text", {"ids": ids}).fetchall():
                text = sqlite_safe(changing(said["text"]))
                values = dict(said) | {"text": text, "words": prepared(text)}
                write(connection, "traces", "drop_event_text", values)
                write(connection, "index", "add_event_text", values)

    def _replace_others(self, matching: Matching, changing: Changing) -> int:
        named = [name for name in queries.load("traces") if name.startswith(("index_", "replace_"))]
        # What is to be indexed anew is found by the text that is still there.
        named.sort(key=lambda name: not name.startswith("index_"))
        count = 0
        with self.transaction() as connection, _asking(connection, matching, changing):
            for name in named:
                done = write(connection, "traces", name, {}).rowcount
                count += done if name.startswith("replace_") else 0
            return count + _forget_replies(connection, matching)


def _forget_replies(connection: sqlite3.Connection, matching: Matching) -> int:
    after, count = 0, 0
    part = {"limit": AT_ONCE}
    while rows := write(connection, "traces", "replies", part | {"after": after}).fetchall():
        after = rows[-1]["id"]
        for row in rows:
            if matching(_text(row["reply"])):
                write(connection, "traces", "forget_reply", {"id": row["id"]})
                count += 1
    return count


@contextmanager
def _asking(
    connection: sqlite3.Connection, matching: Matching, changing: Changing | None = None
) -> Iterator[None]:
    """The functions that the queries call, as long as they are needed."""
    connection.create_function("found", 1, lambda text: _found_in(text, matching))
    if changing is not None:
        connection.create_function("changed", 1, lambda text: _changed(text, changing))
    try:
        yield
    finally:
        connection.create_function("found", 1, None)
        connection.create_function("changed", 1, None)


def _found_in(text: object, matching: Matching) -> bool:
    return isinstance(text, str) and matching(text)


def _changed(text: str | None, changing: Changing) -> str | None:
    return None if text is None else sqlite_safe(changing(text))


def _has(row: Row, matching: Matching) -> bool:
    return matching(_text(row["body"])) or any(_found_in(row[c], matching) for c in COLUMNS)


def _text(packed: bytes) -> str:
    return unpack(packed).decode("utf-8", "surrogateescape")
