"""Work on turns that were not what they seemed: they gained events, an end, or lost some to another turn."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from recollect.model.jobs import OBSERVE, SUMMARIZE
from recollect.model.sessions import INTERRUPTED
from recollect.store.sqlite import turns
from recollect.store.sqlite.database import Row, write, write_many, write_one
from recollect.store.sqlite.heal_numbering import Moved
from recollect.store.sqlite.turns import BATCH_EVENTS

Values = dict[str, object]


@dataclass(slots=True)
class Changed:
    """Turns of one session, by number. `rewritten`: what was written about them is out of date anyway."""

    turns: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)
    rewritten: set[int] = field(default_factory=set)
    went_to: dict[int, int] = field(default_factory=dict)

    def move(self, moved: Iterable[Moved]) -> None:
        for event in moved:
            self.rewritten |= {event.old, event.new}
            first = self.went_to.get(event.old, event.new)
            self.went_to[event.old] = min(first, event.new)

    def all(self) -> list[int]:
        return sorted(self.turns | self.stopped | self.rewritten)


def rehome(
    connection: sqlite3.Connection, session_id: int, moved: list[Moved], changed: Changed, now: int
) -> None:
    """A job goes with its events. One that loses some of them is done again without them."""
    write(connection, "healing", "fence", {"session_id": session_id})
    for job_id in {event.job_id for event in moved} - {None}:
        job: Values = {"id": job_id}
        row = write_one(connection, "healing", "numbers_of_job", job)
        assert row is not None
        if not row["kept"]:
            place = job | {"number": row["first"]}
            write(connection, "healing", "move_job", place)
            write(connection, "healing", "move_observations_of_job", place)
        released = write(connection, "healing", "release_events", job).fetchall()
        if released:
            write(connection, "healing", "redo", job | {"now": now})
        changed.rewritten |= {row["prompt_number"] for row in released}


def queue(connection: sqlite3.Connection, session_id: int, changed: Changed, now: int) -> int:
    """The jobs that the turns would have, had everything been told in time. How many turns got some. An
    open turn stays open."""
    session = write_one(connection, "sessions", "one", {"id": session_id})
    assert session is not None
    return sum(_queue(connection, session, number, changed, now) for number in changed.all())


def _queue(
    connection: sqlite3.Connection, session: Row, number: int, changed: Changed, now: int
) -> int:
    turn: Values = {"session_id": session["id"], "prompt_number": number}
    row = write_one(connection, "healing", "turn", turn)
    assert row is not None
    if number in changed.went_to and not row["stopped"] and not row["worth"]:
        _leave(connection, turn, changed.went_to[number])
        return 0
    last = number == session["prompts"] and session["status"] != INTERRUPTED
    closed = 0
    if not last or row["closed_at"] is not None:
        until = turn | {"until": row["closed_at"] if last else None}
        closed = _close(connection, until, row, changed, now)
    if last and row["last_tool"] is not None:
        turns.begin_early(connection, session["id"], number, row["last_tool"], now)
    return closed


def _close(
    connection: sqlite3.Connection, turn: Values, row: Row, changed: Changed, now: int
) -> int:
    """Like `turns.close`, for one turn out of many and up to the time of its end. Work on it that nobody
    has begun is taken back first, so that what was added is not worked up by itself."""
    number = turn["prompt_number"]
    worth, waiting = _worth(connection, turn)
    anew = number in changed.rewritten | changed.stopped and (row["stopped"] or worth)
    if not (waiting or anew or write_one(connection, "healing", "unsummarized", turn)):
        return 0
    write(connection, "healing", "drop_untouched", turn)
    for summary in write(connection, "jobs", "waiting_summary", turn).fetchall():
        write(connection, "jobs", "drop_job", {"id": summary["id"]})
    events = [row["id"] for row in write(connection, "healing", "waiting", turn).fetchall()]
    observed = write_one(connection, "healing", "observed", turn)
    said = row["stopped"] and (number in changed.stopped or not observed)
    for first in range(0, max(len(events), 1 if said else 0), BATCH_EVENTS):
        job = turns.queue_job(connection, turn, now, OBSERVE)
        part = events[first : first + BATCH_EVENTS]
        claims = ({"id": event, "job_id": job} for event in part)
        write_many(connection, "healing", "claim", claims)
    turns.queue_job(connection, turn, now, SUMMARIZE)
    return 1


def _worth(connection: sqlite3.Connection, turn: Values) -> tuple[int, int]:
    """How many events there are to work up, and how many of them wait."""
    row = write_one(connection, "healing", "worth", turn)
    assert row is not None
    return row["worth"], row["waiting"]


def _leave(connection: sqlite3.Connection, turn: Values, to: int) -> None:
    """Nothing is left of this turn: what was written about it was about the other one."""
    values = {"session_id": turn["session_id"], "old": turn["prompt_number"], "new": to}
    write(connection, "summaries", "drop", turn)
    write(connection, "healing", "move_observations", values)
    write(connection, "healing", "move_jobs", values)
