"""Sessions of agents that have no hooks of ours, which report what happened over HTTP.

Everything goes through the spool, as hook events do: the response is sent once the capture is on disk, so a
worker that is killed right after it loses nothing. No session is refused because it is unknown: sessions are
created when the spool is ingested.
"""

import os
import time
from typing import Any
from uuid import uuid4

from aforesaid.agents.api import NAME
from aforesaid.model.sessions import Session
from aforesaid.parameters import Parameter
from aforesaid.web.api import common
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import LARGE, SMALL, ApiError, encode, endpoint, not_found, shape

POLL_SECONDS = 0.05
INGEST_SECONDS = 2.0  # for captures that are still in the spool
FULL = (
    "This could not be stored: {}. Free some space, or run `aforesaid doctor`; then send it again."
)
UNKNOWN = "There is no such session. POST /sessions/{id}/init starts one."
REF = Parameter("id", "The caller's own id of the session.", required=True, most=500)
PROMPT_NUMBER = Parameter(
    "prompt_number", "The caller's own number of the prompt.", "number", most=1_000_000
)
QUEUED: Json = {
    "type": "object",
    "required": ["queued"],
    "properties": shape("id:str session:str", queued={"const": True})["properties"],
}


@endpoint(
    "POST",
    "/sessions/{id}/init",
    REF,
    Parameter("project", "The working directory.", required=True, most=4096),
    Parameter("prompt", "The user's prompt.", most=SMALL),
    PROMPT_NUMBER,
    response=QUEUED,
    status=202,
)
def start_session(backend: Backend, *, id: str, project: str, **prompt: Any) -> Json:
    """Start a session, or its next prompt."""
    if not project.startswith("/"):
        raise ApiError(400, "bad_request", "`project` must be an absolute path.", "project")
    _capture(backend, "context", project, kind="start", session=id)
    if prompt["prompt"]:
        _capture(backend, "new", project, kind="prompt", session=id, **prompt)
    return {"session": id, "queued": True}


@endpoint(
    "POST",
    "/sessions/{id}/observations",
    REF,
    Parameter("tool_name", "Such as Edit or Bash.", required=True, most=500),
    Parameter("tool_input", "The input: any JSON.", "json"),
    Parameter("tool_response", "The result: any JSON. A command's plain output is fine.", "json"),
    Parameter("error", "Why it failed, if it did.", most=SMALL),
    Parameter("cwd", "Where the tool ran. Default: the session's directory.", most=4096),
    PROMPT_NUMBER,
    Parameter("tool_use_id", "The caller's own id of the call, for deduplication.", most=500),
    response=QUEUED,
    status=202,
    max_bytes=LARGE,
)
def add_tool_call(backend: Backend, *, id: str, cwd: str | None, **tool: Any) -> Json:
    """Report a tool call. It is queued, whether or not the session is known."""
    cwd = cwd if cwd and cwd.startswith("/") else None
    capture = _capture(backend, "save", cwd or "", kind="tool", session=id, cwd=cwd, **tool)
    return {"queued": True, "id": capture}


@endpoint(
    "POST",
    "/sessions/{id}/summarize",
    REF,
    Parameter("last_message", "The agent's last message.", most=SMALL),
    PROMPT_NUMBER,
    response=QUEUED,
    status=202,
)
def end_turn(
    backend: Backend, *, id: str, last_message: str | None, prompt_number: int | None
) -> Json:
    """End a turn: its observations and summary are written."""
    more = {"last_message": last_message or "", "prompt_number": prompt_number}
    return {"queued": True, "id": _capture(backend, "summary", "", kind="stop", session=id, **more)}


@endpoint(
    "GET",
    "/sessions/{id}/status",
    REF,
    response=shape(
        "session:str prompts:int observations:int summaries:int pending:int last_event_at:int",
        status={"enum": ["active", "completed", "interrupted"]},
    ),
    slow=True,
)
def read_status(backend: Backend, *, id: str) -> Json:
    """Report how far a session has been processed."""
    session = _find(backend, id, INGEST_SECONDS)
    return common.pick(session, "status prompts last_event_at") | {
        "session": id,
        "observations": len(backend.store.observations.rows_for_session(session.id)),
        "summaries": len(backend.store.summaries.for_session(session.id)),
        "pending": backend.store.jobs.count_pending(session.id),
    }


@endpoint("DELETE", "/sessions/{id}", REF, response=shape("ended:bool pending:int"), slow=True)
def end_session(backend: Backend, *, id: str) -> Json:
    """End a session, and wait up to `web.delete_seconds` for its pending work. The rest stays queued."""
    until = time.monotonic() + backend.home.settings.number("web.delete_seconds")
    session = _find(backend, id, max(INGEST_SECONDS, until - time.monotonic()))
    capture = _capture(backend, "end", session.project_dir, kind="end", session=id)
    waiting = backend.home.paths.spool_new / capture
    while True:
        ingested = not waiting.exists()
        pending = backend.store.jobs.count_pending(session.id)
        if (ingested and not pending) or time.monotonic() >= until or backend.stopping():
            return {"ended": ingested, "pending": pending + (not ingested)}
        time.sleep(POLL_SECONDS)


def _capture(backend: Backend, hook: str, directory: str, **payload: Any) -> str:
    """Returns the capture's id, which is in the log and with the event."""
    body = {"id": uuid4().hex} | {name: v for name, v in payload.items() if v is not None}
    try:
        return backend.capture(hook, directory, encode(body))
    except OSError as error:
        raise ApiError(503, "spool_unavailable", FULL.format(error.strerror)) from None
    except RecursionError:
        raise ApiError(400, "bad_request", "The body is nested too deeply.") from None


def _find(backend: Backend, id: str, seconds: float) -> Session:
    """Waits for captures that may still be in the spool."""
    until = time.monotonic() + seconds
    while True:
        with os.scandir(backend.home.paths.spool_new) as captures:
            settled = not any(captures)
        session = backend.store.sessions.find(NAME, id)
        if session is not None:
            return session
        if settled or time.monotonic() >= until or backend.stopping():
            raise not_found(UNKNOWN)
        time.sleep(POLL_SECONDS)
