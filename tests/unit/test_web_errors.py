"""What the asker is told of a failure: one shape, and a code that says whose fault it is."""

import json
import sqlite3

from aforesaid import errors
from aforesaid.web.endpoint import ApiError, error_response
from tests.support.tables import loop_over


@loop_over(
    ("error", "status", "code"),
    [
        (errors.ConfigError("That is no memory: no name."), 400, "bad_request"),
        (errors.NotFound("gone"), 404, "not_found"),
        (errors.Edited("changed"), 409, "edited_meanwhile"),
        (errors.StoreError("locked"), 503, "store_unavailable"),
        (errors.WorkerError("away"), 503, "worker_unavailable"),
        (RecursionError("deep"), 400, "bad_request"),
        (sqlite3.OperationalError("disk"), 503, "store_unavailable"),
        (KeyError("own"), 500, "fault"),
        (ApiError(409, "bad_setting", "file"), 409, "bad_setting"),
    ],
)
def test_a_failure_has_a_status_and_a_code(error: Exception, status: int, code: str) -> None:
    """A wrong text is no wrong setting, although a command calls both a mistake in what it was given."""
    answer = error_response(error)
    assert (answer.status_code, json.loads(bytes(answer.body))["error"]["code"]) == (status, code)
