"""Access control before every route: nothing that is refused here reaches a handler.

Loopback keeps other machines out, but any page in the user's browser can send requests here (CSRF), and with
a name that resolves to 127.0.0.1 it can read the responses (DNS rebinding). So each request must have our
Host, come from our own origin or from none, and carry the token or our cookie. Requests that change something
must be JSON, which needs a CORS preflight, and are never GET. The cheapest check comes first, and without
authentication nobody learns which paths exist.

Programs use the token, a file that only its owner can read. A browser gets a cookie by a one-time link, since
links end up in shell histories. The cookie is signed with the token for one port, so it outlives a restart of
the worker. Where the system tells (Linux), connections of other users' processes are refused, even with a
token.
"""

import asyncio
import hmac
import os
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aforesaid.web.endpoint import ApiError, error_response

BODY_SECONDS = 10.0
MAX_HEAD_BYTES = 16 * 1024  # of request line and headers
SINGLE_HEADERS = (  # another program may use the other of two
    *("host", "origin", "authorization", "cookie"),
    *("content-type", "content-length", "sec-fetch-site"),
)
OUR_HEADER = "x-aforesaid"  # a foreign page cannot add it
JSON_TYPES = tuple(f"application/json{each}" for each in ("", ";charset=utf-8", ';charset="utf-8"'))
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OPEN = "Open the viewer with `aforesaid open`: it creates a link that works once."
PAGE = (
    f"<!doctype html><html lang=en><title>aforesaid</title><h1>aforesaid</h1><p>{OPEN}</p></html>"
)
LOGIN_PATH = "/enter"
BY_COOKIE = "aforesaid.by_cookie"  # in the scope: authenticated by the cookie

CODE_SECONDS = 60.0
COOKIE_DAYS = 30
DAY_SECONDS = 86_400
MAX_CODES = 100


