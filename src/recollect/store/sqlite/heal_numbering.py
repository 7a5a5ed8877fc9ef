"""Prompt numbers: a prompt that is told late takes its place, and everything behind it moves up."""

import sqlite3
from collections.abc import Container
from dataclasses import dataclass

from recollect.model.arrivals import Arrival
from recollect.model.events import Event, PromptSubmitted
from recollect.store.sqlite.database import Row, write, write_many, write_one
from recollect.store.sqlite.events import key_of
from recollect.store.sqlite.values import safe
from recollect.text import sqlite_safe

NUMBERED = ("move_prompt", "move_events", "move_observations", "move_summaries", "move_jobs")


@dataclass(frozen=True, slots=True)
class Moved:
    """An event that turned out to belong to another prompt."""

    event_id: int
    job_id: int | None
    old: int
    new: int


def is_users(event: Event) -> bool:
    return isinstance(event.what, PromptSubmitted) and not event.what.by_machine


def add_prompts(
    connection: sqlite3.Connection, session_id: int, asked: list[Arrival]
) -> dict[str, int]:
    """The numbers that they got, by key. What follows them has moved up in every table."""
    if not asked:
        return {}
    rows = write(connection, "healing", "prompts", {"session_id": session_id}).fetchall()
    places = [_last_before(rows, arrival.capture.at) for arrival in asked]
    for row in reversed(rows):
        old = int(row["number"])
        new = old + sum(place < old for place in places)
        for table in NUMBERED if new != old else ():
            values = {"session_id": session_id, "old": old, "new": new}
            write(connection, "healing", table, values)
    numbers = {
        key_of(a): place + nth for nth, (place, a) in enumerate(zip(places, asked, strict=True), 1)
    }
    for arrival in asked:
        assert isinstance(arrival.event.what, PromptSubmitted)
        prompt = {
            "session_id": session_id,
            "number": numbers[key_of(arrival)],
            "prompt_id": safe(arrival.event.prompt_id),
            "at": arrival.capture.at,
            "text": sqlite_safe(arrival.event.what.text),
        }
        write(connection, "sessions", "add_prompt", prompt)
    write(connection, "healing", "count_prompts", {"id": session_id})
    return numbers


def place_events(
    connection: sqlite3.Connection, session_id: int, asked: dict[int, Arrival]
) -> list[Moved]:
    """The events that these prompts, by number, were missing for."""
    bases = {number: _known_before(number, asked) for number in asked}
    session: dict[str, object] = {"session_id": session_id}
    found = _place(connection, "misplaced_by_id", session | {"base": min(bases.values())})
    for number in sorted(asked, reverse=True):  # so that each event moves once
        place = {"number": number, "base": bases[number], "at": asked[number].capture.at}
        found += _place(connection, "misplaced_by_time", session | place)
    return found


def _place(connection: sqlite3.Connection, query: str, values: dict[str, object]) -> list[Moved]:
    rows = write(connection, "healing", query, values).fetchall()
    places = ({"id": row["id"], "number": row["number"]} for row in rows)
    write_many(connection, "healing", "place_event", places)
    return [Moved(row["id"], row["job_id"], row["prompt_number"], row["number"]) for row in rows]


def _known_before(number: int, asked: Container[int]) -> int:
    while number in asked:
        number -= 1
    return number


def number_of(connection: sqlite3.Connection, session_id: int, arrival: Arrival) -> int:
    """Of an event that is no prompt of the user's: by its prompt's own id, else by time."""
    if arrival.event.prompt_id:
        turn = {"session_id": session_id, "prompt_id": safe(arrival.event.prompt_id)}
        if row := write_one(connection, "sessions", "prompt_number", turn):
            return int(row["number"])
    when = {"session_id": session_id, "at": arrival.capture.at}
    row = write_one(connection, "healing", "number_by_time", when)
    return int(row[0] or 0) if row else 0


def _last_before(rows: list[Row], at: int) -> int:
    return max((int(row["number"]) for row in rows if row["at"] <= at), default=0)
