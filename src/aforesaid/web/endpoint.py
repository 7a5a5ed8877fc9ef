"""An HTTP endpoint as data: routes, parameter checks and the OpenAPI document are derived from it.

Every error has one JSON shape and a message that names the fix:
{"error": {"code": "not_found", "message": "…", "field": null}}
"""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NoReturn, TypeVar
from urllib.parse import parse_qsl

from starlette.responses import Response

from aforesaid import errors, log, parameters
from aforesaid.errors import Misused
from aforesaid.parameters import Parameter

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Json = dict[str, Any]
MAX_ID = 2**53 - 1  # the largest whole number that every reader of JSON has
ID = Parameter("id", "Its id.", "number", required=True, most=MAX_ID)
SMALL, LARGE = 1024 * 1024, 16 * 1024 * 1024
MEDIA_TYPE = "application/json"
MAX_QUERY_FIELDS = 200
# A large body holds a long text, such as a tool's output. One of very many values would take hundreds of
# megabytes and block other requests while it is parsed.
MAX_BODY_VALUES = 100_000
TOO_MANY = f"At most {MAX_BODY_VALUES} values are accepted in a body. Send a large one as text."
STRING_OR_VALUE = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|([\[{,])', re.DOTALL)


class ApiError(Exception):
    """A refused request. `code` is for programs; the message names the fix; `field`: the wrong parameter."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.headers = headers or {}


def not_found(message: str) -> ApiError:
    return ApiError(404, "not_found", message)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`path` has {names} that are parameters in `in_path`; the body is a JSON object. `run(backend,
    **values)` gets a value for every parameter and returns what is sent as JSON. `response`: its JSON Schema.
    `slow`: it may wait (for a model, for the queue) and runs in a thread pool of its own."""

    method: Method
    path: str
    summary: str
    run: Callable[..., Any]
    in_path: tuple[Parameter, ...] = ()
    query: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    response: Json | None = None
    status: int = 200
    max_bytes: int = SMALL
    slow: bool = False

    def read(self, path_values: Mapping[str, str], query: bytes, body: bytes) -> dict[str, Any]:
        values = parameters.read(self.in_path, path_values, strict=True)
        values |= parameters.read(self.query, _parse_query(self.query, query), strict=True)
        if self.method != "GET":
            values |= parameters.read(self.body, _parse_body(body), strict=True)
        return values


ENDPOINTS: list[Endpoint] = []  # of all modules in `api/`
Handler = TypeVar("Handler", bound=Callable[..., Any])


def endpoint(
    method: Method, path: str, *given: Parameter, query: tuple[Parameter, ...] = (), **more: Any
) -> Callable[[Handler], Handler]:
    """Registers a function as the endpoint of a path; its docstring is the summary. `given`: parameters in
    the path (`{id}` is known), then those of the body or, of a GET, of the query."""
    in_path = tuple(each for each in given if f"{{{each.name}}}" in path)
    others = tuple(each for each in given if each not in in_path)
    if not in_path and "{id}" in path:
        in_path = (ID,)
    more |= {"query": others} if method == "GET" else {"query": query, "body": others}

    def register(run: Handler) -> Handler:
        summary = " ".join((run.__doc__ or "").split())
        ENDPOINTS.append(Endpoint(method, path, summary, run, in_path, **more))
        return run

    return register


# JSON Schemas of responses.
TYPES: dict[str, Json] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "dict": {"type": "object"},
}
TREE: Json = {
    "type": "array",
    "description": "Markdown: each node is a text or [tag, attributes?, ...children].",
}


def shape(fields: str = "", /, **more: Json) -> Json:
    """An object that has all of these. `fields`: such as `id:int title:str? tags:[str]`; ?: may be null."""
    properties = {}
    for field in fields.split():
        name, _, kind = field.partition(":")
        found = TYPES[kind.strip("[]?")]
        if kind.endswith("?"):
            found = {"type": [found["type"], "null"]}
        properties[name] = many(found) if kind.startswith("[") else found
    properties |= more
    return {"type": "object", "required": list(properties), "properties": properties}


def many(item: Json) -> Json:
    return {"type": "array", "items": item}


def page_of(item: Json) -> Json:
    return shape("next:str?", items=many(item))


def encode(value: Any) -> bytes:
    """JSON as bytes. Captured text may hold lone surrogates; then everything is escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def json_response(value: Any, status: int = 200) -> Response:
    return Response(encode(value), status, media_type=MEDIA_TYPE)


# The first that matches. 503: it may work later.
STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.Edited, 409, "edited_meanwhile"),
    (errors.MemoryRefused, 409, "refused"),
    (errors.NotFound, 404, "not_found"),
    (errors.ConfigError, 400, "bad_request"),
    (Misused, 400, "bad_request"),
    (errors.StoreError, 503, "store_unavailable"),
    (errors.WorkerError, 503, "worker_unavailable"),
    (errors.AforesaidError, 409, "refused"),
    (RecursionError, 400, "bad_request"),
)
BROKEN = "Internal error. See `aforesaid worker logs`, or run `aforesaid doctor`."
DAMAGED = "The database cannot be used now. Run `aforesaid doctor`."


def error_response(error: Exception) -> Response:
    if isinstance(error, ApiError):
        response = _error(error.status, error.code, error.message, error.field)
        response.headers.update(error.headers)
        return response
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            return _error(status, code, str(error), getattr(error, "field", None))
    log.warning("web.failed", error=log.cause(error))
    if isinstance(error, sqlite3.Error | OSError):
        return _error(503, "store_unavailable", DAMAGED)
    return _error(500, "fault", BROKEN)


def _error(status: int, code: str, message: str, field: str | None = None) -> Response:
    return json_response({"error": {"code": code, "message": message, "field": field}}, status)


def _parse_query(known: tuple[Parameter, ...], query: bytes) -> Json:
    try:
        pairs = parse_qsl(query.decode("latin-1"), True, max_num_fields=MAX_QUERY_FIELDS)
    except ValueError:
        raise Misused(f"The query has over {MAX_QUERY_FIELDS} parts. Send fewer.") from None
    kinds = {parameter.name: parameter.kind for parameter in known}
    found: Json = {}
    for name, value in pairs:
        if kinds.get(name) == "names":
            found.setdefault(name, []).append(value)
        elif name in found:
            raise Misused(f"`{name}` is given twice. Send it once.", name)
        elif value or kinds.get(name) != "number":
            found[name] = value
    return found


def _parse_body(body: bytes) -> Json:
    if not body.strip():
        return {}
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if len(text) > MAX_BODY_VALUES and count_values(text) > MAX_BODY_VALUES:
            raise ApiError(413, "too_large", TOO_MANY)
        found = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise Misused("The body is nested too deeply.") from None
    except ValueError as error:  # invalid UTF-8, too
        raise Misused(f"The body is not JSON: {str(error)[:200]}.") from None
    if not isinstance(found, dict):
        raise Misused("The body must be a JSON object.")
    return found


def count_values(text: str) -> int:
    """An upper bound of the number of JSON values, counted up to the limit. Strings are skipped."""
    found = (1 for each in STRING_OR_VALUE.finditer(text) if each[1])
    return sum(islice(found, MAX_BODY_VALUES + 1))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")
