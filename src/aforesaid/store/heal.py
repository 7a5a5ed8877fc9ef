"""Healing: events that a transcript has and no hook delivered are added as if every hook had been delivered.

The transcript's order decides. A missing prompt gets its number, events that were assigned to another
prompt for want of it move there, and the turns that changed get the jobs they would have had.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aforesaid.model.events import (
    AgentMessage,
    Arrival,
    Event,
    Healed,
    PromptSubmitted,
    SessionEnded,
    SessionRef,
    SessionStarted,
    TurnEnded,
)
from aforesaid.model.jobs import OBSERVE, SUMMARIZE
from aforesaid.model.sessions import INTERRUPTED
from aforesaid.store import turns
from aforesaid.store.database import Row, write, write_many, write_one
from aforesaid.store.turns import (
    BATCH_EVENTS,
    NEAR,
    SAME_WITHIN,
    content_of,
    find_session,
    insert,
    key_of,
)
from aforesaid.store.values import safe
from aforesaid.text import sqlite_safe

Values = dict[str, object]
NUMBERED = ("move_prompt", "move_events", "move_observations", "move_summaries", "move_jobs")


@dataclass(slots=True)
class _Changes:
    """Turns of one session, by number: `grown` by events, `stopped` by an end, `rewritten` because events
    moved. `moved_to`: the first turn that took events of another."""

    grown: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)
    rewritten: set[int] = field(default_factory=set)
    moved_to: dict[int, int] = field(default_factory=dict)


def heal(connection: sqlite3.Connection, arrivals: Iterable[Arrival], now: int) -> Healed:
    """Whole turns, in the transcript's order, those that are known among them: they show where the others
    belong."""
    sessions: dict[SessionRef, list[Arrival]] = {}
    for arrival in arrivals:
        sessions.setdefault((arrival.event.agent, arrival.event.session), []).append(arrival)
    healed = [_heal_session(connection, each, now) for each in sessions.values()]
    return Healed(sum(each.added for each in healed), sum(each.turns for each in healed))


def _heal_session(connection: sqlite3.Connection, told: list[Arrival], now: int) -> Healed:
    session = find_session(connection, told[0])
    session_id = int(session["id"])
    missing = _find_missing(connection, session_id, told)
    if not missing:
        return Healed(0, 0)
    messages = sum(isinstance(each.event.what, AgentMessage) for each in missing)
    changes = _Changes()
    asked = sorted((each for each in missing if _is_users(each.event)), key=_time)
    numbers = _add_prompts(connection, session_id, asked)
    for number in numbers.values():
        changes.grown |= {number - 1, number}
    late = {numbers[key_of(a)]: a for a in asked if a.capture.at <= session["last_event_at"]}
    if late:
        moved = _move_events(connection, session_id, late)
        _move_jobs(connection, session_id, moved, changes, now)
    for arrival in missing:
        own = numbers.get(key_of(arrival))
        number = _prompt_number(connection, session_id, arrival) if own is None else own
        is_message = isinstance(arrival.event.what, AgentMessage)
        insert(connection, session_id, number, replace(arrival, healed=not is_message))
        if is_message:
            continue  # no hook has it, so its turn has what it needs
        ended = isinstance(arrival.event.what, TurnEnded)
        (changes.stopped if ended else changes.grown).add(number)
    _set_status(connection, session, missing)
    session = write_one(connection, "sessions", "one", {"id": session_id}) or session
    changed = sorted(changes.grown | changes.stopped | changes.rewritten)
    queued = [_queue_turn(connection, session, number, changes, now) for number in changed]
    return Healed(len(missing) - messages, sum(queued))


def _set_status(connection: sqlite3.Connection, session: Row, missing: list[Arrival]) -> None:
    """By the last of the session's beginnings and ends."""
    framing = [
        each
        for each in missing
        if _is_users(each.event) or isinstance(each.event.what, SessionStarted | SessionEnded)
    ]
    if not framing:
        return
    latest = max(framing, key=_time)
    values = {"session_id": session["id"], "id": session["id"], "at": latest.capture.at}
    last = write_one(connection, "healing", "last_framing", values)
    if last is None or last[0] > latest.capture.at:
        return
    ends = isinstance(latest.event.what, SessionEnded)
    write(connection, "sessions", "end" if ends else "reopen", values)


