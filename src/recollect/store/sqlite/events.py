"""Events: stored once each, in the session and the turn they belong to; an ended turn becomes jobs."""

import sqlite3
import zlib
from collections.abc import Iterable

from recollect.clock import SECOND
from recollect.ids import digest
from recollect.model.arrivals import Arrival, Ingested
from recollect.model.captures import Capture
from recollect.model.events import (
    CompactionBegan,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from recollect.model.jobs import OBSERVE, SUMMARIZE
from recollect.model.stored import StoredEvent
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.text import sqlite_safe

# Two installations of our hooks deliver the same bytes a few milliseconds apart. Where the agent
# gives no id, equal content within this time is one event.
SAME_WITHIN = 5 * SECOND
FASTEST = 1  # zlib level: a quarter of the size for a tenth of the time of level 9


class Events(Database):
    def add_events(self, arrivals: Iterable[Arrival], now: int) -> Ingested:
        """One durable transaction. Missing sessions are created, whatever arrives first (A9)."""
        added = duplicates = closed = 0
        projects: set[int] = set()
        with self.transaction() as connection:
            for arrival in arrivals:
                turns = _add(connection, arrival, now)
                if turns is None:
                    duplicates += 1
                else:
                    added += 1
                    closed += turns
                    projects.add(arrival.project_id)
        return Ingested(added, duplicates, closed, frozenset(projects))

    def interrupt_stale(self, before: int, now: int) -> int:
        """Sessions without activity become interrupted; what they left behind is worked up (A8)."""
        with self.transaction() as connection:
            stale = write(connection, "events", "stale_sessions", {"before": before}).fetchall()
            for row in stale:
                write(connection, "events", "interrupt_session", {"id": row["id"]})
                _close_turn(connection, row["id"], row["prompts"], now, only_if_unclaimed=True)
        return len(stale)

    def add_quarantine(self, name: str, why: str, size: int, at: int) -> None:
        values = {"name": sqlite_safe(name), "why": sqlite_safe(why), "size": size, "at": at}
        with self.transaction() as connection:
            write(connection, "events", "quarantine", values)

    def events_of_job(self, job_id: int) -> list[StoredEvent]:
        return [_stored(r) for r in self.rows("events", "events_of_job", job_id=job_id)]

    def events_of_prompt(self, session_id: int, number: int) -> list[StoredEvent]:
        return [
            _stored(row)
            for row in self.rows(
                "events", "events_of_prompt", session_id=session_id, prompt_number=number
            )
        ]

    def events_before(self, first: StoredEvent, limit: int) -> list[StoredEvent]:
        """Earlier tool events of the same session, oldest first."""
        rows = self.rows(
            "events",
            "events_before",
            session_id=first.session_id,
            at=first.at,
            id=first.id,
            limit=limit,
        )
        return [_stored(row) for row in reversed(rows)]

    def events_of_session(self, session_id: int) -> list[StoredEvent]:
        return [_stored(r) for r in self.rows("events", "events_of_session", session_id=session_id)]


def _add(connection: sqlite3.Connection, arrival: Arrival, now: int) -> int | None:
    """How many turns this event closed; None if it was stored before."""
    event, capture = arrival.event, arrival.capture
    session = _session(connection, arrival)
    session_id = int(session["id"])
    content = digest(capture.body, 32)
    same = {"session_id": session_id, "content_hash": content, "kind": event.kind}
    if event.key is None and write_one(
        connection, "events", "same_content", same | {"at": capture.at, "window": SAME_WITHIN}
    ):
        return None
    number = _prompt_number(connection, session, event)
    stored = write_one(
        connection,
        "events",
        "add_event",
        same
        | {
            "key": sqlite_safe(event.key or f"capture:{capture.id}"),
            "tool": _safe(event.tool),
            "hook": sqlite_safe(capture.hook),
            "capture_id": sqlite_safe(capture.id),
            "at": capture.at,
            "prompt_number": number,
            "subagent_type": _safe(event.subagent.type) if event.subagent else None,
            "boring": arrival.boring,
            "size": len(capture.body),
            "body": zlib.compress(capture.body, FASTEST),
        },
    )
    if stored is None:
        return None
    write(
        connection,
        "events",
        "touch_session",
        {"id": session_id, "at": capture.at, "transcript": _safe(event.transcript)},
    )
    return _apply(connection, arrival, session_id, number, now)


def _apply(
    connection: sqlite3.Connection, arrival: Arrival, session_id: int, number: int, now: int
) -> int:
    """What the event does to its session, and how many turns it ends."""
    at = arrival.capture.at
    match arrival.event.what:
        case PromptSubmitted(by_machine=False, text=text):
            # Esc fires no Stop: the next prompt is what ends the turn before it.
            closed = _close_turn(connection, session_id, number - 1, now, only_if_unclaimed=True)
            row = write_one(connection, "events", "count_prompt", {"id": session_id})
            assert row is not None
            values = {"session_id": session_id, "at": at, "text": sqlite_safe(text)}
            prompt = values | {"number": row[0], "prompt_id": _safe(arrival.event.prompt_id)}
            write(connection, "events", "add_prompt", prompt)
            write(connection, "events", "reopen_session", {"id": session_id})
            return closed
        case SessionStarted():
            write(connection, "events", "reopen_session", {"id": session_id})
        case TurnEnded():
            return _close_turn(connection, session_id, number, now, only_if_unclaimed=False)
        case CompactionBegan():
            # The brief after the compaction should know what went before it.
            return _close_turn(connection, session_id, number, now, only_if_unclaimed=True)
        case SessionEnded():
            closed = _close_turn(connection, session_id, number, now, only_if_unclaimed=True)
            write(connection, "events", "end_session", {"id": session_id, "at": at})
            return closed
        case _:
            pass
    return 0


def _close_turn(
    connection: sqlite3.Connection,
    session_id: int,
    number: int,
    now: int,
    *,
    only_if_unclaimed: bool,
) -> int:
    """Queue the work on everything since the last time, then the summary behind it (B4)."""
    session = {"session_id": session_id}
    waiting = write_one(connection, "events", "unclaimed", session)
    if only_if_unclaimed and not (waiting and waiting[0]):
        return 0
    turn = session | {"prompt_number": number, "now": now}
    # A summary that nobody has begun would be written twice: the later one covers more.
    for row in write(connection, "jobs", "waiting_summary", turn).fetchall():
        write(connection, "jobs", "drop_job", {"id": row["id"]})
    job = write_one(connection, "jobs", "add_job", turn | {"kind": OBSERVE})
    assert job is not None
    write(connection, "events", "claim_events", session | {"job_id": job["id"]})
    write(connection, "jobs", "add_job", turn | {"kind": SUMMARIZE}).fetchall()
    return 1


def _session(connection: sqlite3.Connection, arrival: Arrival) -> Row:
    event, capture = arrival.event, arrival.capture
    values = {
        "agent": event.agent,
        "ref": sqlite_safe(event.session),
        "project_id": arrival.project_id,
        "project_dir": sqlite_safe(capture.project_dir),
        "transcript": _safe(event.transcript),
        "at": capture.at,
    }
    row = write_one(connection, "events", "session_by_ref", values)
    row = row or write_one(connection, "events", "add_session", values)
    assert row is not None
    return row


def _prompt_number(connection: sqlite3.Connection, session: Row, event: Event) -> int:
    """By the prompt's own id: a slow hook may deliver when the next prompt has begun already."""
    if isinstance(event.what, PromptSubmitted) and not event.what.by_machine:
        return int(session["prompts"]) + 1
    if event.prompt_id:
        values = {"session_id": session["id"], "prompt_id": sqlite_safe(event.prompt_id)}
        if row := write_one(connection, "events", "prompt_number", values):
            return int(row[0])
    return int(session["prompts"])


def _safe(text: str | None) -> str | None:
    return None if text is None else sqlite_safe(text)


def _stored(row: Row) -> StoredEvent:
    return StoredEvent(
        id=row["id"],
        session_id=row["session_id"],
        kind=row["kind"],
        prompt_number=row["prompt_number"],
        at=row["at"],
        boring=bool(row["boring"]),
        capture=Capture(
            row["capture_id"], "", row["hook"], "", zlib.decompress(row["body"]), row["at"]
        ),
    )
