"""Events: stored once each, in the session and the turn they belong to; an ended turn becomes jobs: in parts
while it goes on, and to the end when it is over."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from aforesaid.clock import MINUTE, SECOND
from aforesaid.ids import digest
from aforesaid.model.events import (
    AgentMessage,
    Arrival,
    Capture,
    CompactionBegan,
    Event,
    Healed,
    Ingested,
    PromptSubmitted,
    SessionEnded,
    SessionRef,
    SessionStarted,
    StoredEvent,
    Tally,
    ToolUsed,
    TurnEnded,
)
from aforesaid.model.jobs import OBSERVE, SUMMARIZE
from aforesaid.model.search import FoundEvent
from aforesaid.model.sessions import INTERRUPTED, TOP, Cursor, EventRow
from aforesaid.store.database import Connection, Part, Row
from aforesaid.store.values import pack, read, safe, unpack, unpacked

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
# A number may be there once only, so rows are moved out of the way first.
MAKE_ROOM = (
    *("shift_prompts", "settle_prompts", "shift_summaries", "settle_summaries"),
    *("shift_events", "shift_observations", "shift_jobs"),
)
# Where a page begins: in the order of time, and against it.
BOTTOM: Cursor = (-1, -1, -1)
TOP_EVENT: Cursor = (*TOP, TOP[0])


class Events(Part):
    def add(self, arrivals: Iterable[Arrival], now: int) -> Ingested:
        """One durable transaction. Missing sessions are created, whatever arrives first (A9)."""
        added = duplicates = closed = 0
        projects: set[int] = set()
        with self._db.transaction() as db:
            for arrival in arrivals:
                turns = _add(db, arrival, now)
                if turns is None:
                    duplicates += 1
                else:
                    added += 1
                    closed += turns
                    projects.add(arrival.project_id)
        return Ingested(added, duplicates, closed, frozenset(projects))

    def quarantine(self, name: str, why: str, size: int, at: int) -> None:
        self._db.run("events", "quarantine", name=name, why=why, size=size, at=at)

    def trim_quarantine(self, before: int, most: int) -> int:
        """Reasons that are older, and the oldest of too many. How many went."""
        return self._db.run("events", "trim_quarantine", before=before, most=most)

    def for_job(self, job_id: int) -> list[StoredEvent]:
        return self._stored("of_job", job_id=job_id)

    def _stored(self, name: str, **values: object) -> list[StoredEvent]:
        return stored(self._db.each("events", name, **values))

    def for_prompt(
        self, session_id: int, number: int, kind: str | None = None
    ) -> list[StoredEvent]:
        """`kind`: only the ends of the turn (`stop`), or what the agent wrote in it (`message`)."""
        name = "framing_of_prompt" if kind else "of_prompt"
        return self._stored(name, session_id=session_id, prompt_number=number, kind=kind)

    def last_time(self, session_id: int, number: int) -> int | None:
        turn = {"session_id": session_id, "prompt_number": number}
        return self._db.value(int, "events", "last_time_of_prompt", **turn)

    def before(self, first: StoredEvent, limit: int) -> list[StoredEvent]:
        """Earlier tool events of the same session, oldest first."""
        values = {"session_id": first.session_id, "at": first.at, "id": first.id, "limit": limit}
        return self._stored("before", **values)[::-1]

    def calls_of(self, session_id: int, prefixes: tuple[str, ...], limit: int) -> list[StoredEvent]:
        """Calls of tools whose names begin so, newest first."""
        whose = {"session_id": session_id, "prefixes": [*prefixes]}
        return self._stored("calls_of_tools", **whose, limit=limit)

    def newest_id(self) -> int:
        """The highest id that was given out; 0 if there was no event."""
        return self._db.number("events", "newest")

    def count_healed(self, first: int, last: int) -> int:
        """Events of that time (milliseconds) which only a transcript has."""
        return self._db.number("events", "count_healed", first=first, last=last)

    def last_compaction(self, session_id: int) -> int | None:
        return self._db.value(int, "events", "last_compaction", session_id=session_id)

    def count(self, agent: str, ref: str) -> Tally:
        row = self._db.row("tallies", "session", agent=agent, ref=ref)
        return Tally(1, *row) if row else Tally()

    def drop_quarantine(self, name: str) -> None:
        self._db.run("erasing", "drop_quarantine", name=name)

    def transcript_mark(self, agent: str, ref: str) -> str | None:
        return self._db.value(str, "transcripts", "mark", agent=agent, ref=ref)

    def set_transcript_mark(self, agent: str, ref: str, mark: str, now: int) -> None:
        self._db.run("transcripts", "set_mark", agent=agent, ref=ref, mark=mark, now=now)

    def reread_transcripts(self, since: int) -> None:
        """Those that were written to since then, from their beginning: what is here is not taken twice."""
        with self._db.transaction() as db:
            db.run("transcripts", "forget_marks")
            db.run("transcripts", "look_again", since=since)

    def skip_transcripts(self, until: int) -> None:
        """Those that were not written to after that are read on request only."""
        self._db.run("transcripts", "look_from", until=until)

    def transcript_path(self, agent: str, ref: str) -> str | None:
        return self._db.value(str, "transcripts", "path", agent=agent, ref=ref)

    def page(
        self, session_id: int, after: Cursor | None, limit: int, *, newest_first: bool = False
    ) -> list[EventRow]:
        """Turn by turn, in the order of time or against it; the cursor is (prompt_number, at, id)."""
        name, end = ("events_backwards", TOP_EVENT) if newest_first else ("events", BOTTOM)
        number, at, key = after or end
        place = {"session_id": session_id, "prompt_number": number, "at": at, "id": key}
        return self._listed(name, **place, limit=limit)

    def by_ids(self, ids: Iterable[int]) -> list[EventRow]:
        """Those that are there, in the order of time."""
        return self._listed("events_named", ids=[*ids])

    def tool_calls(self, observation_id: int, limit: int) -> list[EventRow]:
        """Of the turn that it is about, by time. Of too many, those that name one of its files."""
        return self._listed("events_of_turn", id=observation_id, limit=limit)

    def _listed(self, name: str, **values: object) -> list[EventRow]:
        return self._db.all(EventRow, "listings", name, **values)

    def body(self, event_id: int) -> bytes | None:
        """The agent's own bytes."""
        found = self._db.value(bytes, "listings", "event_body", id=event_id)
        return None if found is None else unpack(found)

    def text(self, event_id: int) -> str | None:
        """What it says, as far as it is indexed."""
        return self._db.value(str, "listings", "event_text", id=event_id)

    def get(self, event_id: int) -> FoundEvent | None:
        return self._db.one(FoundEvent, "lookups", "event", id=event_id)

    def heal(self, arrivals: Iterable[Arrival], now: int) -> Healed:
        """Whole turns, in the transcript's order; known events show where the others belong."""
        sessions: dict[SessionRef, list[Arrival]] = {}
        for arrival in arrivals:
            sessions.setdefault((arrival.event.agent, arrival.event.session), []).append(arrival)
        with self._db.transaction() as db:
            found = [_Healing(db, find_session(db, s[0]), now).run(s) for s in sessions.values()]
        return Healed(sum(each.added for each in found), sum(each.turns for each in found))