def _find_missing(
    connection: sqlite3.Connection, session_id: int, told: list[Arrival]
) -> list[Arrival]:
    """In the order of time, each at a time between its neighbours in the store. A transcript has some events
    late, such as a prompt that was typed while the agent worked."""
    by_key: dict[str, Arrival] = {}
    for arrival in told:
        by_key.setdefault(key_of(arrival), arrival)
    once = sorted(by_key.values(), key=_time)
    known = _match_exactly(connection, session_id, once)
    known |= _match_by_time(connection, session_id, once, known)
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
        before = _time_between(capture.at, before, after)
        found.append(replace(once[place], capture=replace(capture, at=before)))
    return found


def _match_exactly(
    connection: sqlite3.Connection, session_id: int, told: list[Arrival]
) -> dict[int, Row]:
    """The stored rows by place in `told`: by key, else by content."""
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


def _match_by_time(
    connection: sqlite3.Connection, session_id: int, told: list[Arrival], known: dict[int, Row]
) -> dict[int, Row]:
    """Events that frame a turn, by kind and time: the nearest first, and each row for one event only."""
    unmatched = {
        place: arrival
        for place, arrival in enumerate(told)
        if place not in known and arrival.event.kind in NEAR
    }
    if not unmatched:
        return {}
    times = [arrival.capture.at for arrival in unmatched.values()]
    far = max(NEAR.values())
    limits = {"session_id": session_id, "first": min(times) - far, "last": max(times) + far}
    rows = write(connection, "healing", "framing", limits).fetchall()
    pairs = sorted(
        (abs(row["at"] - arrival.capture.at), place, number)
        for place, arrival in unmatched.items()
        for number, row in enumerate(rows)
        if _is_same(arrival, row)
    )
    taken = {row["id"] for row in known.values()}
    found: dict[int, Row] = {}
    for _, place, number in pairs:
        if place not in found and rows[number]["id"] not in taken:
            found[place] = rows[number]
            taken.add(rows[number]["id"])
    return found


def _is_same(arrival: Arrival, row: Row) -> bool:
    event = arrival.event
    same_turn = row["prompt_id"] in (None, safe(event.prompt_id)) or event.prompt_id is None
    near = abs(row["at"] - arrival.capture.at) <= NEAR[event.kind]
    return bool(row["kind"] == event.kind and same_turn and near)


def _time_between(at: int, before: int | None, after: int | None) -> int:
    """Events of one time are in the order in which they were stored, so a healed one has to be earlier than
    what follows it. A hook is dated a little later than the transcript's line; beyond that, the event's own
    time says more than the order of the lines."""
    if before is not None and after is not None and before >= after:
        return at
    if before is not None and before - SAME_WITHIN <= at < before:
        return before
    if after is not None and after <= at <= after + SAME_WITHIN:
        return after - 1
    return at


def _is_users(event: Event) -> bool:
    return isinstance(event.what, PromptSubmitted) and not event.what.by_machine


def _time(arrival: Arrival) -> int:
    return arrival.capture.at


def _add_prompts(
    connection: sqlite3.Connection, session_id: int, asked: list[Arrival]
) -> dict[str, int]:
    """Their numbers by key. What follows them is renumbered in every table, the highest first."""
    if not asked:
        return {}
    rows = write(connection, "healing", "prompts", {"session_id": session_id}).fetchall()
    places = [
        max((int(row["number"]) for row in rows if row["at"] <= each.capture.at), default=0)
        for each in asked
    ]
    for row in reversed(rows):
        old = int(row["number"])
        new = old + sum(place < old for place in places)
        for table in NUMBERED if new != old else ():
            values = {"session_id": session_id, "old": old, "new": new}
            write(connection, "healing", table, values)
    numbers: dict[str, int] = {}
    for nth, (place, arrival) in enumerate(zip(places, asked, strict=True), 1):
        assert isinstance(arrival.event.what, PromptSubmitted)
        numbers[key_of(arrival)] = place + nth
        prompt = {
            "session_id": session_id,
            "number": place + nth,
            "prompt_id": safe(arrival.event.prompt_id),
            "at": arrival.capture.at,
            "text": sqlite_safe(arrival.event.what.text),
        }
        write(connection, "sessions", "add_prompt", prompt)
    write(connection, "healing", "count_prompts", {"id": session_id})
    return numbers


