"""Projects, sessions, their events and injections, and the timeline."""

from collections import Counter, defaultdict
from dataclasses import asdict

from aforesaid.clock import DAY
from aforesaid.model.memories import OF_USER
from aforesaid.model.observations import Summary
from aforesaid.model.search import Filters, Injection, MemoryInjection
from aforesaid.model.sessions import ACTIVE, COMPLETED, INTERRUPTED, Session
from aforesaid.parameters import Parameter
from aforesaid.synthesis.cost import day_bounds
from aforesaid.text import one_line
from aforesaid.web.api import common
from aforesaid.web.api.common import BEFORE, EVENT, OBSERVATION_ROW, PROJECT, SESSION, pick
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import TREE, endpoint, many, not_found, page_of, shape
from aforesaid.web.markdown import parse_line

LARGEST_BODY = 64 * 1024  # bytes of a raw event that are sent
LONGEST_PROMPT = 20_000  # characters
OLDEST, NEWEST = ORDERS = ("oldest", "newest")
SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
SPENT = "requests:int sent:int received:int microdollars:int unpriced:int"
TIMELINE_DAYS = 30
MOST_DAYS = 3660
FAR_FUTURE = 2**52

SUMMARY = shape(
    "id:int prompt_number:int at:int " + " ".join(f"{part}:str?" for part in SUMMARY_PARTS),
    content=shape(**dict.fromkeys(SUMMARY_PARTS, TREE)),
)
INJECTION = shape("at:int hook:str kind:str id:int? name:str? title:str reason:str project_id:int?")
BAND = shape(
    "from:int id:int title:str? to:int status:str",
    marks=many(shape("id:int at:int type:str title:str")),
)


@endpoint(
    "GET",
    "/api/projects",
    response=page_of(shape("id:int name:str root:str sessions:int observations:int last_at:int?")),
)
def list_projects(backend: Backend) -> Json:
    """List projects, the most recently used first."""
    return {"items": [asdict(each) for each in backend.store.projects.totals()], "next": None}


@endpoint(
    "GET",
    "/api/sessions",
    PROJECT,
    Parameter("agent", "Only of this agent, such as claude-code.", most=100),
    Parameter("status", "Only with this status.", choices=(ACTIVE, COMPLETED, INTERRUPTED)),
    BEFORE,
    common.limit_parameter(50),
    response=page_of(SESSION),
)
def list_sessions(
    backend: Backend, *, project: int | None, before: str | None, limit: int, **given: str | None
) -> Json:
    """List sessions, the latest first."""
    common.find_project(backend, project)
    cursor = common.parse_cursor(before, 2, "before")
    filters = Filters(project, agent=given["agent"] or None)
    status = given["status"] or None
    found = backend.store.sessions.page(filters, cursor, limit + 1, status=status)
    items = _sessions_json(backend, found[:limit])
    return common.page(items, [(each.last_event_at, each.id) for each in found], limit)


@endpoint(
    "GET",
    "/api/sessions/{id}",
    response=shape(
        **SESSION["properties"]
        | {
            "counts": shape("prompts:int observations:int"),
            "prompts": many(shape("id:int number:int at:int text:str cut:bool")),
            "summaries": many(SUMMARY),
            "observations": many(OBSERVATION_ROW),
            "cost": shape(SPENT),
            "pending": {"type": "integer"},
        }
    ),
)
def read_session(backend: Backend, *, id: int) -> Json:
    """Read a session with its prompts, summaries, observations and cost."""
    store = backend.store
    session = common.find_session(backend, id)
    (found,) = _sessions_json(backend, [session])
    spent = asdict(store.requests.spent_in_session(id))
    prompts = [
        asdict(each) | {"text": each.text[:LONGEST_PROMPT], "cut": len(each.text) > LONGEST_PROMPT}
        for each in store.sessions.prompts(id)
    ]
    return found | {
        "project_dir": session.project_dir,
        "counts": {"prompts": found["prompts"], "observations": found["observations"]},
        "prompts": prompts,
        "summaries": [_summary_json(each) for each in store.summaries.for_session(id)],
        "observations": [
            common.observation_json(row, found["project"])
            for row in store.observations.rows_for_session(id)
        ],
        "pending": store.jobs.count_pending(id),
        "cost": {name: value for name, value in spent.items() if name != "label"},
    }


@endpoint(
    "GET",
    "/api/sessions/{id}/events",
    Parameter("order", "Which end comes first.", choices=ORDERS, default=OLDEST),
    common.AFTER,
    common.limit_parameter(100, 500),
    response=page_of(EVENT),
)
def list_events(backend: Backend, *, id: int, order: str, after: str | None, limit: int) -> Json:
    """List a session's events, turn by turn."""
    common.find_session(backend, id)
    cursor = common.parse_cursor(after, 3, "after")
    found = backend.store.events.page(id, cursor, limit + 1, newest_first=order == NEWEST)
    numbers = (row.prompt_number for row in found if row.kind == "prompt")
    prompts = (backend.store.sessions.prompt(id, number) for number in numbers)
    texts = {prompt.number: prompt.text for prompt in prompts if prompt}
    items = [common.event_json(row, texts) for row in found[:limit]]
    return common.page(items, [(row.prompt_number, row.at, row.id) for row in found], limit)


