"""Events: stored once each, in the session and the turn they belong to; an ended turn becomes jobs."""

import sqlite3
from collections.abc import Iterable

from recollect.clock import MINUTE, SECOND
from recollect.ids import digest
from recollect.model.arrivals import Arrival, Ingested
from recollect.model.captures import Capture
from recollect.model.events import (
    CompactionBegan,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolUsed,
    TurnEnded,
)
from recollect.model.origins import OUR_TOOLS
from recollect.model.stored import StoredEvent
from recollect.store.sqlite import turns
from recollect.store.sqlite.bodies import pack, unpacked
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.values import safe
from recollect.text import sqlite_safe

Values = dict[str, object]

# Two installations of our hooks deliver the same bytes a few milliseconds apart. Where the agent
# gives no id, equal content within this time is one event.
SAME_WITHIN = 5 * SECOND
# What frames a turn has a key made of texts, or none. The transcript may word it otherwise and dates it by
# its own line, so one of the same kind, near enough in time, is the same. A compaction may take minutes.
NEAR = {
    "prompt": 5 * SECOND,
    "stop": 5 * SECOND,
    "session_start": 5 * MINUTE,
    "session_end": 5 * MINUTE,
    "compact": 5 * MINUTE,
}


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

    def interrupt_stale(self, before: int, now: int, only: frozenset[int] | None = None) -> int:
        """Sessions without activity (of those in `only`) become interrupted; what they left behind is
        worked up (A8)."""
        with self.transaction() as connection:
            found = write(connection, "sessions", "stale", {"before": before}).fetchall()
            stale = [row for row in found if only is None or row["id"] in only]
            for row in stale:
                write(connection, "sessions", "interrupt", {"id": row["id"]})
                turns.close(connection, row["id"], row["prompts"], now, only_if_open=True)
        return len(stale)

    def add_quarantine(self, name: str, why: str, size: int, at: int) -> None:
        values = {"name": sqlite_safe(name), "why": sqlite_safe(why), "size": size, "at": at}
        with self.transaction() as connection:
            write(connection, "events", "quarantine", values)

    def trim_quarantine(self, before: int, most: int) -> int:
        """Reasons that are older, and the oldest of too many. How many went."""
        if not self.rows("events", "old_quarantine", before=before, most=most):
            return 0  # no transaction for nothing
        with self.transaction() as connection:
            values = {"before": before, "most": most}
            return write(connection, "events", "trim_quarantine", values).rowcount

    def events_of_job(self, job_id: int) -> list[StoredEvent]:
        return stored(self.each("events", "of_job", job_id=job_id))

    def events_of_prompt(self, session_id: int, number: int) -> list[StoredEvent]:
        turn = {"session_id": session_id, "prompt_number": number}
        return stored(self.each("events", "of_prompt", **turn))

    def stops_of_prompt(self, session_id: int, number: int) -> list[StoredEvent]:
        """What the agent said at its ends; most turns have one."""
        turn = {"session_id": session_id, "prompt_number": number}
        return stored(self.each("events", "stops_of_prompt", **turn))

    def last_time_of_prompt(self, session_id: int, number: int) -> int | None:
        turn = {"session_id": session_id, "prompt_number": number}
        row = self.row("events", "last_time_of_prompt", **turn)
        return row[0] if row else None

    def events_before(self, first: StoredEvent, limit: int) -> list[StoredEvent]:
        """Earlier tool events of the same session, oldest first."""
        values = {"session_id": first.session_id, "at": first.at, "id": first.id, "limit": limit}
        return stored(self.each("events", "before", **values))[::-1]

    def recalling_events(self, session_id: int, limit: int) -> list[StoredEvent]:
        """What the session has asked recollect itself, newest first."""
        ours, plugins = OUR_TOOLS
        values = {"session_id": session_id, "ours": ours, "plugins": plugins, "limit": limit}
        return stored(self.rows("events", "recalling", **values))

    def newest_event(self) -> int:
        """Its id; 0 if there is none."""
        row = self.row("events", "newest")
        return int(row[0]) if row else 0

    def last_compaction(self, session_id: int) -> int | None:
        row = self.row("events", "last_compaction", session_id=session_id)
        return row[0] if row else None


def _add(connection: sqlite3.Connection, arrival: Arrival, now: int) -> int | None:
    """How many turns this event closed; None if it was stored before."""
    session = find_session(connection, arrival)
    session_id = int(session["id"])
    if _delivered_before(connection, session_id, arrival):
        return None
    number = _prompt_number(connection, session, arrival.event)
    if not insert(connection, session_id, number, arrival):
        return None
    return _apply(connection, arrival, session_id, number, now)