def _move_events(
    connection: sqlite3.Connection, session_id: int, asked: dict[int, Arrival]
) -> list[Row]:
    """Moves the events that belong to these prompts, by number. The rows as they were, with the new
    number."""
    bases = {}
    for number in asked:
        bases[number] = number
        while bases[number] in asked:
            bases[number] -= 1
    session: Values = {"session_id": session_id}
    steps = [("misplaced_by_id", session | {"base": min(bases.values())})]
    for number in sorted(asked, reverse=True):  # so that each event moves once
        place = {"number": number, "base": bases[number], "at": asked[number].capture.at}
        steps.append(("misplaced_by_time", session | place))
    moved: list[Row] = []
    for query, values in steps:
        rows = write(connection, "healing", query, values).fetchall()
        places = ({"id": row["id"], "number": row["number"]} for row in rows)
        write_many(connection, "healing", "place_event", places)
        moved += rows
    return moved


def _prompt_number(connection: sqlite3.Connection, session_id: int, arrival: Arrival) -> int:
    """By its prompt's own id, else by time."""
    if arrival.event.prompt_id:
        turn = {"session_id": session_id, "prompt_id": safe(arrival.event.prompt_id)}
        if row := write_one(connection, "sessions", "prompt_number", turn):
            return int(row["number"])
    when = {"session_id": session_id, "at": arrival.capture.at}
    row = write_one(connection, "healing", "number_by_time", when)
    return int(row[0] or 0) if row else 0


def _move_jobs(
    connection: sqlite3.Connection, session_id: int, moved: list[Row], changes: _Changes, now: int
) -> None:
    """A job goes with its events. One that loses some of them is done again without them."""
    for event in moved:
        old, new = event["prompt_number"], event["number"]
        changes.rewritten |= {old, new}
        changes.moved_to[old] = min(changes.moved_to.get(old, new), new)
    write(connection, "healing", "fence", {"session_id": session_id})
    for job_id in {event["job_id"] for event in moved} - {None}:
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
        changes.rewritten |= {row["prompt_number"] for row in released}


def _queue_turn(
    connection: sqlite3.Connection, session: Row, number: int, changes: _Changes, now: int
) -> int:
    """The jobs that the turn would have, had everything been delivered in time; 1 if it got some. An open
    turn stays open."""
    turn: Values = {"session_id": session["id"], "prompt_number": number}
    row = write_one(connection, "healing", "turn", turn)
    assert row is not None
    if number in changes.moved_to and not row["stopped"] and not row["worth"]:
        # Nothing is left of this turn: what was written about it was about the other one.
        values = {"session_id": session["id"], "old": number, "new": changes.moved_to[number]}
        write(connection, "summaries", "drop", turn)
        write(connection, "healing", "move_observations", values)
        write(connection, "healing", "move_jobs", values)
        return 0
    last = number == session["prompts"] and session["status"] != INTERRUPTED
    closed = 0
    if not last or row["closed_at"] is not None:
        until = turn | {"until": row["closed_at"] if last else None}
        closed = _close_turn(connection, until, row, changes, now)
    if last and row["last_tool"] is not None:
        turns.begin_early(connection, session["id"], number, row["last_tool"], now)
    return closed


def _close_turn(
    connection: sqlite3.Connection, turn: Values, row: Row, changes: _Changes, now: int
) -> int:
    """Like `turns.close`, for one turn out of many and up to the time of its end. Jobs that nobody has begun
    are replaced, so that what was added is not processed by itself."""
    number = turn["prompt_number"]
    found = write_one(connection, "healing", "worth", turn)
    assert found is not None
    changed = number in changes.rewritten | changes.stopped and (row["stopped"] or found["worth"])
    unsummarized = write_one(connection, "healing", "unsummarized", turn)
    if not (found["waiting"] or changed or unsummarized):
        return 0
    write(connection, "healing", "drop_untouched", turn)
    write(connection, "jobs", "drop_waiting_summary", turn)
    events = [row["id"] for row in write(connection, "healing", "waiting", turn).fetchall()]
    observed = write_one(connection, "healing", "observed", turn)
    said = row["stopped"] and (number in changes.stopped or not observed)
    for first in range(0, max(len(events), 1 if said else 0), BATCH_EVENTS):
        job = turns.queue_job(connection, turn, now, OBSERVE)
        part = events[first : first + BATCH_EVENTS]
        claims = ({"id": event, "job_id": job} for event in part)
        write_many(connection, "healing", "claim", claims)
    turns.queue_job(connection, turn, now, SUMMARIZE)
    return 1