@endpoint(
    "GET", "/api/events/{id}", response={"allOf": [EVENT, shape("text:str body:str cut:bool")]}
)
def read_event(backend: Backend, *, id: int) -> Json:
    """Read an event as it was captured."""
    store = backend.store
    body, rows = store.events.body(id), store.events.by_ids([id])
    if body is None or not rows:
        raise not_found(f"There is no event {id}. GET /api/sessions/{{id}}/events lists them.")
    (row,) = rows
    prompt = None
    if row.kind == "prompt":
        prompt = store.sessions.prompt(row.session_id, row.prompt_number)
    return common.event_json(row, {prompt.number: prompt.text} if prompt else {}) | {
        "text": (prompt.text if prompt else store.events.text(id)) or "",
        "body": body[:LARGEST_BODY].decode("utf-8", "replace"),
        "cut": len(body) > LARGEST_BODY,
    }


@endpoint("GET", "/api/sessions/{id}/injected", response=page_of(INJECTION))
def list_injections(backend: Backend, *, id: int) -> Json:
    """List what was injected into a session, in order, with the reasons."""
    project_id = common.find_session(backend, id).project_id
    found: list[Injection | MemoryInjection] = [
        *backend.store.injections.for_session(id),
        *backend.store.injections.memories_for_session(id),
    ]
    found.sort(key=lambda each: each.at)
    return {"items": [_injection_json(each, project_id) for each in found], "next": None}


@endpoint(
    "GET",
    "/api/timeline",
    PROJECT,
    common.SINCE,
    common.UNTIL,
    BEFORE,
    common.limit_parameter(100, 500),
    response=shape("next:str?", sessions=many(BAND)),
)
def timeline(
    backend: Backend, *, project: int | None, before: str | None, limit: int, **period: str | None
) -> Json:
    """List the sessions of a period (default: the last 30 days) with their observations, the latest first."""
    common.find_project(backend, project)
    first, last = common.parse_period(backend, **period)
    first = backend.clock() - TIMELINE_DAYS * DAY if first is None else first
    filters = Filters(project, since=first, until=last)
    filters.check()
    store, cursor = backend.store, common.parse_cursor(before, 2, "before")
    end = FAR_FUTURE if last is None else last
    found = store.sessions.page(filters, cursor, limit + 1)
    marks = store.sessions.marks((each.id for each in found[:limit]), first, end)
    names = common.project_names(backend)
    items = [
        pick(each, "id title project_id status")
        | {
            "project": names[each.project_id],
            "from": each.started_at,
            "to": each.last_event_at,
            "marks": [mark._asdict() for mark in marks.get(each.id, ())],
        }
        for each in found[:limit]
    ]
    page = common.page(items, [(each.last_event_at, each.id) for each in found], limit)
    return {"since": first, "until": last, "sessions": page["items"], "next": page["next"]}


@endpoint(
    "GET",
    "/api/activity",
    PROJECT,
    Parameter("days", "How many, up to today.", "number", default=365, most=MOST_DAYS),
    response=shape(
        "next:str? sessions:int",
        items=many(shape("day:str events:int observations:int sessions:int")),
    ),
)
def activity(backend: Backend, *, project: int | None, days: int) -> Json:
    """Count events, observations and sessions per day. Days without any are left out. A session counts on
    each day that has events of it."""
    common.find_project(backend, project)
    since = day_bounds(backend.clock() - (days - 1) * DAY)[0]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    sessions: dict[str, set[int]] = defaultdict(set)
    for kind, found in backend.store.sessions.activity(project, since).items():
        for each in found:
            day = common.local_day(each.quarter * common.QUARTER)
            counts[day][kind] += each.number
            if each.session_id is not None:
                sessions[day].add(each.session_id)
    items = [
        {name: counts[day][name] for name in ("events", "observations")}
        | {"day": day, "sessions": len(sessions[day])}
        for day in sorted(counts)
        if day
    ]
    return {"items": items, "next": None, "sessions": len(set().union(*sessions.values()))}


def _sessions_json(backend: Backend, found: list[Session]) -> list[Json]:
    types = backend.store.sessions.observation_types(each.id for each in found)
    names = common.project_names(backend)
    items = []
    for each in found:
        item = asdict(each) | {"project": names[each.project_id], "types": types.get(each.id, {})}
        del item["project_dir"]
        items.append(item | {"observations": sum(item["types"].values())})
    return items


def _injection_json(row: Injection | MemoryInjection, project_id: int) -> Json:
    found = pick(row, "at hook reason tokens") | {"project_id": project_id}
    if isinstance(row, Injection):
        title = one_line(row.title or "", common.TITLE_LENGTH)
        return found | {"kind": row.kind, "id": row.source, "name": None, "title": title}
    if row.scope == OF_USER:  # the user's own hold in all projects
        found["project_id"] = None
    return found | {"kind": "memory", "id": None, "name": row.name, "title": row.name}


def _summary_json(summary: Summary) -> Json:
    draft = asdict(summary.draft)
    content = {part: parse_line(draft[part]) for part in SUMMARY_PARTS}
    return draft | pick(summary, "id prompt_number at provider model") | {"content": content}
