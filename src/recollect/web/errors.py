"""Refusals: one JSON shape, whatever went wrong, and a message that names the fix.

{"error": {"code": "not_found", "message": "…", "field": null}}
"""

import sqlite3

from starlette.responses import Response

from recollect import errors, log
from recollect.parameters import Misused
from recollect.web.json_answers import answer
from recollect.web.rows import Wrong

# The first that fits. What the store or the worker cannot do now, it may be able to do later.
STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.Edited, 409, "edited_meanwhile"),
    (errors.MemoryRefused, 409, "refused"),
    (errors.NotFound, 404, "not_found"),
    (errors.ConfigError, 400, "bad_request"),
    (errors.StoreError, 503, "store_unavailable"),
    (errors.WorkerError, 503, "worker_unavailable"),
    (errors.RecollectError, 409, "refused"),
    (Misused, 400, "bad_request"),
    (RecursionError, 400, "bad_request"),
)
BROKEN = "This failed inside recollect. `recollect worker logs` says where; run `recollect doctor`."
DAMAGED = "The database cannot be used now. Run `recollect doctor`."


def refusal(status: int, code: str, message: str, field: str | None = None) -> Response:
    return answer({"error": {"code": code, "message": message, "field": field}}, status)


def told(error: Exception) -> Response:
    """What the asker is told of a failure. Only what nobody expected is a fault of ours."""
    if isinstance(error, Wrong):
        return refusal(error.status, error.code, error.message, error.field)
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            return refusal(status, code, str(error))
    log.warning("web.failed", error=log.cause(error))
    if isinstance(error, sqlite3.Error | OSError):
        return refusal(503, "store_unavailable", DAMAGED)
    return refusal(500, "fault", BROKEN)