def _add(db: Connection, arrival: Arrival, now: int) -> int | None:
    """How many turns this event closed; None if it was stored before."""
    session = find_session(db, arrival)
    session_id = int(session["id"])
    if _delivered_before(db, session_id, arrival):
        return None
    number = _prompt_number(db, session, arrival)
    if not insert(db, session_id, number, arrival):
        return None
    return _apply(db, arrival, session_id, number, now)


def _delivered_before(db: Connection, session_id: int, arrival: Arrival) -> bool:
    """What the key does not show: the same bytes from two hooks, or a hook behind the transcript."""
    event = arrival.event
    same = content_of(session_id, arrival) | {"at": arrival.capture.at}
    near = NEAR.get(event.kind)
    if near is not None:
        known = same | {"prompt_id": event.prompt_id, "window": near}
        if db.row("healing", "told_already", **known):
            return True
    return event.key is None and bool(db.row("events", "same_content", **same, window=SAME_WITHIN))


def _apply(db: Connection, arrival: Arrival, session_id: int, number: int, now: int) -> int:
    """What the event does to its session, and how many turns it ends."""
    at = arrival.capture.at
    match arrival.event.what:
        case PromptSubmitted(by_machine=False, text=text):
            # Esc fires no Stop: the next prompt is what ends the turn before it.
            closed = close_turn(db, session_id, number - 1, now, only_if_open=True)
            count = db.number("sessions", "count_prompt", id=session_id)
            prompt = {"number": count, "prompt_id": arrival.event.prompt_id, "at": at, "text": text}
            db.run("sessions", "add_prompt", session_id=session_id, **prompt)
            db.run("sessions", "reopen", id=session_id)
            return closed
        case SessionStarted():
            db.run("sessions", "reopen", id=session_id)
        case TurnEnded():
            return close_turn(db, session_id, number, now, only_if_open=False)
        case CompactionBegan():
            # The brief after the compaction should know what went before it.
            return close_turn(db, session_id, number, now, only_if_open=True)
        case SessionEnded():
            closed = close_turn(db, session_id, number, now, only_if_open=True)
            db.run("sessions", "end", id=session_id, at=at)
            return closed
        case ToolUsed() if not arrival.boring:
            begin_early(db, session_id, number, at, now)
        case _:
            pass
    return 0


def _prompt_number(db: Connection, session: Row, arrival: Arrival) -> int:
    """By the prompt's own id: a slow hook may deliver when the next prompt has begun already."""
    if _is_users(arrival):
        return int(session["prompts"]) + 1
    return _find_prompt(db, session["id"], arrival.event) or int(session["prompts"])


