"""Events: stored once each, in the session and the turn they belong to; an ended turn becomes jobs."""

import json
from collections.abc import Iterable

from aforesaid.model.events import (
    OUR_TOOLS,
    Arrival,
    CompactionBegan,
    Event,
    Healed,
    Ingested,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    StoredEvent,
    Tally,
    ToolUsed,
    TurnEnded,
)
from aforesaid.model.search import FoundEvent
from aforesaid.model.sessions import TOP, Cursor, EventRow
from aforesaid.store import turns
from aforesaid.store.database import Connection, Part, Row
from aforesaid.store.heal import heal
from aforesaid.store.turns import NEAR, SAME_WITHIN, content_of, find_session, insert, stored
from aforesaid.store.values import read_row, unpack

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
        if not self._db.rows("events", "old_quarantine", before=before, most=most):
            return 0  # no transaction for nothing
        return self._db.run("events", "trim_quarantine", before=before, most=most)

    def for_job(self, job_id: int) -> list[StoredEvent]:
        return self._stored("of_job", job_id=job_id)

    def _stored(self, name: str, **values: object) -> list[StoredEvent]:
        return stored(self._db.each("events", name, **values))

    def for_prompt(self, session_id: int, number: int) -> list[StoredEvent]:
        return self._stored("of_prompt", session_id=session_id, prompt_number=number)

    def stops(self, session_id: int, number: int) -> list[StoredEvent]:
        """The last messages of a turn; most turns have one."""
        return self._stored("stops_of_prompt", session_id=session_id, prompt_number=number)

    def last_time(self, session_id: int, number: int) -> int | None:
        turn = {"session_id": session_id, "prompt_number": number}
        found: int | None = self._db.value("events", "last_time_of_prompt", **turn)
        return found

    def before(self, first: StoredEvent, limit: int) -> list[StoredEvent]:
        """Earlier tool events of the same session, oldest first."""
        values = {"session_id": first.session_id, "at": first.at, "id": first.id, "limit": limit}
        return self._stored("before", **values)[::-1]

    def own_tool_calls(self, session_id: int, limit: int) -> list[StoredEvent]:
        """What the session has asked aforesaid itself, newest first."""
        ours, plugins = OUR_TOOLS
        whose = {"session_id": session_id, "ours": ours, "plugins": plugins}
        return self._stored("recalling", **whose, limit=limit)

    def newest_id(self) -> int:
        """Its id; 0 if there is none."""
        return self._db.number("events", "newest")

    def count_healed(self, first: int, last: int) -> int:
        """Events of that time (milliseconds) which only a transcript has."""
        return self._db.number("events", "count_healed", first=first, last=last)

    def last_compaction(self, session_id: int) -> int | None:
        found: int | None = self._db.value("events", "last_compaction", session_id=session_id)
        return found

    def count(self, agent: str, ref: str) -> Tally:
        row = self._db.row("tallies", "session", agent=agent, ref=ref)
        return Tally(1, *row) if row else Tally()

    def drop_quarantine(self, name: str) -> None:
        self._db.run("erasing", "drop_quarantine", name=name)

    def transcript_mark(self, agent: str, ref: str) -> str | None:
        found: str | None = self._db.value("transcripts", "mark", agent=agent, ref=ref)
        return found

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
        found: str | None = self._db.value("transcripts", "path", agent=agent, ref=ref)
        return found

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
        return self._listed("events_named", ids=json.dumps(list(ids)))

    def tool_calls(self, observation_id: int, limit: int) -> list[EventRow]:
        """Of the turn that it is about, by time. Of too many, those that name one of its files."""
        return self._listed("events_of_turn", id=observation_id, limit=limit)

    def _listed(self, name: str, **values: object) -> list[EventRow]:
        return [EventRow(**read_row(row)) for row in self._db.rows("listings", name, **values)]

    def body(self, event_id: int) -> bytes | None:
        """The agent's own bytes."""
        found = self._db.value("listings", "event_body", id=event_id)
        return None if found is None else unpack(found)

    def text(self, event_id: int) -> str | None:
        """What it says, as far as it is indexed."""
        found: str | None = self._db.value("listings", "event_text", id=event_id)
        return found

    def get(self, event_id: int) -> FoundEvent | None:
        return self._db.one(FoundEvent, "lookups", "event", id=event_id)

    def heal(self, arrivals: Iterable[Arrival], now: int) -> Healed:
        """Adds what only a transcript has; see `store/heal.py`. One durable transaction."""
        with self._db.transaction() as db:
            return heal(db, arrivals, now)


def _add(db: Connection, arrival: Arrival, now: int) -> int | None:
    """How many turns this event closed; None if it was stored before."""
    session = find_session(db, arrival)
    session_id = int(session["id"])
    if _delivered_before(db, session_id, arrival):
        return None
    number = _prompt_number(db, session, arrival.event)
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
            closed = turns.close(db, session_id, number - 1, now, only_if_open=True)
            count = db.number("sessions", "count_prompt", id=session_id)
            prompt = {"number": count, "prompt_id": arrival.event.prompt_id, "at": at, "text": text}
            db.run("sessions", "add_prompt", session_id=session_id, **prompt)
            db.run("sessions", "reopen", id=session_id)
            return closed
        case SessionStarted():
            db.run("sessions", "reopen", id=session_id)
        case TurnEnded():
            return turns.close(db, session_id, number, now, only_if_open=False)
        case CompactionBegan():
            # The brief after the compaction should know what went before it.
            return turns.close(db, session_id, number, now, only_if_open=True)
        case SessionEnded():
            closed = turns.close(db, session_id, number, now, only_if_open=True)
            db.run("sessions", "end", id=session_id, at=at)
            return closed
        case ToolUsed() if not arrival.boring:
            turns.begin_early(db, session_id, number, at, now)
        case _:
            pass
    return 0


def _prompt_number(db: Connection, session: Row, event: Event) -> int:
    """By the prompt's own id: a slow hook may deliver when the next prompt has begun already."""
    if isinstance(event.what, PromptSubmitted) and not event.what.by_machine:
        return int(session["prompts"]) + 1
    if event.prompt_id:
        turn = {"session_id": session["id"], "prompt_id": event.prompt_id}
        if row := db.row("sessions", "prompt_number", **turn):
            return int(row[0])
    return int(session["prompts"])
