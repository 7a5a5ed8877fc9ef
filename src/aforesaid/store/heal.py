"""Healing: events that a transcript has and no hook delivered are added as if every hook had been delivered.

The transcript's order decides. A missing prompt gets its number, events that were assigned to another
prompt for want of it move there, and the turns that changed get the jobs they would have had.
"""

from collections.abc import Iterable
from dataclasses import replace

from aforesaid.model.events import (
    Arrival,
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
from aforesaid.store.database import Connection, Row
from aforesaid.store.turns import (
    BATCH_EVENTS,
    NEAR,
    SAME_WITHIN,
    Values,
    content_of,
    find_session,
    insert,
    key_of,
)
from aforesaid.store.values import safe

NUMBERED = ("move_prompt", "move_events", "move_observations", "move_summaries", "move_jobs")


def heal(db: Connection, arrivals: Iterable[Arrival], now: int) -> Healed:
    """Whole turns, in the transcript's order; known events show where the others belong."""
    sessions: dict[SessionRef, list[Arrival]] = {}
    for arrival in arrivals:
        sessions.setdefault((arrival.event.agent, arrival.event.session), []).append(arrival)
    healed = [_Healing(db, find_session(db, each[0]), now).run(each) for each in sessions.values()]
    return Healed(sum(each.added for each in healed), sum(each.turns for each in healed))


class _Healing:
    """Of one session. Its turns that change, by number: `grown` by events, `stopped` by an end, `rewritten`
    because events moved. `moved_to`: the first turn that took events of another."""

    def __init__(self, db: Connection, session: Row, now: int) -> None:
        self._db, self._session, self._now = db, session, now
        self._id = {"session_id": int(session["id"])}
        self._grown: set[int] = set()
        self._stopped: set[int] = set()
        self._rewritten: set[int] = set()
        self._moved_to: dict[int, int] = {}

    def run(self, transcript: list[Arrival]) -> Healed:
        missing = self._find_missing(transcript)
        if not missing:
            return Healed(0, 0)
        asked = sorted((each for each in missing if _is_users(each)), key=_time)
        numbers = self._add_prompts(asked)
        for number in numbers.values():
            self._grown |= {number - 1, number}
        last = self._session["last_event_at"]
        late = {numbers[key_of(each)]: each for each in asked if each.capture.at <= last}
        if late:
            self._move_jobs(self._move_events(late))
        for arrival in missing:
            own = numbers.get(key_of(arrival))
            number = self._prompt_number(arrival) if own is None else own
            insert(self._db, self._id["session_id"], number, arrival)
            ended = isinstance(arrival.event.what, TurnEnded)
            (self._stopped if ended else self._grown).add(number)
        self._set_status(missing)
        self._session = self._db.only("sessions", "one", id=self._session["id"])
        changed = sorted(self._grown | self._stopped | self._rewritten)
        return Healed(len(missing), sum(map(self._queue_turn, changed)))

    def _set_status(self, missing: list[Arrival]) -> None:
        """By the last of the session's beginnings and ends."""
        limits = SessionStarted | SessionEnded
        framing = [
            each for each in missing if _is_users(each) or isinstance(each.event.what, limits)
        ]
        if not framing:
            return
        latest = max(framing, key=_time)
        last = self._db.row("healing", "last_framing", **self._id)
        if last is not None and last[0] <= latest.capture.at:
            ends = isinstance(latest.event.what, SessionEnded)
            values = {"id": self._session["id"], "at": latest.capture.at}
            self._db.run("sessions", "end" if ends else "reopen", **values)

    def _find_missing(self, transcript: list[Arrival]) -> list[Arrival]:
        """In the order of time, each at a time between its neighbours in the store. A transcript has some
        events late, such as a prompt that was typed while the agent worked."""
        by_key: dict[str, Arrival] = {}
        for arrival in transcript:
            by_key.setdefault(key_of(arrival), arrival)
        once = sorted(by_key.values(), key=_time)
        known = self._match_exactly(once)
        known |= self._match_by_time(once, known)
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

    def _match_exactly(self, transcript: list[Arrival]) -> dict[int, Row]:
        """The stored rows by place in `transcript`: by key, else by content."""
        found = {}
        for place, arrival in enumerate(transcript):
            row = self._db.row("healing", "by_key", **self._id, key=key_of(arrival))
            if row is None and arrival.event.key is None:
                same = content_of(self._id["session_id"], arrival)
                same |= {"at": arrival.capture.at, "window": SAME_WITHIN}
                row = self._db.row("healing", "by_content", **same)
            if row is not None:
                found[place] = row
        return found

    def _match_by_time(self, transcript: list[Arrival], known: dict[int, Row]) -> dict[int, Row]:
        """Events that frame a turn, by kind and time: the nearest first, and each row for one event only."""
        unmatched = {
            place: arrival
            for place, arrival in enumerate(transcript)
            if place not in known and arrival.event.kind in NEAR
        }
        if not unmatched:
            return {}
        times = [arrival.capture.at for arrival in unmatched.values()]
        far = max(NEAR.values())
        limits = {"first": min(times) - far, "last": max(times) + far}
        rows = self._db.rows("healing", "framing", **self._id, **limits)
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

    def _add_prompts(self, asked: list[Arrival]) -> dict[str, int]:
        """Their numbers by key. What follows them is renumbered in every table, the highest first."""
        if not asked:
            return {}
        rows = self._db.rows("healing", "prompts", **self._id)
        places = [
            max((int(row["number"]) for row in rows if row["at"] <= each.capture.at), default=0)
            for each in asked
        ]
        for row in reversed(rows):
            old = int(row["number"])
            new = old + sum(place < old for place in places)
            for table in NUMBERED if new != old else ():
                self._db.run("healing", table, **self._id, old=old, new=new)
        numbers: dict[str, int] = {}
        for nth, (place, arrival) in enumerate(zip(places, asked, strict=True), 1):
            event = arrival.event
            assert isinstance(event.what, PromptSubmitted)
            numbers[key_of(arrival)] = place + nth
            prompt = {"number": place + nth, "prompt_id": event.prompt_id, "text": event.what.text}
            self._db.run("sessions", "add_prompt", **self._id, **prompt, at=arrival.capture.at)
        self._db.run("healing", "count_prompts", id=self._session["id"])
        return numbers

    def _move_events(self, asked: dict[int, Arrival]) -> list[Row]:
        """Moves the events that belong to these prompts. The rows as they were, and the new number."""
        bases = {}
        for number in asked:
            bases[number] = number
            while bases[number] in asked:
                bases[number] -= 1
        steps: list[tuple[str, Values]] = [("misplaced_by_id", {"base": min(bases.values())})]
        for number in sorted(asked, reverse=True):  # so that each event moves once
            place = {"number": number, "base": bases[number], "at": asked[number].capture.at}
            steps.append(("misplaced_by_time", place))
        moved: list[Row] = []
        for query, values in steps:
            rows = self._db.rows("healing", query, **self._id, **values)
            for row in rows:
                self._db.run("healing", "place_event", id=row["id"], number=row["number"])
            moved += rows
        return moved

    def _prompt_number(self, arrival: Arrival) -> int:
        """By its prompt's own id, else by time."""
        if prompt_id := arrival.event.prompt_id:
            turn = self._id | {"prompt_id": prompt_id}
            if row := self._db.row("sessions", "prompt_number", **turn):
                return int(row["number"])
        return self._db.number("healing", "number_by_time", **self._id, at=arrival.capture.at)

    def _move_jobs(self, moved: list[Row]) -> None:
        """A job goes with its events. One that loses some of them is done again without them."""
        for event in moved:
            old, new = event["prompt_number"], event["number"]
            self._rewritten |= {old, new}
            self._moved_to[old] = min(self._moved_to.get(old, new), new)
        self._db.run("healing", "fence", **self._id)
        for job_id in {event["job_id"] for event in moved} - {None}:
            row = self._db.only("healing", "numbers_of_job", id=job_id)
            for step in () if row["kept"] else ("move_job", "move_observations_of_job"):
                self._db.run("healing", step, id=job_id, number=row["first"])
            released = self._db.rows("healing", "release_events", id=job_id)
            if released:
                self._db.run("healing", "redo", id=job_id, now=self._now)
            self._rewritten |= {row["prompt_number"] for row in released}

    def _queue_turn(self, number: int) -> int:
        """The jobs that it would have if all had come in time; 1 if it got some. An open turn stays open."""
        turn = self._id | {"prompt_number": number}
        row = self._db.only("healing", "turn", **turn)
        if number in self._moved_to and not row["stopped"] and not row["worth"]:
            # Nothing is left of this turn: what was written about it was about the other one.
            self._db.run("summaries", "drop", **turn)
            for table in ("move_observations", "move_jobs"):
                self._db.run("healing", table, **self._id, old=number, new=self._moved_to[number])
            return 0
        last = number == self._session["prompts"] and self._session["status"] != INTERRUPTED
        closed = 0
        if not last or row["closed_at"] is not None:
            closed = self._close_turn(number, row["closed_at"] if last else None, row)
        if last and row["last_tool"] is not None:
            turns.begin_early(self._db, self._session["id"], number, row["last_tool"], self._now)
        return closed

    def _close_turn(self, number: int, until: int | None, row: Row) -> int:
        """Like `turns.close`, for one turn out of many and up to the time of its end. Jobs that nobody has
        begun are replaced, so that what was added is not processed by itself."""
        turn: Values = self._id | {"prompt_number": number}
        period = turn | {"until": until}
        found = self._db.only("healing", "worth", **period)
        changed = number in self._rewritten | self._stopped and (row["stopped"] or found["worth"])
        unsummarized = self._db.row("healing", "unsummarized", **period)
        if not (found["waiting"] or changed or unsummarized):
            return 0
        self._db.run("healing", "drop_untouched", **turn)
        self._db.run("jobs", "drop_waiting_summary", **turn)
        events = [row["id"] for row in self._db.rows("healing", "waiting", **period)]
        observed = self._db.row("healing", "observed", **turn)
        says = row["stopped"] and (number in self._stopped or not observed)
        for first in range(0, max(len(events), 1 if says else 0), BATCH_EVENTS):
            job = turns.queue_job(self._db, turn, self._now, OBSERVE)
            for event in events[first : first + BATCH_EVENTS]:
                self._db.run("healing", "claim", id=event, job_id=job)
        turns.queue_job(self._db, turn, self._now, SUMMARIZE)
        return 1


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


def _is_users(arrival: Arrival) -> bool:
    what = arrival.event.what
    return isinstance(what, PromptSubmitted) and not what.by_machine


def _time(arrival: Arrival) -> int:
    return arrival.capture.at
