"""For agents that have no hooks of ours: what happened in a session is told here.

Everything goes through the spool, as what hooks tell: the answer comes when it is on the disk, so a worker
that is killed right after it loses nothing, and nothing is ever refused because a session is not known.
Sessions are made in one place, where the spool is taken in.
"""

import time
from typing import Any
from uuid import uuid4

from recollect.agents.api_agent import NAME
from recollect.model.sessions import Session
from recollect.parameters import Parameter
from recollect.web.backend import Backend, Json
from recollect.web.json_answers import encode
from recollect.web.rows import LARGE, SMALL, Row, Wrong, not_found

LOOK_SECONDS = 0.05
MOMENT_SECONDS = 2.0  # for what is on its way to be taken in
FULL = "This could not be kept: {}. Make room, or run `recollect doctor`; then send it again."
UNKNOWN = "There is no such session. POST /sessions/{id}/init begins one."

ID = Parameter("id", "The caller's own name of the session.", required=True, most=500)
NUMBER = Parameter(
    "prompt_number", "The caller's own number of the prompt.", "number", most=1_000_000
)
DIRECTORY = Parameter("cwd", "Where the tool ran. Left out: where the session is.", most=4096)


def init(
    backend: Backend, id: str, project: str, prompt: str | None, prompt_number: int | None
) -> Json:
    """A session, or its next prompt."""
    if not project.startswith("/"):
        raise Wrong(400, "bad_request", "`project` must be an absolute path.", "project")
    _keep(backend, "context", project, kind="start", session=id)
    if prompt:
        said = {"prompt": prompt, "prompt_number": prompt_number}
        _keep(backend, "new", project, kind="prompt", session=id, **said)
    return {"session": id, "queued": True}


def observe(backend: Backend, id: str, cwd: str | None, **tool: Any) -> Json:
    cwd = cwd if cwd and cwd.startswith("/") else None
    capture = _keep(backend, "save", cwd or "", kind="tool", session=id, cwd=cwd, **tool)
    return {"queued": True, "id": capture}


def summarize(
    backend: Backend, id: str, last_message: str | None, prompt_number: int | None
) -> Json:
    said = {"last_message": last_message or "", "prompt_number": prompt_number}
    return {"queued": True, "id": _keep(backend, "summary", "", kind="stop", session=id, **said)}


def status(backend: Backend, id: str) -> Json:
    session = _find(backend, id, MOMENT_SECONDS)
    return {
        "session": id,
        "status": session.status,
        "prompts": session.prompts,
        "observations": len(backend.store.observation_rows_of_session(session.id)),
        "summaries": len(backend.store.summaries_of_session(session.id)),
        "pending": backend.store.pending_of_session(session.id),
        "last_event_at": session.last_event_at,
    }


def end(backend: Backend, id: str) -> Json:
    """Over. What it left to do is waited for; what is not done by then stays queued, and will be done."""
    until = time.monotonic() + backend.home.settings.number("web.delete_seconds")
    session = _find(backend, id, max(MOMENT_SECONDS, until - time.monotonic()))
    capture = _keep(backend, "end", session.project_dir, kind="end", session=id)
    waiting = backend.home.paths.spool_new / capture
    while True:
        taken = not waiting.exists()
        pending = backend.store.pending_of_session(session.id)
        if (taken and not pending) or time.monotonic() >= until or backend.stopping():
            return {"ended": taken, "pending": pending + (not taken)}
        time.sleep(LOOK_SECONDS)


def _keep(backend: Backend, hook: str, directory: str, **payload: Any) -> str:
    """The capture's id: it is in the log, and with the event that comes of it."""
    body = {"id": uuid4().hex} | {name: v for name, v in payload.items() if v is not None}
    try:
        return backend.capture(hook, directory, encode(body))
    except OSError as error:
        raise Wrong(503, "spool_unavailable", FULL.format(error.strerror)) from None
    except RecursionError:
        raise Wrong(400, "bad_request", "The body is nested too deeply.") from None


def _find(backend: Backend, id: str, seconds: float) -> Session:
    """What was sent a moment ago may still be in the spool."""
    until = time.monotonic() + seconds
    while True:
        settled = not any(backend.home.paths.spool_new.iterdir())
        session = backend.store.session_by_ref(NAME, id)
        if session is not None:
            return session
        if settled or time.monotonic() >= until or backend.stopping():
            raise not_found(UNKNOWN)
        time.sleep(LOOK_SECONDS)


QUEUED: Json = {
    "type": "object",
    "required": ["queued"],
    "properties": {
        "queued": {"const": True},
        "id": {"type": "string"},
        "session": {"type": "string"},
    },
}
COUNTS = ("prompts", "observations", "summaries", "pending", "last_event_at")
STATUS: Json = {
    "type": "object",
    "properties": {
        "session": {"type": "string"},
        "status": {"enum": ["active", "completed", "interrupted"]},
        **{name: {"type": "integer"} for name in COUNTS},
    },
}
ENDED: Json = {
    "type": "object",
    "properties": {"ended": {"type": "boolean"}, "pending": {"type": "integer"}},
}
ROWS = (
    Row(
        "POST",
        "/sessions/{id}/init",
        "A session begins, or its next prompt.",
        init,
        place=(ID,),
        body=(
            Parameter("project", "The directory that is worked in.", required=True, most=4096),
            Parameter("prompt", "What the user said.", most=SMALL),
            NUMBER,
        ),
        answer=QUEUED,
        status=202,
    ),
    Row(
        "POST",
        "/sessions/{id}/observations",
        "A tool was used. Queued, whether or not the session is known.",
        observe,
        place=(ID,),
        body=(
            Parameter("tool_name", "Such as Edit or Bash.", required=True, most=500),
            Parameter("tool_input", "What went in: any JSON.", "json"),
            Parameter("tool_response", "What came out: any JSON.", "json"),
            Parameter("error", "Why it failed, if it did.", most=SMALL),
            DIRECTORY,
            NUMBER,
            Parameter(
                "tool_use_id",
                "The caller's own id of the call: told twice, it counts once.",
                most=500,
            ),
        ),
        answer=QUEUED,
        status=202,
        largest=LARGE,
    ),
    Row(
        "POST",
        "/sessions/{id}/summarize",
        "The turn is over: its observations and its summary are written.",
        summarize,
        place=(ID,),
        body=(Parameter("last_message", "What the agent said at its end.", most=SMALL), NUMBER),
        answer=QUEUED,
        status=202,
    ),
    Row(
        "GET",
        "/sessions/{id}/status",
        "How far a session's work is.",
        status,
        place=(ID,),
        answer=STATUS,
        slow=True,
    ),
    Row(
        "DELETE",
        "/sessions/{id}",
        "Ends a session, and waits for its work as long as `web.delete_seconds` says. Nothing is lost.",
        end,
        place=(ID,),
        answer=ENDED,
        slow=True,
    ),
)
