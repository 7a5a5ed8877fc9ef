"""Which of the events that a transcript tells are in the store, and when the others happened."""

import sqlite3
from dataclasses import replace

from recollect.model.arrivals import Arrival
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.events import NEAR, SAME_WITHIN, content_of, key_of
from recollect.store.sqlite.values import safe

# A hook is dated a little later than the transcript's line. Beyond this, the order of the lines says less
# about an event than its own time does.
ASKEW = SAME_WITHIN


def missing(connection: sqlite3.Connection, session_id: int, told: list[Arrival]) -> list[Arrival]:
    """In the order of time, each at one that puts it between its neighbours in the store. A transcript tells
    some things late, such as a prompt that was typed while the agent worked."""
    by_key: dict[str, Arrival] = {}
    for arrival in told:
        by_key.setdefault(key_of(arrival), arrival)
    once = sorted(by_key.values(), key=lambda arrival: arrival.capture.at)
    known = _exact(connection, session_id, once)
    known |= _near(connection, session_id, once, known)
    following: list[int | None] = []
    after: int | None = None
    for place in reversed(range(len(once))):
        after = int(known[place]["at"]) if place in known else after
        following.append(after)
    found = []
    before: int | None = None
    for place, after in enumerate(reversed(following)):
        if place in known:
            before = after
            continue
        capture = once[place].capture
        before = _between(capture.at, before, after)
        found.append(replace(once[place], capture=replace(capture, at=before)))
    return found


def _exact(connection: sqlite3.Connection, session_id: int, told: list[Arrival]) -> dict[int, Row]:
    """By place in `told`."""
    found = {}
    for place, arrival in enumerate(told):
        key = {"session_id": session_id, "key": key_of(arrival)}
        row = write_one(connection, "healing", "by_key", key)
        if row is None and arrival.event.key is None:
            same = content_of(session_id, arrival)
            same |= {"at": arrival.capture.at, "window": SAME_WITHIN}
            row = write_one(connection, "healing", "by_content", same)
        if row is not None:
            found[place] = row
    return found


def _near(
    connection: sqlite3.Connection, session_id: int, told: list[Arrival], known: dict[int, Row]
) -> dict[int, Row]:
    """What frames a turn, by kind and time: the nearest first, and each row for one event only."""
    open_ = {
        place: arrival
        for place, arrival in enumerate(told)
        if place not in known and arrival.event.kind in NEAR
    }
    if not open_:
        return {}
    times = [arrival.capture.at for arrival in open_.values()]
    far = max(NEAR.values())
    limits = {"session_id": session_id, "first": min(times) - far, "last": max(times) + far}
    rows = write(connection, "healing", "framing", limits).fetchall()
    pairs = sorted(
        (abs(row["at"] - arrival.capture.at), place, number)
        for place, arrival in open_.items()
        for number, row in enumerate(rows)
        if _alike(arrival, row)
    )
    taken = {row["id"] for row in known.values()}
    found: dict[int, Row] = {}
    for _, place, number in pairs:
        if place not in found and rows[number]["id"] not in taken:
            found[place] = rows[number]
            taken.add(rows[number]["id"])
    return found


def _alike(arrival: Arrival, row: Row) -> bool:
    event = arrival.event
    same_turn = row["prompt_id"] in (None, safe(event.prompt_id)) or event.prompt_id is None
    near = abs(row["at"] - arrival.capture.at) <= NEAR[event.kind]
    return bool(row["kind"] == event.kind and same_turn and near)


def _between(at: int, before: int | None, after: int | None) -> int:
    """Events of one time stand in the order in which they were stored, so a healed one needs to be
    earlier than what follows it."""
    if before is not None and after is not None and before >= after:
        return at
    if before is not None and before - ASKEW <= at < before:
        return before
    if after is not None and after <= at <= after + ASKEW:
        return after - 1
    return at
