"""What the user decides: that nothing is recorded for a while, and that something goes for good."""

from dataclasses import asdict
from typing import cast

from recollect.clock import SECOND
from recollect.model.erasing import Erasure, What
from recollect.parameters import Parameter
from recollect.web.api.parts import (
    FLAG,
    LARGEST,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    many,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong, not_found

SCOPES = ("project", "session", "everything")
ERASED = ("observation", "prompt", "session", "project", "text")
PAUSED = shape(
    scope=TEXT,
    since=NUMBER,
    until=MAYBE_NUMBER,
    project=MAYBE_TEXT,
    session=MAYBE_TEXT,
    why=TEXT,
)


def pause(
    backend: Backend, *, scope: str, project: int | None, session: int | None, seconds: int | None
) -> Json:
    directory, ref = _place(backend, scope, project, session)
    length = None if seconds is None else seconds * SECOND
    order = {"scope": scope, "dir": directory, "session": ref, "milliseconds": length}
    return cast(Json, backend.order("pause", **order)["paused"])


def resume(backend: Backend, *, scope: str, project: int | None, session: int | None) -> list[Json]:
    directory, ref = _place(backend, scope, project, session)
    order = {"dir": directory, "session": ref, "everything": scope == "everything"}
    return cast(list[Json], backend.order("resume", **order)["ended"])


def erase(backend: Backend, *, what: str, id: int | None, text: str | None, dry_run: bool) -> Json:
    """It is begun; `GET` tells how far it is."""
    if (text is None) == (what == "text") or (id is None) == (what != "text"):
        raise Wrong(400, "bad_request", "Give `text` for a text, and `id` for all else.", "what")
    wanted = Erasure(cast(What, what), id=id, text=text or "")
    answer = backend.order("erase-begin", wanted=asdict(wanted), dry_run=dry_run)
    if refused := answer.get("refused"):
        raise Wrong(400, "bad_request", refused, "text")
    if answer.get("busy"):
        raise Wrong(409, "busy", "Something else is being erased. Wait for its end.")
    return {"name": answer["name"]}


def progress(backend: Backend, *, name: str) -> Json:
    told = backend.order("erase-progress", name=name)
    if told.get("lost"):
        raise not_found("There is no such erasure. POST /api/erase begins one.")
    return told


def _place(
    backend: Backend, scope: str, project: int | None, session: int | None
) -> tuple[str | None, list[str] | None]:
    if scope == "project":
        known = {each.id: each.root for each in backend.store.projects()}
        if project not in known:
            raise not_found("There is no such project. GET /api/projects lists them.")
        return known[project], None
    if scope == "session":
        found = backend.store.session(session) if session is not None else None
        if found is None:
            raise not_found("There is no such session. GET /api/sessions lists them.")
        return None, [found.agent, found.ref]
    return None, None


SCOPE = Parameter("scope", "What.", choices=SCOPES, required=True)
WHOSE = (
    Parameter("project", "Its id, for a project.", "number", most=LARGEST),
    Parameter("session", "Its id, for a session.", "number", most=LARGEST),
)
ROWS = (
    Row(
        "POST",
        "/api/pause",
        "Record nothing and tell nothing, of a project, a session or everything.",
        pause,
        body=(
            SCOPE,
            *WHOSE,
            Parameter(
                "seconds", "How long. Left out: until it is ended.", "number", most=31_536_000
            ),
        ),
        answer=PAUSED,
    ),
    Row(
        "POST",
        "/api/resume",
        "End that: what was paused.",
        resume,
        body=(SCOPE, *WHOSE),
        answer=many(PAUSED),
    ),
    Row(
        "POST",
        "/api/erase",
        "Erase for good, with all that was derived from it; it cannot be undone.",
        erase,
        body=(
            Parameter("what", "What kind of thing.", choices=ERASED, required=True),
            Parameter("id", "Which.", "number", most=LARGEST),
            Parameter("text", "Everything in which this occurs.", most=10_000),
            Parameter("dry_run", "Only count.", "switch"),
        ),
        answer=shape(name=TEXT),
        slow=True,
    ),
    Row(
        "GET",
        "/api/erase/{name}",
        "How far it is.",
        progress,
        place=(Parameter("name", "As it was given.", required=True, most=64),),
        answer=shape(
            name=TEXT,
            step=TEXT,
            done=NUMBER,
            total=NUMBER,
            counts={"type": "object"},
            error=MAYBE_TEXT,
            over=FLAG,
        ),
    ),
)
