"""Sessions as bands with their observations as marks, and how much happened on each day."""

from collections import Counter, defaultdict

from recollect.clock import DAY
from recollect.parameters import Parameter
from recollect.synthesis.budget import day_of
from recollect.web.api import parts
from recollect.web.api.filtering import BACKWARDS
from recollect.web.api.parts import (
    BEFORE,
    MAYBE_TEXT,
    NUMBER,
    PROJECT,
    SINCE,
    TEXT,
    UNTIL,
    many,
    page_of,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong

SHOWN_DAYS = 30
LATEST = 2**52
MOST_DAYS = 3660


def timeline(
    backend: Backend,
    *,
    project: int | None,
    since: str | None,
    until: str | None,
    before: str | None,
    limit: int,
) -> Json:
    """The latest first; of a long time `next` gives the earlier ones."""
    parts.project(backend, project)
    first = parts.begin(backend, since)
    first = backend.clock() - SHOWN_DAYS * DAY if first is None else first
    last = parts.end(backend, until)
    if last is not None and first >= last:
        raise Wrong(400, "bad_request", BACKWARDS, "since")
    store, cursor = backend.store, parts.cursor(before, 2, "before")
    end = LATEST if last is None else last
    found = store.sessions_of_period(project, first, end, cursor, limit + 1)
    marks = store.marks_of_sessions((each.id for each in found[:limit]), first, end)
    names = parts.names(backend)
    items = [
        {
            "id": each.id,
            "title": each.title,
            "project_id": each.project_id,
            "project": names[each.project_id],
            "from": each.started_at,
            "to": each.last_event_at,
            "status": each.status,
            "marks": [
                {"id": key, "at": at, "type": kind, "title": title}
                for key, at, kind, title in marks.get(each.id, ())
            ],
        }
        for each in found[:limit]
    ]
    page = parts.page(items, [(each.last_event_at, each.id) for each in found], limit)
    return {"since": first, "until": last, "sessions": page["items"], "next": page["next"]}


def activity(backend: Backend, *, project: int | None, days: int) -> Json:
    """Days on which nothing happened are left out. A session is counted on each day on which something
    happened in it."""
    parts.project(backend, project)
    since = day_of(backend.clock() - (days - 1) * DAY)[0]
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    sessions: dict[str, set[int]] = defaultdict(set)
    for what, found in backend.store.happened(project, since).items():
        for each in found:
            day = parts.day(each.quarter * parts.QUARTER)
            counted[day][what] += each.number
            if each.session_id is not None:
                sessions[day].add(each.session_id)
    items = [
        {
            "day": day,
            "events": counted[day]["events"],
            "observations": counted[day]["observations"],
            "sessions": len(sessions[day]),
        }
        for day in sorted(counted)
        if day
    ]
    return {"items": items, "next": None, "sessions": len(set().union(*sessions.values()))}


MARK = shape(id=NUMBER, at=NUMBER, type=TEXT, title=TEXT)
BAND = shape(
    **{"from": NUMBER}, id=NUMBER, title=MAYBE_TEXT, to=NUMBER, status=TEXT, marks=many(MARK)
)
BY_DAY = shape(day=TEXT, events=NUMBER, observations=NUMBER, sessions=NUMBER)
ROWS = (
    Row(
        "GET",
        "/api/timeline",
        "Sessions of some time, the last 30 days if none is named, with what was observed when.",
        timeline,
        query=(PROJECT, SINCE, UNTIL, BEFORE, parts.limit(100, 500)),
        answer=shape(sessions=many(BAND), next=MAYBE_TEXT),
    ),
    Row(
        "GET",
        "/api/activity",
        "How much happened on each day.",
        activity,
        query=(
            PROJECT,
            Parameter("days", "How many, until today.", "number", default=365, most=MOST_DAYS),
        ),
        answer={"allOf": [page_of(BY_DAY), shape(sessions=NUMBER)]},
    ),
)
