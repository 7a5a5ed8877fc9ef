"""Turns that become work: in parts while they go on, and to the end when they are over."""

import sqlite3
from collections.abc import Mapping

from recollect.clock import MINUTE
from recollect.model.jobs import OBSERVE, SUMMARIZE
from recollect.store.sqlite.database import write, write_one

# A job is one request to a model: no more events than it can do justice to.
BATCH_EVENTS = 30
# So that a long turn is known to other sessions before it ends; a handful is worth a request.
BATCH_AGE = 10 * MINUTE
FEWEST = 5


def begin_early(
    connection: sqlite3.Connection, session_id: int, number: int, at: int, now: int
) -> None:
    """Queue what has piled up when there is enough of it, or some that is old. No summary: the turn goes
    on."""
    waiting = write_one(connection, "events", "unclaimed", {"session_id": session_id})
    assert waiting is not None
    old = waiting["count"] >= FEWEST and at - waiting["oldest"] > BATCH_AGE
    if old or waiting["count"] >= BATCH_EVENTS:
        _queue_events(connection, session_id, number, now, waiting["count"])


def close(
    connection: sqlite3.Connection,
    session_id: int,
    number: int,
    now: int,
    *,
    only_if_open: bool,
) -> int:
    """Queue the work on everything since the last time, then the summary behind it (B4). A turn is open
    while it has events that nobody has taken up, or was taken up in part only."""
    turn = {"session_id": session_id, "prompt_number": number}
    row = write_one(connection, "events", "unclaimed", turn)
    assert row is not None
    waiting = row["count"]
    if only_if_open and not waiting and not write_one(connection, "jobs", "unsummarized", turn):
        return 0
    # A summary that nobody has begun would be written twice: the later one covers more.
    for summary in write(connection, "jobs", "waiting_summary", turn).fetchall():
        write(connection, "jobs", "drop_job", {"id": summary["id"]})
    if waiting or not only_if_open:
        _queue_events(connection, session_id, number, now, waiting)
    _queue(connection, session_id, number, now, SUMMARIZE)
    return 1


def _queue_events(
    connection: sqlite3.Connection, session_id: int, number: int, now: int, waiting: int
) -> None:
    """At least one job: what was said has its own worth, even where nothing was done."""
    for _ in range(0, max(waiting, 1), BATCH_EVENTS):
        job_id = _queue(connection, session_id, number, now, OBSERVE)
        claim = {"session_id": session_id, "job_id": job_id, "limit": BATCH_EVENTS}
        write(connection, "events", "claim", claim)


def _queue(
    connection: sqlite3.Connection, session_id: int, number: int, now: int, kind: str
) -> int:
    turn = {"session_id": session_id, "prompt_number": number}
    return queue_job(connection, turn, now, kind)


def queue_job(
    connection: sqlite3.Connection, turn: Mapping[str, object], now: int, kind: str
) -> int:
    row = write_one(connection, "jobs", "add_job", {**turn, "kind": kind, "now": now})
    assert row is not None
    return int(row["id"])