class Authenticator:
    def __init__(self, token: str, port: int, *, seconds: Callable[[], float] = time.time) -> None:
        self._token, self._port, self._seconds = token.encode(), port, seconds
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}  # until when each is valid
        self.cookie_name = f"aforesaid-{port}"
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    def create_link(self, view: str = "") -> str:
        """A URL for a browser, valid once and for a minute."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            now = self._seconds()
            self._codes = {known: until for known, until in self._codes.items() if until > now}
            while len(self._codes) >= MAX_CODES:
                self._codes.pop(next(iter(self._codes)))
            self._codes[code] = now + CODE_SECONDS
        suffix = f"&view={quote(view, safe='')}" if view else ""
        return f"http://127.0.0.1:{self._port}{LOGIN_PATH}?code={code}{suffix}"

    def redeem_code(self, code: str) -> str | None:
        with self._lock:
            until = self._codes.pop(code, None)
        if until is None or self._seconds() > until:
            return None
        return self._sign(f"{secrets.token_urlsafe(16)}.{int(self._seconds())}")

    def accepts_token(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._token)

    def accepts_cookie(self, given: str) -> bool:
        value, _, _ = given.rpartition(".")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._sign(value).encode()):
            return False
        created = int(value.rpartition(".")[2])  # we signed it
        return self._seconds() - created < COOKIE_DAYS * DAY_SECONDS

    def _sign(self, value: str) -> str:
        signed = f"viewer:{self._port}:{value}".encode("utf-8", "replace")
        return f"{value}.{hmac.new(self._token, signed, sha256).hexdigest()}"


class Guard:
    """ASGI middleware around the router. It also turns every ApiError into a response."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send, head=scope["method"] == "HEAD")
        headers = Headers(scope=scope)
        try:
            self._check_origin(scope, headers)
            is_get = scope["method"] in ("GET", "HEAD")
            is_login = is_get and scope["raw_path"] == LOGIN_PATH.encode()
            by_cookie = not is_login and self._check_token(headers)
            # Routes match the encoded path: a name may hold an encoded slash.
            path = scope["raw_path"].decode("latin-1")
            await self._app({**scope, "path": path, BY_COOKIE: by_cookie}, receive, send)
        except ApiError as error:
            response = error_response(error)
            if error.status == 401 and wants_page(scope):
                response = HTMLResponse(PAGE, 401, headers=error.headers)
            await response(scope, receive, send)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        size = sum(len(name) + len(value) for name, value in scope["headers"])
        if size + len(scope["raw_path"]) + len(scope["query_string"]) > MAX_HEAD_BYTES:
            raise ApiError(
                431, "too_large", f"At most {MAX_HEAD_BYTES} bytes of headers are accepted."
            )
        if doubled := next((n for n in SINGLE_HEADERS if len(headers.getlist(n)) > 1), None):
            message = f"The header {doubled} is there twice. Send it once."
            raise ApiError(403, "doubled_header", message)
        if headers.get("host", "").lower() not in self._authenticator.hosts:
            raise ApiError(403, "foreign_host", "Unknown host name. Use 127.0.0.1 and our port.")
        if not scope["raw_path"].startswith(b"/"):
            raise ApiError(403, "foreign_host", "Request a path, not an absolute URL.")
        origin = headers.get("origin")
        foreign = origin is not None and origin.lower() != f"http://{headers['host'].lower()}"
        if foreign or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise ApiError(403, "foreign_origin", "Only the viewer's own pages may request this.")

    def _check_token(self, headers: Headers) -> bool:
        """Whether it is a browser, authenticated by its cookie."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        token = given.strip().encode("latin-1", "replace")
        if scheme.lower() == "bearer" and self._authenticator.accepts_token(token):
            return False
        # Other programs on this host may have set a cookie of this name, too.
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        cookies = [value for key, _, value in pairs if key == self._authenticator.cookie_name]
        if any(map(self._authenticator.accepts_cookie, cookies[:10])):
            return True
        message = f"A token is required: the one in run/web-token. {OPEN}"
        raise ApiError(401, "no_token", message, headers={"WWW-Authenticate": "Bearer"})


async def read_body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    """The request's body, after checks of type and length. A GET has none."""
    headers, is_get = Headers(scope=scope), scope["method"] in ("GET", "HEAD")
    max_bytes = 0 if is_get else max_bytes
    close = {"Connection": "close"}  # the rest of the body is not waited for
    too_large = f"At most {max_bytes} bytes are accepted here."
    if not is_get:
        parts_of_type = headers.get("content-type", "").lower().split(";")
        if ";".join(map(str.strip, parts_of_type)) not in JSON_TYPES:
            not_json = "Send JSON, with Content-Type: application/json."
            raise ApiError(415, "not_json", not_json, headers=close)
        if scope[BY_COOKIE] and OUR_HEADER not in headers:
            raise ApiError(403, "foreign_origin", "A page must send the header X-Aforesaid: 1.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > max_bytes:
        raise ApiError(413, "too_large", too_large, headers=close)
    if is_get and "transfer-encoding" not in headers:
        return b""
    parts, size, more = [], 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:  # counted as it arrives: a chunked body has no length
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ApiError(400, "cut_off", "The body was cut off.")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
                if size > max_bytes:
                    raise ApiError(413, "too_large", too_large, headers=close)
    except TimeoutError:
        late = f"The body did not arrive within {BODY_SECONDS:.0f} s."
        raise ApiError(408, "too_slow", late, headers=close) from None
    return b"".join(parts)


def wants_page(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept", "")
    return "text/html" in accepted and scope["method"] in ("GET", "HEAD")


def _with_headers(send: Send, *, head: bool) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        elif message["type"] == "http.response.body" and head:
            message = {**message, "body": b""}
        await send(message)

    return send_with_headers


# Which user's process holds the other end of a connection. The kernel is queried for that one connection
# (sock_diag), which takes microseconds and finds IPv6 sockets connected to an IPv4 address as well. Root is
# allowed: it can read everything anyway, and some systems forward a browser's connections as root. An unknown
# peer is refused; only where the system tells nothing at all is it left to the token.
ROOT, UNKNOWN = 0, -1
NETLINK_SECONDS = 1.0  # for the kernel, which answers at once
OPEN_STATES = (1, 8)  # of TCP: established, and closed by the other end for sending alone
SOCK_DIAG, BY_FAMILY, REQUEST = 4, 20, 1
NETLINK_HEADER, QUERY, ADDRESSES, COOKIE = "=IHHII", "=BBBBI", "!HH16s16sI", b"\xff" * 8
OWNER = struct.calcsize(NETLINK_HEADER) + 4 + struct.calcsize(ADDRESSES) + len(COOKIE) + 12
Address = tuple[str, int]


def is_foreign_connection(link: socket.socket) -> bool:
    """Whether the other end of this accepted IPv4 connection is another user's process, or unknown."""
    try:
        client, server = link.getpeername(), link.getsockname()
        owner = find_owner(client, server)
        # Only while it is open the owner of the other port is surely the one who connected.
        if hasattr(socket, "TCP_INFO"):
            state = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
            if state not in OPEN_STATES:
                return True
    except OSError:  # it was closed meanwhile
        return True
    if owner is None:  # a kernel that knows our own end knows every connection
        return find_owner(server, client) is not None
    return owner not in (os.getuid(), ROOT)


def find_owner(end: Address, other: Address) -> int | None:
    """The user whose socket it is; UNKNOWN once the process has closed it. None: there is no such
    connection, or the kernel does not tell."""
    if not hasattr(socket, "AF_NETLINK"):  # Linux alone has it
        return None
    query = struct.pack(QUERY, socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    hosts = socket.inet_aton(end[0]), socket.inet_aton(other[0])
    body = query + struct.pack(ADDRESSES, end[1], other[1], *hosts, 0) + COOKIE
    size = struct.calcsize(NETLINK_HEADER) + len(body)
    with suppress(OSError):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as link:
            link.settimeout(NETLINK_SECONDS)
            link.send(struct.pack(NETLINK_HEADER, size, BY_FAMILY, REQUEST, 1, 0) + body)
            answer = link.recv(4096)
        _, kind, *_ = struct.unpack_from(NETLINK_HEADER, answer)
        if kind == BY_FAMILY and len(answer) >= OWNER + 8:
            uid, inode = struct.unpack_from("=II", answer, OWNER)
            return int(uid) if inode else UNKNOWN
    return None
