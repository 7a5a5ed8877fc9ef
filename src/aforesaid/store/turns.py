"""Rows of events, and turns that become jobs: in parts while they go on, and to the end when they are
over."""

from collections.abc import Iterable
from typing import Any

from aforesaid.clock import MINUTE, SECOND
from aforesaid.ids import digest
from aforesaid.model.events import Arrival, Capture, StoredEvent
from aforesaid.model.jobs import OBSERVE, SUMMARIZE
from aforesaid.store.database import Connection, Row
from aforesaid.store.values import make, pack, read_row, unpacked

Values = dict[str, Any]

# A job is one request to a model: no more events than it can do justice to.
BATCH_EVENTS = 30
# So that a long turn is known to other sessions before it ends; a handful is worth a request.
BATCH_AGE = 10 * MINUTE
FEWEST = 5
# Two installations of our hooks deliver the same bytes a few milliseconds apart. Where the agent
# gives no id, equal content within this time is one event.
SAME_WITHIN = 5 * SECOND
# Events that frame a turn have a key made of texts, or none. The transcript may word them otherwise and dates
# them by its own line, so one of the same kind, near enough in time, is the same. A compaction may take
# minutes.
NEAR = {
    "prompt": 5 * SECOND,
    "stop": 5 * SECOND,
    "session_start": 5 * MINUTE,
    "session_end": 5 * MINUTE,
    "compact": 5 * MINUTE,
}


def insert(db: Connection, session_id: int, number: int, arrival: Arrival) -> bool:
    """The event's row, and its session's times. False if its key is there already."""
    event, capture = arrival.event, arrival.capture
    values = content_of(session_id, arrival) | {
        "key": key_of(arrival),
        "tool": event.tool,
        "hook": capture.hook,
        "capture_id": capture.id,
        "at": capture.at,
        "prompt_number": number,
        "prompt_id": event.prompt_id,
        "subagent_type": event.subagent.type if event.subagent else None,
        "boring": arrival.boring,
        "healed": arrival.healed,
        "size": len(capture.body),
        "body": pack(capture.body),
    }
    if db.row("events", "add", **values) is None:
        return False
    db.run("sessions", "touch", id=session_id, at=capture.at, transcript=event.transcript)
    return True


def key_of(arrival: Arrival) -> str:
    return arrival.event.key or f"capture:{arrival.capture.id}"


def content_of(session_id: int, arrival: Arrival) -> Values:
    content = digest(arrival.capture.body, 32)
    return {"session_id": session_id, "content_hash": content, "kind": arrival.event.kind}


def find_session(db: Connection, arrival: Arrival) -> Row:
    """The arrival's own; created if it is new."""
    event, capture = arrival.event, arrival.capture
    values = {
        "agent": event.agent,
        "ref": event.session,
        "project_id": arrival.project_id,
        "project_dir": capture.project_dir,
        "transcript": event.transcript,
        "at": capture.at,
    }
    return db.row("sessions", "by_ref", **values) or db.only("sessions", "add", **values)


def stored(rows: Iterable[Row]) -> list[StoredEvent]:
    return [stored_event(row, body) for row, body in unpacked(rows)]


def stored_event(row: Row, body: bytes) -> StoredEvent:
    capture = Capture(row["capture_id"], "", row["hook"], "", body, row["at"])
    return make(StoredEvent, read_row(row), capture=capture)


def begin_early(db: Connection, session_id: int, number: int, at: int, now: int) -> None:
    """Queues what has piled up when there is enough of it, or some that is old; no summary."""
    turn = {"session_id": session_id, "prompt_number": number}
    waiting = db.only("events", "unclaimed", **turn)
    old = waiting["count"] >= FEWEST and at - waiting["oldest"] > BATCH_AGE
    if old or waiting["count"] >= BATCH_EVENTS:
        _queue_events(db, turn, now, waiting["count"])


def close(db: Connection, session_id: int, number: int, now: int, *, only_if_open: bool) -> int:
    """Queues the work on everything since the last time, then the summary (B4); 1 if it did. A turn is open
    while it has unclaimed events, or was processed in part only."""
    turn = {"session_id": session_id, "prompt_number": number}
    waiting = db.only("events", "unclaimed", **turn)["count"]
    if only_if_open and not waiting and not db.row("jobs", "unsummarized", **turn):
        return 0
    # A summary that was not begun would be written twice: the later one covers more.
    db.run("jobs", "drop_waiting_summary", **turn)
    if waiting or not only_if_open:
        _queue_events(db, turn, now, waiting)
    queue_job(db, turn, now, SUMMARIZE)
    return 1


def _queue_events(db: Connection, turn: Values, now: int, waiting: int) -> None:
    """At least one job: what the agent wrote matters, even where nothing was done."""
    for _ in range(0, max(waiting, 1), BATCH_EVENTS):
        job_id = queue_job(db, turn, now, OBSERVE)
        db.run("events", "claim", **turn, job_id=job_id, limit=BATCH_EVENTS)


def queue_job(db: Connection, turn: Values, now: int, kind: str) -> int:
    return db.number("jobs", "add_job", **turn, kind=kind, now=now)
