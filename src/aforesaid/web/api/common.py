"""Parameters, lookups, pages, times and rows that several endpoints share."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from aforesaid import clock, times
from aforesaid.model.observations import TYPES
from aforesaid.model.search import Filters
from aforesaid.model.sessions import Cursor, EventRow, ObservationRow, Project, Session
from aforesaid.parameters import Parameter
from aforesaid.recall.resolve import as_recorded
from aforesaid.text import one_line
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import MAX_ID, ApiError, not_found, shape

QUARTER = 15 * clock.MINUTE
TITLE_LENGTH = 160
PROJECT = Parameter("project", "A project's id.", "number", most=MAX_ID)
BEFORE = Parameter("before", "`next` of the previous page.", most=100)
AFTER = Parameter("after", "`next` of the previous page.", most=100)
SINCE = Parameter("since", "Start: milliseconds, or a date such as `last week`.", most=200)
UNTIL = Parameter("until", "End, included: milliseconds, or a date such as `5 October`.", most=200)
FILTERS = (
    PROJECT,
    Parameter(
        "type",
        "Only observations of this type; can be repeated.",
        "names",
        choices=TYPES,
        default=(),
    ),
    Parameter("concept", "Only with this concept; can be repeated.", "names", most=500, default=()),
    Parameter("file", "Only about this file; can be repeated.", "names", most=4096, default=()),
    Parameter("agent", "Only from this agent.", most=100),
    Parameter("session", "Only from the session with this id.", "number", most=MAX_ID),
    SINCE,
    UNTIL,
)

SESSION = shape(
    "id:int ref:str agent:str project_id:int project:str title:str? subtitle:str? status:str "
    "started_at:int last_event_at:int ended_at:int? prompts:int observations:int",
    types={"type": "object", "additionalProperties": {"type": "integer"}},
)
EVENT = shape(
    "id:int session_id:int at:int kind:str tool:str? title:str size:int prompt_number:int "
    "from_transcript:bool subagent:str?"
)
OBSERVATION_ROW = shape(
    "id:int session_id:int project_id:int project:str prompt_number:int at:int type:str title:str? "
    "subtitle:str? pinned:bool edited:bool unverified:bool repeats:int? follows:int?"
)


def pick(value: object, names: str) -> Json:
    return {name: getattr(value, name) for name in names.split()}


def limit_parameter(default: int, most: int = 200) -> Parameter:
    return Parameter("limit", "How many.", "number", default=default, most=most)


def page(items: list[Json], cursors: Sequence[Cursor], limit: int) -> Json:
    """`cursors`: of the rows that were read, one more than `limit` if there is another page."""
    more = len(cursors) > limit
    after = ".".join(map(str, cursors[limit - 1])) if more else None
    return {"items": items[:limit], "next": after}


def parse_cursor(text: str | None, parts: int, field: str) -> Cursor | None:
    if not text:
        return None
    found = text.split(".")
    if len(found) != parts or not all(part.isascii() and part.isdecimal() for part in found):
        raise bad_cursor(field)
    return tuple(min(int(part[:19]), 2**62) for part in found)


def bad_cursor(field: str) -> ApiError:
    why = f"`{field}` must be `next` of the previous page, or left out."
    return ApiError(400, "bad_cursor", why, field)


def find_project(backend: Backend, id: int | None) -> Project | None:
    """None where none was given."""
    if id is None:
        return None
    found = next((each for each in backend.store.projects.all() if each.id == id), None)
    if found is None:
        raise not_found(f"There is no project {id}. GET /api/projects lists them.")
    return found


def project_names(backend: Backend) -> Mapping[int, str]:
    return {each.id: each.name for each in backend.store.projects.all()}


def find_session(backend: Backend, id: int) -> Session:
    found = backend.store.sessions.get(id)
    if found is None:
        raise not_found(f"There is no session {id}. GET /api/sessions lists them.")
    return found


def parse_period(
    backend: Backend, since: str | None, until: str | None
) -> tuple[int | None, int | None]:
    found: list[int | None] = []
    for parse, text, field in ((times.begin, since, "since"), (times.end, until, "until")):
        try:
            if text and text.isascii() and text.isdecimal() and 10 <= len(text) <= 16:
                found.append(int(text))
            else:
                found.append(parse(text, backend.clock()) if text else None)
        except (ValueError, OverflowError, OSError) as error:
            raise ApiError(400, "bad_time", str(error), field) from None
    return found[0], found[1]


def local_day(at: int) -> str:
    """The local calendar day; empty for a time outside the calendar."""
    return _quarter_day(at // QUARTER)


@lru_cache(maxsize=10_000)
def _quarter_day(quarter: int) -> str:
    """No time zone changes within a quarter of an hour."""
    with suppress(ValueError, OverflowError, OSError):
        return str(clock.local(quarter * QUARTER).date())
    return ""


def observation_json(row: ObservationRow, project_name: str) -> Json:
    return asdict(row) | {"project": project_name}


def event_json(row: EventRow, prompts: Mapping[int, str]) -> Json:
    """`prompts`: their texts by number. An event without a text is titled by its tool or kind."""
    text = prompts.get(row.prompt_number, "") if row.kind == "prompt" else row.text or ""
    if row.tool:
        text = text.removeprefix(f"{row.tool}\n")
    title = one_line(text, TITLE_LENGTH) or row.tool or row.kind.replace("_", " ")
    found = pick(row, "id session_id at kind tool size prompt_number")
    origin = {"subagent": row.subagent_type, "from_transcript": row.healed}
    return found | origin | {"title": title}


def read_filters(
    backend: Backend, *, project: int | None, session: int | None, **given: Any
) -> Filters:
    """Refuses filters that can never match."""
    find_project(backend, project)
    if session is not None:
        find_session(backend, session)
    files = given["file"]
    if project is not None:
        files = tuple(as_recorded(backend.store, project, path) for path in files)
    since, until = parse_period(backend, given["since"], given["until"])
    found = Filters(
        project_id=project,
        types=given["type"],
        concepts=given["concept"],
        files=files,
        agent=given["agent"] or None,
        session_id=session,
        since=since,
        until=until,
    )
    found.check()
    return found
