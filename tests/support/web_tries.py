"""Every way in that is not allowed, for every route: requests, with the status that each should get."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from aforesaid.web.app import Application
from aforesaid.web.auth import LOGIN_PATH, Authenticator
from tests.support.web import HOST, PORT, TOKEN, Headers, headers

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get")
UNKNOWN = (
    "/nothing",
    "/api/nothing",
    "/viewer/a/b/c",
    "/../etc/passwd",
    "/api/",
    "//",
    "/API/STREAM",
)
HOSTS = (
    "evil.example",
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil:{PORT}",
    "127.0.0.1",
    "127.0.0.1:80",
    f"127.0.0.2:{PORT}",
    f"0.0.0.0:{PORT}",
    f"evil@127.0.0.1:{PORT}",
    "",
)
ORIGINS = (
    "http://evil.example",
    "null",
    "http://localhost.evil",
    "http://localhost:9999",
    f"https://127.0.0.1:{PORT}",
    "http://127.0.0.1",
    f"http://localhost:{PORT}",  # ours, and not of this host
    f"http://127.0.0.1:{PORT}.evil.example",
    "file://",
    "",
)
SITES = ("cross-site", "same-site", "anything")
DOUBLED = ("host", "origin", "cookie", "content_type", "content_length", "sec_fetch_site")
KINDS = (
    None,
    "",
    "text/plain",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "application/jsonp",
    "application/json; charset=latin-1",
    "application/json, text/plain",
)


@dataclass(slots=True)
class Spy:
    """Stands where all handlers are."""

    calls: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.calls += 1
        await Response("handled")(scope, receive, send)


def cookie(port: int = PORT, token: str = TOKEN) -> str:
    authenticator = Authenticator(token, port)
    given = authenticator.redeem_code(authenticator.create_link().rpartition("code=")[2])
    assert given is not None
    return given


@dataclass(frozen=True, slots=True)
class Target:
    """`path`: with something in the place of its names."""

    method: str
    path: str
    max_bytes: int
    methods: frozenset[str]


def spy_on(app: Application) -> tuple[Spy, list[Target]]:
    """Every handler of the application is replaced; and what there is to reach."""
    spy, targets = Spy(), []
    for path, handlers in app.paths.items():
        filled = "/".join("1" if part.startswith("{") else part for part in path.split("/"))
        methods = frozenset(handlers.by_method)
        for method, (_, max_bytes) in handlers.by_method.items():
            targets.append(Target(method, filled, max_bytes, methods))
            handlers.by_method[method] = spy, max_bytes
    return spy, targets


def foreign() -> Iterator[Headers]:
    """What no route takes, whoever asks."""
    for host in HOSTS:
        yield headers(host=host)
    yield headers(host=None)
    yield [*headers(), ("host", HOST)]
    yield [*headers(), ("host", "evil.example")]
    for name in DOUBLED:
        yield [*headers(**{name: "none"}), (name.replace("_", "-"), "none")]
    yield [*headers(), ("authorization", f"Bearer {TOKEN}")]
    yield [*headers(sec_fetch_site="cross-site"), ("sec-fetch-site", "none")]
    yield [*headers(content_type="text/plain"), ("content-type", "application/json")]
    yield [*headers(), ("content-type", "application/json")]
    yield [*headers(cookie="a=b"), ("cookie", f"aforesaid-{PORT}={cookie()}")]
    for origin in ORIGINS:
        yield headers(origin=origin)
    yield [*headers(origin=f"http://{HOST}"), ("origin", "http://evil.example")]
    for each in SITES:
        yield headers(sec_fetch_site=each)


def strangers() -> Iterator[Headers]:
    """Who has no token, or not ours."""
    for given in (
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        TOKEN,
    ):
        yield headers(authorization=given)
    ours, name = cookie(), f"aforesaid-{PORT}"
    wrong = (
        f"{name}={TOKEN}",
        f"{name}=",
        f"{name}=.",
        f"{name}={ours}x",
        f"{name}={ours[:-1]}",
        f"{name}={ours.replace('.', ',')}",
        f"aforesaid-1={cookie(1)}",
        f"{name}={cookie(1)}",
        f"{name}={cookie(token='another')}",
        f"aforesaid={ours}",
        f"{name}x={ours}",
    )
    for each in wrong:
        yield headers(authorization=None, cookie=each, x_aforesaid="1")


def too_much(target: Target) -> Iterator[tuple[Headers, Any]]:
    """Bodies that are larger than the route takes, or that lie about it."""
    largest = 0 if target.method == "GET" else target.max_bytes
    yield headers(content_length=str(largest + 1)), b""
    yield headers(content_length="9" * 30), b""
    yield headers(content_length="-1"), b""
    yield headers(content_length="1e3"), b""
    half = b"x" * (largest // 2 + 1)
    yield headers(transfer_encoding="chunked"), (half, half)


Try = tuple[int, str, str, Headers, Any]  # the status it should get, and the request


def tries(target: Target) -> Iterator[Try]:
    method, path = target.method, target.path
    yield from ((403, method, path, given, b"") for given in foreign())
    yield 403, method, f"http://evil.example{path}", headers(), b""
    if path != LOGIN_PATH:
        yield from ((401, method, path, given, b"") for given in strangers())
        named = f"{path}?token={TOKEN}&code={TOKEN}"
        yield 401, method, named, headers(authorization=None), b""
    if method != "GET":
        yield from ((415, method, path, headers(content_type=kind), b"") for kind in KINDS)
        by_cookie = {"authorization": None, "cookie": f"aforesaid-{PORT}={cookie()}"}
        yield 403, method, path, headers(**by_cookie), b""
    yield from ((413, method, path, given, body) for given, body in too_much(target))
    yield from ((405, verb, path, headers(), b"") for verb in VERBS if verb not in target.methods)
    preflight = headers(authorization=None, access_control_request_method=method)
    yield 401, "OPTIONS", path, preflight, b""
    yield 403, "OPTIONS", path, [*preflight, ("origin", "http://evil.example")], b""


def tries_on_nothing() -> Iterator[Try]:
    for path in UNKNOWN:
        for verb in ("GET", "POST", "OPTIONS"):
            yield from ((403, verb, path, given, b"") for given in foreign())
            yield from ((401, verb, path, given, b"") for given in strangers())
            yield 404, verb, path, headers(), b""


def everything(targets: list[Target]) -> Iterator[Try]:
    return chain(chain.from_iterable(map(tries, targets)), tries_on_nothing())
