"""Deleting for good: a purge on the user's word, and retention by age or to free space.

What was derived from something is purged with it: it may say the same in other words. Purged events and
prompts stay as rows without content, because transcripts are compared with what is there; a session that is
purged as a whole leaves a hash of its name. Neither holds any text. A text is found in every column that
can hold words, or replaced there. Afterwards `scrub` leaves no byte: not in the index, in free pages or in
the write-ahead log.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from aforesaid.errors import StoreDamaged, StoreError
from aforesaid.ids import digest
from aforesaid.model.purge import ERASED, Changing, Erasure, Freed, Matching, Progress, Reach, Rows
from aforesaid.store.database import Connection, Part, Row, load_queries
from aforesaid.store.observations import with_folded
from aforesaid.store.sessions import keep_place
from aforesaid.store.values import columns, pack, unpack
from aforesaid.terms import index_text
from aforesaid.text import sqlite_safe

EMPTY = pack(b"")
ROWS_AT_ONCE = 500  # in a transaction: hooks and captures come in between
BODIES_AT_ONCE = 32  # events that are read together: some are large
BEFORE = 60_000  # milliseconds that a prompt's hook may be answered before the prompt itself
TABLES = ("sessions", "prompts", "events", "observations", "summaries")
SEARCHED = ("prompts", "observations", "summaries")
COLUMNS = ("key", "tool", "subagent_type", "prompt_id", "capture_id")
# Free space from which a smaller file is worth the work.
WORTH_BYTES, WORTH_SHARE = 16 * 1024 * 1024, 4
INDEXES = ("rebuild_document_words", "rebuild_event_words", "rebuild_fact_words")
# Pages that readers still look at keep the log from being emptied; nobody looks for long.
TRIES, PAUSE = 50, 0.1
BUSY = "The database's log could not be emptied: another program keeps it open. Close it and try again."


class Purge(Part):
    def select(self, wanted: Erasure) -> Rows:
        """What it names, without what was derived. Empty where there is no such thing."""
        key = wanted.id or 0
        there = self._db.only("erasing", "there", id=key)
        match wanted.what:
            case "observation" if there["observation"]:
                # With what it was made of: from that it would be written again.
                ids = with_folded(self._db.reader(), {key})
                events = self._keys("events_of_observations", ids=ids)
                return Rows(observations=frozenset(ids), events=events)
            case "prompt" if there["prompt"]:
                events = self._keys("events_of_turn", id=key)
                return Rows(prompts=frozenset({key}), events=events)
            case "session" if there["session"]:
                return Rows(sessions=frozenset({key}))
            case "project" if there["project"]:
                sessions = self._keys("session_of_project", id=key)
                return Rows(projects=frozenset({key}), sessions=sessions)
            case "period":
                period = {"since": wanted.since, "until": wanted.until, "project_id": wanted.id}
                return Rows(**{each: self._keys(f"{each}_of_period", **period) for each in TABLES})
            case _:
                return Rows()

    def search(self, matching: Matching, on_progress: Progress) -> Rows:
        """Everything in which a text occurs."""
        events: set[int] = set()
        with _functions(self._db.reader(), matching):
            for rows, span in self._events(on_progress):
                events |= {row["id"] for row in rows if _has(row, matching)}
                events |= self._keys("event_texts", "traces", **span)
            found = {name: self._keys(name, "traces") for name in SEARCHED}
        return Rows(events=frozenset(events), **found)

    def reach(self, rows: Rows) -> Reach:
        """With everything that was derived from it, and what is folded into that."""
        rows = self._with_derived(rows)
        named = columns(rows)
        sessions = self._keys("sessions_touched", **named)
        projects = self._keys("projects_touched", ids=sessions) | rows.projects
        whole = self._db.only("erasing", "counts", **named)
        counts = {name: len(getattr(rows, name)) for name in ("projects", *TABLES)} | dict(whole)
        return Reach(rows, counts, projects, sessions)

    def delete(self, rows: Rows, now: int) -> Iterator[int]:
        """In resumable steps, each a transaction: how many rows. What was derived goes first."""
        steps = (
            (rows.observations, ("drop_observations",)),
            (rows.summaries, ("untitle", "drop_summaries")),
            (rows.events, ("forget_replies", "forget_errors", "empty_events", "drop_event_texts")),
            (rows.events, ("drop_jobs",)),
            (rows.prompts, ("forget_replies_of_prompts", "forget_errors_of_prompts")),
            (rows.prompts, ("untell", "untell_memories", "untitle_of_prompts", "empty_prompts")),
        )
        for ids, names in steps:
            ordered = sorted(ids)
            for first in range(0, len(ordered), ROWS_AT_ONCE):
                part = ordered[first : first + ROWS_AT_ONCE]
                values = {"ids": part, "empty": EMPTY, "erased": ERASED, "before": BEFORE}
                with self._db.transaction() as db:
                    for name in names:
                        db.run("erasing", name, **values)
                yield len(part)
        for session_id in sorted(rows.sessions):
            self._delete_session(session_id, now)
            yield 1
        for project_id in sorted(rows.projects):
            with self._db.transaction() as db:
                db.run("erasing", "forget_replies_of_project", id=project_id)
                keep_place(db, project_id)
                db.run("erasing", "drop_project", id=project_id)
            yield 1

    def replace_text(
        self, matching: Matching, changing: Changing, on_progress: Progress
    ) -> Iterator[int]:
        """In steps: how many rows each has changed. Killed and called again it goes on."""
        for rows, _ in self._events(on_progress):
            if changed := [row for row in rows if _has(row, matching)]:
                self._replace_events(changed, matching, changing)
                yield len(changed)
        # What is to be indexed again is found by the text that is still there, so that comes first.
        names = (name for name in load_queries("traces") if name.startswith(("index_", "replace_")))
        count = 0
        with self._db.transaction() as db, _functions(db, matching, changing):
            for name in sorted(names):
                done = db.run("traces", name).rowcount
                count += done if name.startswith("replace_") else 0
        yield count

    def purged_until(self, agent: str, ref: str) -> int | None:
        """The session was purged: what happened in it up to this time must not come back."""
        return self._db.value(int, "erasing", "buried", session=_session_hash(agent, ref))

    def _delete_session(self, session_id: int, now: int) -> None:
        with self._db.transaction() as db:
            session = db.row("sessions", "one", id=session_id)
            if session is None:
                return
            name = {"agent": session["agent"], "ref": session["ref"]}
            hashed, until = _session_hash(**name), max(now, session["last_event_at"])
            steps = ("bury_session", "forget_replies_of_session", "drop_pauses", "drop_session")
            for step in steps:
                db.run("erasing", step, id=session_id, session=hashed, until=until, **name)

    def _with_derived(self, rows: Rows) -> Rows:
        events = rows.events | self._keys("events_of_prompts", ids=rows.prompts)
        rows = replace(rows, events=events)
        named = columns(rows)
        found = rows.observations | self._keys("derived_observations", **named)
        found |= self._keys("hidden_with", ids=found)
        observations = frozenset(with_folded(self._db.reader(), found))
        summaries = rows.summaries | self._keys("derived_summaries", **named)
        return replace(rows, observations=observations, summaries=summaries)

    def _keys(self, name: str, topic: str = "erasing", /, **values: object) -> frozenset[int]:
        return frozenset(self._db.column(int, topic, name, **values))

    def _events(self, on_progress: Progress) -> Iterator[tuple[list[Row], dict[str, int]]]:
        """All events with content, a few at a time, with the ids that they span."""
        after, done = 0, 0
        last = self._db.only("traces", "last_event")
        while rows := self._db.rows("traces", "events", after=after, limit=BODIES_AT_ONCE):
            yield rows, {"after": after, "last": rows[-1]["id"]}
            after, done = rows[-1]["id"], done + len(rows)
            on_progress(done, last["number"])

    def _replace_events(self, rows: list[Row], matching: Matching, changing: Changing) -> None:
        ids = [row["id"] for row in rows]
        with self._db.transaction() as db, _functions(db, matching, changing):
            for row in rows:
                body = changing(_text(row["body"])).encode("utf-8", "surrogateescape")
                values = {name: _changed(row[name], changing) for name in COLUMNS} | {
                    "id": row["id"],
                    "body": pack(body),
                    "size": len(body),
                    "content_hash": digest(body, 32),
                }
                db.run("traces", "set_event", **values)
            for said in db.rows("traces", "event_text", ids=ids):
                text = sqlite_safe(changing(said["text"]))
                values = dict(said) | {"text": text, "words": index_text(text)}
                db.run("traces", "drop_event_text", **values)
                db.run("index", "add_event_text", **values)


class Maintenance(Part):
    """Frees the content of events only, by age or for space. Nothing else expires."""

    def age_out(self, before: int, limit: int, *, keep_texts: bool = False) -> Freed:
        """The oldest events that happened before a time. `keep_texts`: they stay searchable."""
        rows = self._db.rows("retention", "old_events", before=before, limit=limit)
        return self._free(rows, "empty_events", *(() if keep_texts else ("drop_event_texts",)))

    def drop_old_texts(self, limit: int) -> Freed:
        """What search finds of events whose content went before."""
        rows = self._db.rows("retention", "old_texts", limit=limit)
        return self._free(rows, "drop_event_texts")

    def _free(self, rows: list[Row], *names: str) -> Freed:
        if rows:
            ids = [row["id"] for row in rows]
            with self._db.transaction() as db:
                for name in names:
                    db.run("erasing", name, ids=ids, empty=EMPTY)
        return Freed(len(rows), sum(row["stored"] for row in rows))

    def shrink(self, *, at_once: bool = False) -> int:
        """Gives free space back, if it is worth copying the file. How many bytes that was."""
        space = self._db.only("retention", "space")
        free, whole = int(space["free"]), int(space["whole"])
        if not at_once and (free < WORTH_BYTES or free * WORTH_SHARE < whole):
            return 0
        self._pragma("VACUUM")
        self._pragma("PRAGMA wal_checkpoint(TRUNCATE)")
        return free

    def scrub(self) -> None:
        """No byte stays of what was deleted. Takes as long as copying the database."""
        with self._db.transaction() as db:
            for name in INDEXES:
                db.run("traces", name)
        self._pragma("VACUUM")
        self.truncate_log()

    def truncate_log(self) -> None:
        """Checkpoints the write-ahead log, and leaves nothing in its file."""
        for _ in range(TRIES):
            busy = self._pragma("PRAGMA wal_checkpoint(TRUNCATE)")
            if busy is None or not busy[0]:
                return
            time.sleep(PAUSE)
        raise StoreError(BUSY)

    def _pragma(self, statement: str) -> Row | None:
        assert self._db.writer is not None
        with self._db.lock:
            try:
                found: Row | None = self._db.writer.execute(statement).fetchone()
                return found
            except sqlite3.DatabaseError as error:
                raise self._db.refused(error) from error


@contextmanager
def _functions(
    db: Connection, matching: Matching, changing: Changing | None = None
) -> Iterator[None]:
    """Registers `found` and `changed`, which the queries call."""
    db.create_function("found", 1, lambda text: _is_found(text, matching))
    if changing is not None:
        db.create_function("changed", 1, lambda text: _changed(text, changing))
    try:
        yield
    finally:
        db.create_function("found", 1, None)
        db.create_function("changed", 1, None)


def _is_found(value: object, matching: Matching) -> bool:
    if isinstance(value, bytes):  # a packed reply; one that cannot be read is as good as found
        try:
            return matching(_text(value))
        except StoreDamaged:
            return True
    return isinstance(value, str) and matching(value)


def _changed(text: str | None, changing: Changing) -> str | None:
    return None if text is None else sqlite_safe(changing(text))


def _has(row: Row, matching: Matching) -> bool:
    return matching(_text(row["body"])) or any(_is_found(row[name], matching) for name in COLUMNS)


def _text(packed: bytes) -> str:
    return unpack(packed).decode("utf-8", "surrogateescape")


def _session_hash(agent: str, ref: str) -> str:
    return digest(f"{agent}\0{ref}", 32)
