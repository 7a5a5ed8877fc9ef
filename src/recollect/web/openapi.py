"""The OpenAPI document, from the rows: what is written here is what is checked."""

from collections.abc import Iterable
from typing import Any

from recollect import __version__
from recollect.parameters import Parameter, schema
from recollect.web.rows import Row

Json = dict[str, Any]
ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "field"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "What to do about it."},
                "field": {"type": ["string", "null"]},
            },
        }
    },
}
REFUSALS = {
    400: "A parameter is missing, unknown or wrong; `field` names it.",
    401: "No token.",
    403: "A foreign host or page.",
    404: "There is no such thing.",
    405: "The path takes other methods; `Allow` names them.",
    408: "The body did not come in time.",
    409: "It has changed meanwhile, or cannot be done as things are.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "Too many streams are open.",
    431: "The headers are too long.",
    503: "The store or the worker cannot do this now.",
}
STREAM = "/api/stream"
ABOUT = (
    "recollect's memory, on this machine and for its owner alone. Every request needs the token in "
    "`run/web-token` (`Authorization: Bearer …`); what changes something is sent as JSON. Times are "
    "milliseconds since the epoch. Lists are `{items, next}`; send `next` as `before` or `after` for more."
)


def document(rows: Iterable[Row]) -> Json:
    paths: Json = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    return {
        "openapi": "3.1.0",
        "info": {"title": "recollect", "version": __version__, "description": ABOUT},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": ERROR},
            "responses": {str(status): _refusal(why) for status, why in REFUSALS.items()},
        },
    }


def _operation(row: Row) -> Json:
    found: Json = {
        "operationId": _name(row),
        "summary": row.about,
        "responses": {str(row.status): _answer(row), **_refusals(row)},
    }
    listed = [_parameter(each, "path") for each in row.place]
    listed += [_parameter(each, "query") for each in row.query]
    if listed:
        found["parameters"] = listed
    if row.method != "GET":
        found["requestBody"] = {
            "required": any(each.required for each in row.body),
            "content": {"application/json": {"schema": _body(row)}},
        }
    return found


def _body(row: Row) -> Json:
    return schema(row.body) | {"additionalProperties": False}


def _answer(row: Row) -> Json:
    kind = "text/event-stream" if row.path == STREAM else "application/json"
    content: Json = {"schema": row.answer or {}}
    return {"description": row.about, "content": {kind: content}}


def _refusals(row: Row) -> Json:
    of_none = (405, 429)
    wanted = [400, 401, 403, 404, 431, 503]
    if row.method != "GET":
        wanted = [status for status in REFUSALS if status not in of_none]
    if row.path == STREAM:
        wanted.append(429)
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in wanted}


def _refusal(why: str) -> Json:
    shape = {"$ref": "#/components/schemas/Error"}
    return {"description": why, "content": {"application/json": {"schema": shape}}}


def _parameter(parameter: Parameter, where: str) -> Json:
    found: Json = {
        "name": parameter.name,
        "in": where,
        "required": parameter.required or where == "path",
        "schema": parameter.schema(),
    }
    if parameter.about:
        found["description"] = parameter.about
    return found


def _name(row: Row) -> str:
    words = [part.strip("{}").replace("-", "_") for part in row.path.split("/") if part]
    return "_".join([row.method.lower(), *words])
