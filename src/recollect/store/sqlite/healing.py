"""Healing: what a transcript tells and no hook did is added as if every hook had been delivered.

The transcript's order decides. A prompt that was missing takes its number, what was put down to another
prompt for want of it moves there, and the turns that changed get the jobs they would have had.
"""

import sqlite3
from collections.abc import Iterable

from recollect.model.arrivals import Arrival, Healed, SessionRef
from recollect.model.events import SessionEnded, SessionStarted, TurnEnded
from recollect.store.sqlite import heal_jobs, heal_matching, heal_numbering
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.events import find_session, insert, key_of
from recollect.store.sqlite.heal_jobs import Changed
from recollect.store.sqlite.heal_numbering import is_users


class Healing(Database):
    def heal(self, arrivals: Iterable[Arrival], now: int) -> Healed:
        """Whole turns, in the transcript's order, those that are known among them: they show where the
        others belong. One durable transaction."""
        added = turns = 0
        with self.transaction() as connection:
            for told in _by_session(arrivals):
                one = _heal(connection, told, now)
                added, turns = added + one.added, turns + one.turns
        return Healed(added, turns)


def _by_session(arrivals: Iterable[Arrival]) -> list[list[Arrival]]:
    sessions: dict[SessionRef, list[Arrival]] = {}
    for arrival in arrivals:
        sessions.setdefault((arrival.event.agent, arrival.event.session), []).append(arrival)
    return list(sessions.values())


def _heal(connection: sqlite3.Connection, told: list[Arrival], now: int) -> Healed:
    session = find_session(connection, told[0])
    session_id = int(session["id"])
    missing = heal_matching.missing(connection, session_id, told)
    if not missing:
        return Healed(0, 0)
    changed = Changed()
    asked = sorted((m for m in missing if is_users(m.event)), key=lambda m: m.capture.at)
    numbers = heal_numbering.add_prompts(connection, session_id, asked)
    for number in numbers.values():
        changed.turns |= {number - 1, number}
    late = {numbers[key_of(a)]: a for a in asked if a.capture.at <= session["last_event_at"]}
    if late:
        moved = heal_numbering.place_events(connection, session_id, late)
        changed.move(moved)
        heal_jobs.rehome(connection, session_id, moved, changed, now)
    for arrival in missing:
        own = numbers.get(key_of(arrival))
        number = heal_numbering.number_of(connection, session_id, arrival) if own is None else own
        insert(connection, session_id, number, arrival)
        ended = isinstance(arrival.event.what, TurnEnded)
        (changed.stopped if ended else changed.turns).add(number)
    _status(connection, session, missing)
    return Healed(len(missing), heal_jobs.queue(connection, session_id, changed, now))


def _status(connection: sqlite3.Connection, session: Row, missing: list[Arrival]) -> None:
    """A session is what the last of its beginnings and ends has made of it."""
    framing = [
        m
        for m in missing
        if is_users(m.event) or isinstance(m.event.what, SessionStarted | SessionEnded)
    ]
    if not framing:
        return
    latest = max(framing, key=lambda m: m.capture.at)
    values = {"session_id": session["id"], "id": session["id"], "at": latest.capture.at}
    last = write_one(connection, "healing", "last_framing", values)
    if last is None or last[0] > latest.capture.at:
        return
    ends = isinstance(latest.event.what, SessionEnded)
    write(connection, "sessions", "end" if ends else "reopen", values)
