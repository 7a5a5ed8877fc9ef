"""The OpenAPI document, derived from the endpoints."""

from collections.abc import Iterable

from aforesaid import __version__
from aforesaid.parameters import Parameter, schema
from aforesaid.web.endpoint import Endpoint, Json, shape

STREAM = "/api/stream"
ERRORS = {
    400: "A parameter is missing, unknown or invalid; `field` names it.",
    401: "The token is missing or wrong.",
    403: "The request has a foreign host or origin.",
    404: "Not found.",
    405: "The path has other methods; `Allow` lists them.",
    408: "The body did not arrive in time.",
    409: "It was changed meanwhile, or is refused in its current state.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    429: "Too many streams are open.",
    431: "The headers are too long.",
    503: "The store or the worker is unavailable.",
}
ABOUT = (
    "The memory of aforesaid, on loopback. Every request needs the token in `run/web-token` "
    "(`Authorization: Bearer …`); requests that change something are JSON. Times are "
    "milliseconds since the epoch. Lists are `{items, next}`; send `next` as `before` or `after` for more."
)


def document(endpoints: Iterable[Endpoint]) -> Json:
    paths: Json = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    error = _content({"$ref": "#/components/schemas/Error"})
    return {
        "openapi": "3.1.0",
        "info": {"title": "aforesaid", "version": __version__, "description": ABOUT},
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": shape(error=shape("code:str message:str field:str?"))},
            "responses": {
                str(status): {"description": why, "content": error}
                for status, why in ERRORS.items()
            },
        },
    }


def _operation(endpoint: Endpoint) -> Json:
    words = [part.strip("{}").replace("-", "_") for part in endpoint.path.split("/") if part]
    is_get, is_stream = endpoint.method == "GET", endpoint.path == STREAM
    listed = [400, 401, 403, 404, 431, 503]
    if not is_get:
        listed = [status for status in ERRORS if status not in (405, 429)]
    errors = [*listed, 429] if is_stream else listed
    response = {
        "description": endpoint.summary,
        "content": _content(
            endpoint.response or {}, "text/event-stream" if is_stream else "application/json"
        ),
    }
    found: Json = {
        "operationId": "_".join([endpoint.method.lower(), *words]),
        "summary": endpoint.summary,
        "responses": {
            str(endpoint.status): response,
            **{str(each): {"$ref": f"#/components/responses/{each}"} for each in errors},
        },
        "parameters": [
            *(_parameter(each, "path") for each in endpoint.in_path),
            *(_parameter(each, "query") for each in endpoint.query),
        ],
    }
    if not is_get:
        found["requestBody"] = {
            "required": any(each.required for each in endpoint.body),
            "content": _content(schema(endpoint.body) | {"additionalProperties": False}),
        }
    return found


def _content(found: Json, kind: str = "application/json") -> Json:
    return {kind: {"schema": found}}


def _parameter(parameter: Parameter, where: str) -> Json:
    found: Json = {"name": parameter.name, "in": where, "schema": parameter.schema()}
    found["required"] = parameter.required or where == "path"
    return found | ({"description": parameter.about} if parameter.about else {})
