"""The guard before every route: what it refuses, no handler sees.

Loopback keeps other machines out, and nobody else: any page in the user's browser can send requests here,
and with a name that it points at 127.0.0.1 it can even read the answers. So each request must name us as
its host, come from our own pages or from no page, and carry the token or our cookie. What changes something
must be JSON, which a foreign page cannot send unasked, and is never a GET. The order is fixed: the cheapest
proof of a stranger comes first, and a stranger learns nothing of which paths there are.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.web.entering import Entrance
from recollect.web.errors import refusal
from recollect.web.matching import Place, Route, Table
from recollect.web.rows import SMALL, Wrong

BODY_SECONDS = 10.0
LARGEST_HEAD = (
    16 * 1024
)  # the server refuses what is longer and comes in parts; we, what comes at once
ONCE = (  # which of two would hold, one may read differently than we do
    *(b"host", b"origin", b"authorization", b"cookie"),
    *(b"content-type", b"content-length", b"sec-fetch-site"),
)
OURS = "x-recollect"  # a header that no foreign page can add
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OPEN = "Open the viewer with `recollect open`: it makes a link that is good once."
PAGE = (
    f"<!doctype html><html lang=en><title>recollect</title><h1>recollect</h1><p>{OPEN}</p></html>"
)
ASKED = "recollect.asked"  # where in the scope an endpoint finds it


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was let in: its route, the values in its path, and its body."""

    route: Route
    values: Mapping[str, str]
    query: bytes
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Security:
    port: int
    entrance: Entrance

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))


class Guard:
    """ASGI, around everything else."""

    def __init__(self, table: Table, security: Security, app: ASGIApp) -> None:
        self._table, self._security, self._app = table, security, app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send, head=scope["method"] == "HEAD")
        headers = _headers(scope)
        try:
            route, place, by_cookie = self._admit(scope, headers)
            body = await self._body(route, headers, receive, by_cookie=by_cookie)
        except Wrong as wrong:
            await _refused(wrong, scope, headers)(scope, receive, send)
            return
        query = scope["query_string"]
        scope[ASKED] = Asked(route, place.values, query, headers, body)
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope, headers: Mapping[str, str]) -> tuple[Route, Place, bool]:
        self._check_origin(scope, headers)
        place = self._table.find(scope["raw_path"])
        known = None if place is None else place.routes.get(_verb(scope))
        by_cookie = False
        if known is None or not known.open:
            by_cookie = self._check_token(headers)
        if place is None:
            raise Wrong(404, "not_found", "There is no such path. /openapi.json lists them.")
        if known is None:
            raise Wrong(
                405, "method_not_allowed", f"This path takes {place.methods}.", place.methods
            )
        return known, place, by_cookie

    def _check_origin(self, scope: Scope, headers: Mapping[str, str]) -> None:
        names = [name for name, _ in scope["headers"]]
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(scope["raw_path"]) + len(scope["query_string"]) > LARGEST_HEAD:
            raise Wrong(431, "too_large", f"At most {LARGEST_HEAD} bytes of headers are taken.")
        if doubled := next((name for name in ONCE if names.count(name) > 1), None):
            message = f"The header {doubled.decode()} is there twice. Send it once."
            raise Wrong(403, "doubled_header", message)
        if headers.get("host", "").lower() not in self._security.hosts:
            raise Wrong(
                403, "foreign_host", "This host name is not ours. Use 127.0.0.1 and our port."
            )
        if not scope["raw_path"].startswith(b"/"):
            raise Wrong(403, "foreign_host", "Ask for a path, not for a whole address.")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{headers['host'].lower()}":
            raise Wrong(403, "foreign_origin", "Only the viewer's own pages may ask this.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Wrong(403, "foreign_origin", "Only the viewer's own pages may ask this.")

    def _check_token(self, headers: Mapping[str, str]) -> bool:
        """Whether it is a browser, by its cookie."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        entrance = self._security.entrance
        if scheme.lower() == "bearer" and entrance.knows_token(
            given.strip().encode("latin-1", "replace")
        ):
            return False
        name = entrance.cookie_name
        if any(entrance.knows_cookie(value) for value in _cookies(headers.get("cookie", ""), name)):
            return True
        raise Wrong(401, "no_token", f"A token is needed: the one in run/web-token. {OPEN}")

    async def _body(
        self, route: Route, headers: Mapping[str, str], receive: Receive, *, by_cookie: bool
    ) -> bytes:
        largest = route.largest if route.method != "GET" else 0
        if route.method != "GET":
            if not _is_json(headers.get("content-type", "")):
                raise Wrong(415, "not_json", "Send JSON, with Content-Type: application/json.")
            if by_cookie and OURS not in headers:
                raise Wrong(403, "foreign_origin", "A page must send the header X-Recollect: 1.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > largest:
            raise too_large(largest)
        if route.method == "GET" and "transfer-encoding" not in headers:
            return b""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await _read(receive, largest)
        except TimeoutError:
            raise Wrong(
                408, "too_slow", f"The body did not come in {BODY_SECONDS:.0f} s."
            ) from None


def too_large(largest: int = SMALL) -> Wrong:
    return Wrong(413, "too_large", f"At most {largest} bytes are taken here.")


async def _read(receive: Receive, largest: int) -> bytes:
    """Counted as it comes: what is sent in chunks says no length before."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Wrong(400, "cut_off", "The body was cut off.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > largest:
            raise too_large(largest)
        if not message.get("more_body", False):
            return b"".join(parts)


def _verb(scope: Scope) -> str:
    method: str = scope["method"]
    return "GET" if method == "HEAD" else method


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _cookies(header: str, name: str) -> list[str]:
    """Every value under the name: other programs on this host may have set one, too."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return [value for key, _, value in pairs if key == name][:10]


def _is_json(content_type: str) -> bool:
    kind, *rest = (part.strip().lower() for part in content_type.split(";"))
    return kind == "application/json" and rest in ([], ["charset=utf-8"], ['charset="utf-8"'])


def _refused(wrong: Wrong, scope: Scope, headers: Mapping[str, str]) -> Response:
    wants_page = "text/html" in headers.get("accept", "") and scope["method"] in ("GET", "HEAD")
    if wrong.status == 401 and wants_page:
        answer: Response = HTMLResponse(PAGE, 401)
    else:
        field = None if wrong.status == 405 else wrong.field
        answer = refusal(wrong.status, wrong.code, wrong.message, field)
    if wrong.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if wrong.status == 405:
        answer.headers["Allow"] = wrong.field or ""
    if wrong.status in (408, 413, 415):
        answer.headers["Connection"] = "close"  # the rest of the body is not waited for
    return answer


def _with_headers(send: Send, *, head: bool) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        elif message["type"] == "http.response.body" and head:
            message = {**message, "body": b""}
        await send(message)

    return sent
