"""What the nouns of the API have in common: the numbers of things, pages, times, and rows as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from recollect import clock, periods
from recollect.model.listings import Cursor, EventRow, ObservationRow
from recollect.model.sessions import Project, Session
from recollect.parameters import Parameter
from recollect.text import one_line
from recollect.web.backend import Backend, Json
from recollect.web.rows import Wrong, not_found

QUARTER = 15 * clock.MINUTE
LARGEST = 2**53 - 1  # the largest whole number that every reader of JSON has
TITLE = 160
ID = Parameter("id", "Its number.", "number", required=True, most=LARGEST)
PROJECT = Parameter("project", "The number of a project.", "number", most=LARGEST)
BEFORE = Parameter("before", "`next` of the page before.", most=100)
AFTER = Parameter("after", "`next` of the page before.", most=100)
SINCE = Parameter(
    "since", "From then on: a time in milliseconds, or such as `last week`.", most=200
)
UNTIL = Parameter(
    "until", "Until the end of then: a time in milliseconds, or such as `5 October`.", most=200
)

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
MAYBE_TEXT: Json = {"type": ["string", "null"]}
MAYBE_NUMBER: Json = {"type": ["integer", "null"]}
FLAG: Json = {"type": "boolean"}


def limit(default: int, most: int = 200) -> Parameter:
    return Parameter("limit", "How many.", "number", default=default, most=most)


def shape(**properties: Json) -> Json:
    """An object that has all of these."""
    return {"type": "object", "required": list(properties), "properties": properties}


def many(item: Json) -> Json:
    return {"type": "array", "items": item}


def page_of(item: Json) -> Json:
    return shape(items=many(item), next=MAYBE_TEXT)


def page(items: list[Json], cursors: Sequence[Cursor], most: int) -> Json:
    """`cursors`: of the rows that were read, one more than the page has if there is another page."""
    more = len(cursors) > most
    return {"items": items[:most], "next": _written(cursors[most - 1]) if more else None}


def cursor(text: str | None, parts: int, field: str) -> Cursor | None:
    if not text:
        return None
    found = text.split(".")
    if len(found) != parts or not all(part.isascii() and part.isdecimal() for part in found):
        raise Wrong(
            400, "bad_cursor", f"`{field}` is `next` of the page before, or left out.", field
        )
    return tuple(min(int(part[:19]), 2**62) for part in found)


def _written(values: Iterable[int]) -> str:
    return ".".join(map(str, values))


def project(backend: Backend, number: int | None) -> Project | None:
    """None where none was named."""
    if number is None:
        return None
    for each in backend.store.projects():
        if each.id == number:
            return each
    raise not_found(f"There is no project {number}. GET /api/projects lists them.")


def names(backend: Backend) -> Mapping[int, str]:
    """Of projects, by their numbers."""
    return {each.id: each.name for each in backend.store.projects()}


def session(backend: Backend, number: int) -> Session:
    found = backend.store.session(number)
    if found is None:
        raise not_found(f"There is no session {number}. GET /api/sessions lists them.")
    return found


def begin(backend: Backend, text: str | None, field: str = "since") -> int | None:
    return _moment(periods.begin, backend, text, field)


def end(backend: Backend, text: str | None, field: str = "until") -> int | None:
    return _moment(periods.end, backend, text, field)


def _moment(read: Any, backend: Backend, text: str | None, field: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdecimal() and 10 <= len(text) <= 16:
        return int(text)
    try:
        return int(read(text, backend.clock()))
    except (ValueError, OverflowError, OSError) as error:
        raise Wrong(400, "bad_time", str(error), field) from None


def day(at: int) -> str:
    """The reader's calendar day; empty for a time that no calendar has. No zone changes within a quarter of
    an hour."""
    return _day(at // QUARTER)


@lru_cache(maxsize=10_000)
def _day(quarter: int) -> str:
    try:
        return str(clock.local(quarter * QUARTER).date())
    except (ValueError, OverflowError, OSError):
        return ""


def session_json(found: Session, project_name: str, types: Mapping[str, int]) -> Json:
    told = asdict(found)
    told.pop("project_dir")
    return told | {
        "project": project_name,
        "observations": sum(types.values()),
        "types": dict(types),
    }


def observation_json(row: ObservationRow, project_name: str) -> Json:
    return asdict(row) | {"project": project_name}


def event_json(row: EventRow, prompts: Mapping[int, str]) -> Json:
    """`prompts`: what was asked, by number. An event that is not indexed is called by its tool or kind."""
    said = prompts.get(row.prompt_number, "") if row.kind == "prompt" else row.text or ""
    if row.tool and said.startswith(f"{row.tool}\n"):
        said = said.removeprefix(f"{row.tool}\n")
    return {
        "id": row.id,
        "session_id": row.session_id,
        "at": row.at,
        "kind": row.kind,
        "tool": row.tool,
        "title": one_line(said, TITLE) or row.tool or row.kind.replace("_", " "),
        "size": row.size,
        "prompt_number": row.prompt_number,
        "healed": row.healed,
        "subagent": row.subagent_type,
    }


SESSION = shape(
    id=NUMBER,
    ref=TEXT,
    agent=TEXT,
    project_id=NUMBER,
    project=TEXT,
    title=MAYBE_TEXT,
    subtitle=MAYBE_TEXT,
    status=TEXT,
    started_at=NUMBER,
    last_event_at=NUMBER,
    ended_at=MAYBE_NUMBER,
    prompts=NUMBER,
    observations=NUMBER,
    types={"type": "object", "additionalProperties": NUMBER},
)
EVENT = shape(
    id=NUMBER,
    session_id=NUMBER,
    at=NUMBER,
    kind=TEXT,
    tool=MAYBE_TEXT,
    title=TEXT,
    size=NUMBER,
    prompt_number=NUMBER,
    healed=FLAG,
    subagent=MAYBE_TEXT,
)
OBSERVATION_ROW = shape(
    id=NUMBER,
    session_id=NUMBER,
    project_id=NUMBER,
    project=TEXT,
    prompt_number=NUMBER,
    at=NUMBER,
    type=TEXT,
    title=MAYBE_TEXT,
    subtitle=MAYBE_TEXT,
    pinned=FLAG,
    edited=FLAG,
    doubted=FLAG,
    repeats=MAYBE_NUMBER,
    follows=MAYBE_NUMBER,
)
