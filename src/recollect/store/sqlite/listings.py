"""Lists for people, a page at a time. A cursor is what the last row of a page was sorted by."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from recollect.model.ledger import Spent
from recollect.model.listings import (
    TOP,
    Cursor,
    EventRow,
    Happened,
    Mark,
    ObservationRow,
    ProjectTotals,
    PromptRow,
    Wanted,
)
from recollect.model.search import Filters
from recollect.model.sessions import Session
from recollect.store.sqlite.bodies import unpack
from recollect.store.sqlite.database import Database, Row
from recollect.store.sqlite.sessions import as_session
from recollect.store.sqlite.values import file_name, safe
from recollect.text import sqlite_safe

BOTTOM: Cursor = (-1, -1, -1)
TOP_EVENT: Cursor = (*TOP, TOP[0])
EARLIEST = -(2**62)
FACETS = ("type", "concept", "file")
HAPPENINGS = ("events", "observations", "sessions")


class Listings(Database):
    def project_totals(self) -> list[ProjectTotals]:
        """The one that was worked on last comes first."""
        return [ProjectTotals(**dict(row)) for row in self.rows("listings", "projects")]

    def sessions_page(self, wanted: Wanted, before: Cursor | None, limit: int) -> list[Session]:
        """The latest first; the cursor is (last_event_at, id)."""
        if wanted.project_id is not None:
            name = "sessions_of_project"
        else:
            name = "sessions_of_status" if wanted.status else "sessions_anywhere"
        given = {"project_id": wanted.project_id, "status": wanted.status, "agent": wanted.agent}
        return self._sessions_behind(name, before, limit=limit, **given)

    def sessions_of_period(
        self, project_id: int | None, since: int, until: int, before: Cursor | None, limit: int
    ) -> list[Session]:
        """Those that something happened in, the latest first; the cursor as above."""
        name = "sessions_of_period" + ("_anywhere" if project_id is None else "")
        period = {"project_id": project_id, "since": since, "until": until}
        return self._sessions_behind(name, before, limit=limit, **period)

    def types_of_sessions(self, ids: Iterable[int]) -> Mapping[int, Mapping[str, int]]:
        """How many observations of each type, by session."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for row in self.rows("listings", "types_of_sessions", ids=json.dumps(list(ids))):
            found[row["session_id"]][row["type"]] = row["number"]
        return found

    def marks_of_sessions(
        self, ids: Iterable[int], since: int, until: int
    ) -> Mapping[int, list[Mark]]:
        """Observations of some time, in its order, by session."""
        found: dict[int, list[Mark]] = defaultdict(list)
        period = {"since": since, "until": until}
        for session, *mark in self.rows("listings", "marks", ids=json.dumps(list(ids)), **period):
            found[session].append(Mark._make(mark))
        return found

    def prompt_rows(self, session_id: int) -> list[PromptRow]:
        rows = self.rows("listings", "prompts", session_id=session_id)
        return [PromptRow(**dict(row)) for row in rows]

    def spent_in_session(self, session_id: int) -> Spent:
        row = self.row("listings", "spent_in_session", session_id=session_id)
        assert row is not None
        return Spent(**dict(row))

    def events_page(
        self, session_id: int, after: Cursor | None, limit: int, *, newest_first: bool = False
    ) -> list[EventRow]:
        """Turn by turn, in the order of time or against it; the cursor is (prompt_number, at, id)."""
        name, end = ("events_backwards", TOP_EVENT) if newest_first else ("events", BOTTOM)
        number, at, key = after or end
        place = {"session_id": session_id, "prompt_number": number, "at": at, "id": key}
        return [_event(row) for row in self.rows("listings", name, **place, limit=limit)]

    def event_rows(self, ids: Iterable[int]) -> list[EventRow]:
        """Those that are there, in the order of time."""
        rows = self.rows("listings", "events_named", ids=json.dumps(list(ids)))
        return [_event(row) for row in rows]

    def tools_of_turn(self, observation_id: int, limit: int) -> list[EventRow]:
        """Of the turn that it is about, by time. Of too many, those that name one of its files."""
        values = {"id": observation_id, "limit": limit}
        return [_event(row) for row in self.rows("listings", "events_of_turn", **values)]

    def event_body(self, event_id: int) -> bytes | None:
        """The agent's own bytes."""
        row = self.row("listings", "event_body", id=event_id)
        return unpack(row["body"]) if row else None

    def event_text(self, event_id: int) -> str | None:
        """What it says, as far as it is indexed."""
        row = self.row("listings", "event_text", id=event_id)
        return row["text"] if row else None

    def observations_page(
        self, filters: Filters, before: Cursor | None, limit: int
    ) -> list[ObservationRow]:
        """The latest first, without what is folded into another; the cursor is (at, id)."""
        at, key = before or TOP
        if filters.until is not None and filters.until <= at:
            at, key = filters.until, -1
        types = [*filters.types]
        named = self._named(filters)
        if named is not None:
            name = "observations_among"
        elif len(types) == 1:
            name = "observations_of_type"
        else:
            name = f"observations_{'anywhere' if filters.project_id is None else 'of_project'}"
        rows = self.rows(
            "listings",
            name,
            at=at,
            id=key,
            since=EARLIEST if filters.since is None else filters.since,
            project_id=filters.project_id,
            types=json.dumps(types) if types else None,
            type=types[0] if types else None,
            agent=safe(filters.agent),
            ids=json.dumps(sorted(named or ())),
            limit=limit,
        )
        return self._observation_rows(rows)

    def observation_rows_of_session(self, session_id: int) -> list[ObservationRow]:
        """In the order of time, those too that are folded into another."""
        rows = self.rows("listings", "observations_of_session", session_id=session_id)
        return self._observation_rows(rows)

    def happened(self, project_id: int | None, since: int) -> Mapping[str, list[Happened]]:
        """Events, observations, and the begins and ends of sessions."""
        end = "_anywhere" if project_id is None else ""
        values = {"project_id": project_id, "since": since}
        return {
            what: [*map(Happened._make, self.rows("listings", f"{what}_by_quarter{end}", **values))]
            for what in HAPPENINGS
        }

    def facets_of(
        self, observations: Iterable[int], limit: int
    ) -> Mapping[str, list[tuple[str, int]]]:
        """Types, concepts and files that observations have, the commonest of each first."""
        ids = json.dumps(list(observations))
        return {
            name: [
                tuple(row) for row in self.rows("listings", f"facet_{name}", ids=ids, limit=limit)
            ]
            for name in FACETS
        }

    def agents_of_sessions(self, ids: Iterable[int]) -> Mapping[int, str]:
        rows = self.rows("listings", "agents_of_sessions", ids=json.dumps(list(ids)))
        return {row["id"]: row["agent"] for row in rows}

    def _sessions_behind(self, name: str, before: Cursor | None, **values: Any) -> list[Session]:
        at, key = before or TOP
        return [as_session(row) for row in self.rows("listings", name, at=at, id=key, **values)]

    def _named(self, filters: Filters) -> set[int] | None:
        """Those of a session, with a concept and about a file; None where none of these is asked for."""
        found: list[set[int]] = []
        if filters.session_id is not None:
            found.append(self._ids("session", session_id=filters.session_id))
        if filters.concepts:
            names = [*map(sqlite_safe, filters.concepts)]
            found.append(self._ids("concepts", names=json.dumps(names)))
        if filters.files:
            paths = {path: file_name(path) for path in map(sqlite_safe, filters.files)}
            found.append(self._ids("files", names=json.dumps(paths)))
        return set.intersection(*found) if found else None

    def _ids(self, of: str, **values: Any) -> set[int]:
        return {row["id"] for row in self.rows("listings", f"ids_of_{of}", **values)}

    def _observation_rows(self, rows: list[Row]) -> list[ObservationRow]:
        ids = json.dumps([row["id"] for row in rows])
        doubted = {row["id"] for row in self.rows("listings", "doubted", ids=ids)}
        return [
            ObservationRow(
                **{name: row[name] for name in ROW_NAMES},
                pinned=bool(row["pinned"]),
                edited=bool(row["edited"]),
                doubted=row["id"] in doubted,
            )
            for row in rows
        ]


ROW_NAMES = [
    name
    for name in ObservationRow.__dataclass_fields__
    if name not in ("pinned", "edited", "doubted")
]


def _event(row: Row) -> EventRow:
    return EventRow(**{**dict(row), "healed": bool(row["healed"])})