def _find_prompt(db: Connection, session_id: int, event: Event) -> int:
    """The number of its prompt by that one's own id; 0 if it is not known."""
    turn = {"session_id": session_id, "prompt_id": event.prompt_id}
    return db.number("sessions", "prompt_number", **turn) if event.prompt_id else 0


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
        "job_id": None,
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
    return read(StoredEvent, row, capture=capture)


def begin_early(db: Connection, session_id: int, number: int, at: int, now: int) -> None:
    """Queues what has piled up when there is enough of it, or some that is old; no summary."""
    turn = {"session_id": session_id, "prompt_number": number}
    waiting = db.only("events", "unclaimed", **turn)
    old = waiting["count"] >= FEWEST and at - waiting["oldest"] > BATCH_AGE
    if old or waiting["count"] >= BATCH_EVENTS:
        _queue_events(db, turn, now, waiting["count"])


def close_turn(
    db: Connection, session_id: int, number: int, now: int, *, only_if_open: bool
) -> int:
    """Queues the work on everything since the last time, then the summary (B4); 1 if it did. A turn is open
    while it has unclaimed events, or was processed in part only."""
    turn = {"session_id": session_id, "prompt_number": number}
    waiting = db.only("events", "unclaimed", **turn)["count"]
    if only_if_open and not waiting and not db.row("jobs", "unsummarized", **turn):
        return 0
    # A summary that was not begun would be written twice: the later one covers more.
    db.run("jobs", "drop_waiting_summary", **turn)
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


class _Healing:
    """Adds events of one session that a transcript has and no hook delivered, as if every hook had been
    delivered. The transcript's order decides: a missing prompt gets its number, events that were assigned to
    another prompt for want of it move there, and the turns that changed get the jobs they would have had.

    Turns that change, by number: `grown` by events, `stopped` by an end, `rewritten`
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
        numbers = {key_of(each): self._add_prompt(each) for each in asked}
        for number in numbers.values():
            self._grown |= {number - 1, number}
        last = self._session["last_event_at"]
        late = [numbers[key_of(each)] for each in asked if each.capture.at <= last]
        if late:
            self._move_jobs(self._move_events(late))
        for arrival in missing:
            own = numbers.get(key_of(arrival))
            number = self._prompt_number(arrival) if own is None else own
            is_message = isinstance(arrival.event.what, AgentMessage)
            arrival = replace(arrival, healed=not is_message)  # noqa: PLW2901
            insert(self._db, self._id["session_id"], number, arrival)
            if is_message:
                continue  # no hook has it, so its turn has what it needs
            ended = isinstance(arrival.event.what, TurnEnded)
            (self._stopped if ended else self._grown).add(number)
        self._set_status(missing)
        self._session = self._db.only("sessions", "one", id=self._session["id"])
        for number in self._rewritten:
            self._db.run("healing", "redo_note", **self._id, prompt_number=number, now=self._now)
        changed = sorted(self._grown | self._stopped | self._rewritten)
        messages = sum(isinstance(each.event.what, AgentMessage) for each in missing)
        return Healed(len(missing) - messages, sum(map(self._queue_turn, changed)))

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

    def _add_prompt(self, arrival: Arrival) -> int:
        """Its number. What follows it is renumbered in every table."""
        event, at = arrival.event, arrival.capture.at
        assert isinstance(event.what, PromptSubmitted)
        number = 1 + self._db.number("healing", "number_by_time", **self._id, at=at)
        for step in MAKE_ROOM:
            self._db.run("healing", step, **self._id, first=number)
        prompt = {"number": number, "prompt_id": event.prompt_id, "text": event.what.text}
        self._db.run("sessions", "add_prompt", **self._id, **prompt, at=at)
        self._db.run("healing", "count_prompts", **self._id)
        return number

    def _move_events(self, asked: list[int]) -> list[Row]:
        """Moves the events that belong to these prompts. The rows as they were, and the new number."""
        added = {"numbers": asked, "base": min(asked) - 1}
        moved = self._db.rows("healing", "misplaced", **self._id, **added)
        for row in moved:
            self._db.run("healing", "place_event", id=row["id"], number=row["number"])
        return moved

    def _prompt_number(self, arrival: Arrival) -> int:
        """By its prompt's own id, else by time."""
        found = _find_prompt(self._db, self._id["session_id"], arrival.event)
        at = arrival.capture.at
        return found or self._db.number("healing", "number_by_time", **self._id, at=at)

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
            begin_early(self._db, self._session["id"], number, row["last_tool"], self._now)
        return closed

    def _close_turn(self, number: int, until: int | None, row: Row) -> int:
        """Like `close_turn`, for one turn out of many and up to the time of its end. Jobs that nobody has
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
        waiting = self._db.only("healing", "worth", **period)["waiting"]
        observed = self._db.row("healing", "observed", **turn)
        says = row["stopped"] and (number in self._stopped or not observed)
        for _ in range(0, max(waiting, 1 if says else 0), BATCH_EVENTS):
            job = queue_job(self._db, turn, self._now, OBSERVE)
            self._db.run("healing", "claim", **period, job_id=job, limit=BATCH_EVENTS)
        queue_job(self._db, turn, self._now, SUMMARIZE)
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