def insert(connection: sqlite3.Connection, session_id: int, number: int, arrival: Arrival) -> bool:
    """The event's row, and its session's times. False if its key is there already."""
    event, capture = arrival.event, arrival.capture
    stored = write_one(
        connection,
        "events",
        "add",
        content_of(session_id, arrival)
        | {
            "key": key_of(arrival),
            "tool": safe(event.tool),
            "hook": sqlite_safe(capture.hook),
            "capture_id": sqlite_safe(capture.id),
            "at": capture.at,
            "prompt_number": number,
            "prompt_id": safe(event.prompt_id),
            "subagent_type": safe(event.subagent.type) if event.subagent else None,
            "boring": arrival.boring,
            "healed": arrival.healed,
            "size": len(capture.body),
            "body": pack(capture.body),
        },
    )
    if stored is None:
        return False
    times = {"id": session_id, "at": capture.at, "transcript": safe(event.transcript)}
    write(connection, "sessions", "touch", times)
    return True


def key_of(arrival: Arrival) -> str:
    return sqlite_safe(arrival.event.key or f"capture:{arrival.capture.id}")


def content_of(session_id: int, arrival: Arrival) -> Values:
    content = digest(arrival.capture.body, 32)
    return {"session_id": session_id, "content_hash": content, "kind": arrival.event.kind}


def _delivered_before(connection: sqlite3.Connection, session_id: int, arrival: Arrival) -> bool:
    """What the key does not tell: the same bytes from two hooks, or a hook behind the transcript."""
    event, at = arrival.event, arrival.capture.at
    near = NEAR.get(event.kind)
    if near is not None:
        framing: Values = {"session_id": session_id, "kind": event.kind, "at": at, "window": near}
        told = framing | {"prompt_id": safe(event.prompt_id)}
        if write_one(connection, "healing", "told_already", told):
            return True
    if event.key is not None:
        return False
    same = content_of(session_id, arrival) | {"at": at, "window": SAME_WITHIN}
    return write_one(connection, "events", "same_content", same) is not None


def _apply(
    connection: sqlite3.Connection, arrival: Arrival, session_id: int, number: int, now: int
) -> int:
    """What the event does to its session, and how many turns it ends."""
    at = arrival.capture.at
    match arrival.event.what:
        case PromptSubmitted(by_machine=False, text=text):
            # Esc fires no Stop: the next prompt is what ends the turn before it.
            closed = turns.close(connection, session_id, number - 1, now, only_if_open=True)
            row = write_one(connection, "sessions", "count_prompt", {"id": session_id})
            assert row is not None
            values = {"session_id": session_id, "at": at, "text": sqlite_safe(text)}
            prompt = values | {"number": row[0], "prompt_id": safe(arrival.event.prompt_id)}
            write(connection, "sessions", "add_prompt", prompt)
            write(connection, "sessions", "reopen", {"id": session_id})
            return closed
        case SessionStarted():
            write(connection, "sessions", "reopen", {"id": session_id})
        case TurnEnded():
            return turns.close(connection, session_id, number, now, only_if_open=False)
        case CompactionBegan():
            # The brief after the compaction should know what went before it.
            return turns.close(connection, session_id, number, now, only_if_open=True)
        case SessionEnded():
            closed = turns.close(connection, session_id, number, now, only_if_open=True)
            write(connection, "sessions", "end", {"id": session_id, "at": at})
            return closed
        case ToolUsed() if not arrival.boring:
            turns.begin_early(connection, session_id, number, at, now)
        case _:
            pass
    return 0


def find_session(connection: sqlite3.Connection, arrival: Arrival) -> Row:
    """The arrival's own; made if it is new."""
    event, capture = arrival.event, arrival.capture
    values = {
        "agent": event.agent,
        "ref": sqlite_safe(event.session),
        "project_id": arrival.project_id,
        "project_dir": sqlite_safe(capture.project_dir),
        "transcript": safe(event.transcript),
        "at": capture.at,
    }
    row = write_one(connection, "sessions", "by_ref", values)
    row = row or write_one(connection, "sessions", "add", values)
    assert row is not None
    return row


def _prompt_number(connection: sqlite3.Connection, session: Row, event: Event) -> int:
    """By the prompt's own id: a slow hook may deliver when the next prompt has begun already."""
    if isinstance(event.what, PromptSubmitted) and not event.what.by_machine:
        return int(session["prompts"]) + 1
    if event.prompt_id:
        values = {"session_id": session["id"], "prompt_id": sqlite_safe(event.prompt_id)}
        if row := write_one(connection, "sessions", "prompt_number", values):
            return int(row[0])
    return int(session["prompts"])


def stored(rows: Iterable[Row]) -> list[StoredEvent]:
    return [stored_event(row, body) for row, body in unpacked(rows)]


def stored_event(row: Row, body: bytes) -> StoredEvent:
    return StoredEvent(
        id=row["id"],
        session_id=row["session_id"],
        kind=row["kind"],
        prompt_number=row["prompt_number"],
        at=row["at"],
        boring=bool(row["boring"]),
        capture=Capture(row["capture_id"], "", row["hook"], "", body, row["at"]),
    )
