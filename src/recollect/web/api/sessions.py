"""Sessions: a list, one with all it left, its events, and what it was told unasked."""

from dataclasses import asdict

from recollect.model.listings import PromptRow, Wanted
from recollect.model.memories import OF_USER
from recollect.model.observations import Summary
from recollect.model.sessions import ACTIVE, COMPLETED, INTERRUPTED, Session
from recollect.model.told import Injected, InjectedMemory
from recollect.parameters import Parameter
from recollect.text import one_line
from recollect.web.api import parts
from recollect.web.api.parts import (
    AFTER,
    BEFORE,
    EVENT,
    FLAG,
    ID,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    OBSERVATION_ROW,
    PROJECT,
    SESSION,
    TEXT,
    TITLE,
    many,
    page_of,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, not_found

LARGEST_BODY = 64 * 1024  # bytes of a raw event that are shown
LONGEST_PROMPT = 20_000  # characters
MEMORY = "memory"
OLDEST, NEWEST = ORDERS = ("oldest", "newest")


def listed(
    backend: Backend,
    *,
    project: int | None,
    agent: str | None,
    status: str | None,
    before: str | None,
    limit: int,
) -> Json:
    parts.project(backend, project)
    wanted = Wanted(project_id=project, agent=agent or None, status=status or None)
    cursor = parts.cursor(before, 2, "before")
    found = backend.store.sessions_page(wanted, cursor, limit + 1)
    items = told_sessions(backend, found[:limit])
    return parts.page(items, [(each.last_event_at, each.id) for each in found], limit)


def told_sessions(backend: Backend, found: list[Session]) -> list[Json]:
    types = backend.store.types_of_sessions(each.id for each in found)
    names = parts.names(backend)
    return [
        parts.session_json(each, names[each.project_id], types.get(each.id, {})) for each in found
    ]


def one(backend: Backend, *, id: int) -> Json:
    store = backend.store
    session = parts.session(backend, id)
    (told,) = told_sessions(backend, [session])
    spent = store.spent_in_session(id)
    rows = store.observation_rows_of_session(id)
    return told | {
        "project_dir": session.project_dir,
        "counts": {"prompts": told["prompts"], "observations": told["observations"]},
        "prompts": [_prompt(each) for each in store.prompt_rows(id)],
        "summaries": [_summary(each) for each in store.summaries_of_session(id)],
        "observations": [parts.observation_json(row, told["project"]) for row in rows],
        "pending": store.pending_of_session(id),
        "cost": {
            "requests": spent.requests,
            "sent": spent.sent,
            "received": spent.received,
            "cached": spent.cached,
            "microdollars": spent.microdollars,
            "unpriced": spent.unpriced,
        },
    }


def events(backend: Backend, *, id: int, order: str, after: str | None, limit: int) -> Json:
    parts.session(backend, id)
    cursor = parts.cursor(after, 3, "after")
    newest = order == NEWEST
    found = backend.store.events_page(id, cursor, limit + 1, newest_first=newest)
    prompted = (row.prompt_number for row in found if row.kind == "prompt")
    asked = (backend.store.prompt(id, number) for number in prompted)
    prompts = {prompt.number: prompt.text for prompt in asked if prompt}
    items = [parts.event_json(row, prompts) for row in found[:limit]]
    return parts.page(items, [(row.prompt_number, row.at, row.id) for row in found], limit)


def event(backend: Backend, *, id: int) -> Json:
    store = backend.store
    body = store.event_body(id)
    rows = store.event_rows([id])
    if body is None or not rows:
        raise not_found(
            f"There is no event {id}. GET /api/sessions/{{id}}/events lists a session's."
        )
    (row,) = rows
    prompt = store.prompt(row.session_id, row.prompt_number) if row.kind == "prompt" else None
    told = parts.event_json(row, {prompt.number: prompt.text} if prompt else {})
    text = prompt.text if prompt else store.event_text(id)
    shown = body[:LARGEST_BODY].decode("utf-8", "replace")
    return told | {"text": text or "", "body": shown, "cut": len(body) > LARGEST_BODY}


def told(backend: Backend, *, id: int) -> Json:
    """In the order in which it was told."""
    project_id = parts.session(backend, id).project_id
    found: list[Injected | InjectedMemory] = [
        *backend.store.told_in(id),
        *backend.store.told_memories(id),
    ]
    items = [_told(each, project_id) for each in sorted(found, key=lambda each: each.at)]
    return {"items": items, "next": None}


def _prompt(prompt: PromptRow) -> Json:
    """Somebody may have pasted a whole file."""
    cut = len(prompt.text) > LONGEST_PROMPT
    return asdict(prompt) | {"text": prompt.text[:LONGEST_PROMPT], "cut": cut}


def _told(one: Injected | InjectedMemory, project_id: int) -> Json:
    """What is told in a project is of it, but for what the user wants known everywhere."""
    if isinstance(one, InjectedMemory):
        of = None if one.scope == OF_USER else project_id
        told: Json = {"kind": MEMORY, "id": None, "name": one.name, "title": one.name}
    else:
        of, title = project_id, one_line(one.title or "", TITLE)
        told = {"kind": one.kind, "id": one.source, "name": None, "title": title}
    return told | {
        "at": one.at,
        "hook": one.hook,
        "reason": one.reason,
        "tokens": one.tokens,
        "project_id": of,
    }


def _summary(summary: Summary) -> Json:
    told = asdict(summary.draft)
    return {
        "id": summary.id,
        "prompt_number": summary.prompt_number,
        "at": summary.at,
        "provider": summary.provider,
        "model": summary.model,
    } | told


SUMMARY = shape(
    id=NUMBER,
    prompt_number=NUMBER,
    at=NUMBER,
    request=MAYBE_TEXT,
    investigated=MAYBE_TEXT,
    learned=MAYBE_TEXT,
    completed=MAYBE_TEXT,
    next_steps=MAYBE_TEXT,
    notes=MAYBE_TEXT,
)
COST = shape(requests=NUMBER, sent=NUMBER, received=NUMBER, microdollars=NUMBER, unpriced=NUMBER)
WHOLE = shape(
    **SESSION["properties"]
    | {
        "counts": shape(prompts=NUMBER, observations=NUMBER),
        "prompts": many(shape(id=NUMBER, number=NUMBER, at=NUMBER, text=TEXT, cut=FLAG)),
        "summaries": many(SUMMARY),
        "observations": many(OBSERVATION_ROW),
        "cost": COST,
        "pending": NUMBER,
    }
)
TOLD = shape(
    at=NUMBER,
    hook=TEXT,
    kind=TEXT,
    id=MAYBE_NUMBER,
    name=MAYBE_TEXT,
    title=TEXT,
    reason=TEXT,
    project_id=MAYBE_NUMBER,
)
ROWS = (
    Row(
        "GET",
        "/api/sessions",
        "Sessions, the latest first.",
        listed,
        query=(
            PROJECT,
            Parameter("agent", "Only of this agent, such as claude-code.", most=100),
            Parameter("status", "Only those.", choices=(ACTIVE, COMPLETED, INTERRUPTED)),
            BEFORE,
            parts.limit(50),
        ),
        answer=page_of(SESSION),
    ),
    Row(
        "GET",
        "/api/sessions/{id}",
        "One session: what was asked, what came of it, and what that cost.",
        one,
        place=(ID,),
        answer=WHOLE,
    ),
    Row(
        "GET",
        "/api/sessions/{id}/events",
        "What happened in a session, turn by turn.",
        events,
        place=(ID,),
        query=(
            Parameter("order", "Which end comes first.", choices=ORDERS, default=OLDEST),
            AFTER,
            parts.limit(100, 500),
        ),
        answer=page_of(EVENT),
    ),
    Row(
        "GET",
        "/api/sessions/{id}/told",
        "What a session was told unasked, and why.",
        told,
        place=(ID,),
        answer=page_of(TOLD),
    ),
    Row(
        "GET",
        "/api/events/{id}",
        "One event as it was captured.",
        event,
        place=(ID,),
        answer={"allOf": [EVENT, shape(text=TEXT, body=TEXT, cut=FLAG)]},
    ),
)
