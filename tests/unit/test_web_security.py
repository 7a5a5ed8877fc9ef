"""Every route against every way in that is not allowed: refused, and no handler runs."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.paths import Paths
from recollect.web.entering import CODE_SECONDS, COOKIE_DAYS, DAY_SECONDS, Entrance
from recollect.web.matching import Route, Table
from recollect.web.security import Guard
from tests.support.web import HOST, PORT, TOKEN, Answer, Headers, Site, ask, headers, security, site

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


@pytest.fixture
def web(home: Paths) -> Iterator[Site]:
    with site(home) as found:
        yield found


def cookie(port: int = PORT, token: str = TOKEN) -> str:
    entrance = Entrance(token, port)
    given = entrance.admit(entrance.link().rpartition("code=")[2])
    assert given is not None
    return given


def filled(route: Route) -> str:
    """The route's path, with something in the place of its names."""
    return "/".join("1" if part.startswith("{") else part for part in route.path.split("/"))


def foreign() -> Iterator[Headers]:
    """What no route takes, whoever asks."""
    for host in HOSTS:
        yield headers(host=host)
    yield headers(host=None)
    yield [*headers(), ("host", HOST)]
    yield [*headers(), ("host", "evil.example")]
    yield [*headers(), ("authorization", f"Bearer {TOKEN}")]
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
    ours, name = cookie(), f"recollect-{PORT}"
    wrong = (
        f"{name}={TOKEN}",
        f"{name}=",
        f"{name}=.",
        f"{name}={ours}x",
        f"{name}={ours[:-1]}",
        f"{name}={ours.replace('.', ',')}",
        f"recollect-1={cookie(1)}",
        f"{name}={cookie(1)}",
        f"{name}={cookie(token='another')}",
        f"recollect={ours}",
        f"{name}x={ours}",
    )
    for each in wrong:
        yield headers(authorization=None, cookie=each, x_recollect="1")


def too_much(route: Route) -> Iterator[tuple[Headers, Any]]:
    """Bodies that are larger than the route takes, or that lie about it."""
    largest = 0 if route.method == "GET" else route.largest
    yield headers(content_length=str(largest + 1)), b""
    yield headers(content_length="9" * 30), b""
    yield headers(content_length="-1"), b""
    yield headers(content_length="1e3"), b""
    half = b"x" * (largest // 2 + 1)
    yield headers(transfer_encoding="chunked"), (half, half)


Try = tuple[int, str, str, Headers, Any]  # the status it should get, and the request


def tries(table: Table, route: Route) -> Iterator[Try]:
    method, path = route.method, filled(route)
    yield from ((403, method, path, given, b"") for given in foreign())
    yield 403, method, f"http://evil.example{path}", headers(), b""
    if not route.open:
        yield from ((401, method, path, given, b"") for given in strangers())
        named = f"{path}?token={TOKEN}&code={TOKEN}"
        yield 401, method, named, headers(authorization=None), b""
    if method != "GET":
        yield from ((415, method, path, headers(content_type=kind), b"") for kind in KINDS)
        by_cookie = {"authorization": None, "cookie": f"recollect-{PORT}={cookie()}"}
        yield 403, method, path, headers(**by_cookie), b""
    yield from ((413, method, path, given, body) for given, body in too_much(route))
    place = table.find(path.encode())
    assert place is not None
    yield from ((405, verb, path, headers(), b"") for verb in VERBS if verb not in place.routes)
    preflight = headers(authorization=None, access_control_request_method=method)
    yield 401, "OPTIONS", path, preflight, b""
    yield 403, "OPTIONS", path, [*preflight, ("origin", "http://evil.example")], b""


def tries_on_nothing() -> Iterator[Try]:
    for path in UNKNOWN:
        for verb in ("GET", "POST", "OPTIONS"):
            yield from ((403, verb, path, given, b"") for given in foreign())
            yield from ((401, verb, path, given, b"") for given in strangers())
            yield 404, verb, path, headers(), b""


async def refuse_all(web: Site) -> tuple[int, list[str]]:
    """How many were tried; and which were not refused, or not as they should be."""
    spy, table, wrong, count = Spy(), web.app.table, [], 0
    guard = Guard(table, security(), spy)
    everything = (*(tries(table, route) for route in table.routes()), tries_on_nothing())
    for status, method, path, given, body in chain.from_iterable(everything):
        count += 1
        answer = await ask(guard, method, path, given, body)
        if answer.status != status or spy.calls or not _is_safe(answer):
            wrong.append(f"{method} {path} {given}: {answer.status}, not {status}")
            spy.calls = 0
    return count, wrong


def _is_safe(answer: Answer) -> bool:
    names = set(answer.headers)
    return (
        not any(name.startswith("access-control-") for name in names)
        and "default-src 'none'" in answer.headers["content-security-policy"]
        and answer.headers["x-content-type-options"] == "nosniff"
        and answer.headers["cache-control"] == "no-store"
    )


def test_no_route_can_be_reached_in_a_way_that_is_not_allowed(web: Site) -> None:
    count, wrong = asyncio.run(refuse_all(web))
    sys.stdout.write(f"{count} combinations over {len(web.app.table.routes())} routes refused\n")
    assert wrong == []
    assert count > 1000


def test_every_route_can_be_reached_with_the_token_and_with_the_cookie(web: Site) -> None:
    """Otherwise the test above would prove nothing."""

    async def reach() -> int:
        spy = Spy()
        guard = Guard(web.app.table, security(), spy)
        by_cookie = {"authorization": None, "cookie": f"a=b; recollect-{PORT}={cookie()}"}
        own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin", "x_recollect": "1"}
        for route in web.app.table.routes():
            for given in (
                headers(),
                headers(**by_cookie, **own),
                headers(host=f"LOCALHOST:{PORT}"),
            ):
                answer = await ask(guard, route.method, filled(route), given)
                assert answer.body == b"handled", (route.path, answer)
        return spy.calls

    assert asyncio.run(reach()) == 3 * len(web.app.table.routes())


def test_a_link_is_good_once_and_leaves_a_cookie_that_scripts_cannot_read(web: Site) -> None:
    link = web.app._security.entrance.link("search")
    path = link.partition(HOST)[2]
    looked = web.ask("HEAD", path, authorization=None)
    assert looked.status == 403  # a preview uses nothing up
    first = web.ask("GET", path, authorization=None)
    assert (first.status, first.headers["location"]) == (303, "/search")
    given = first.headers["set-cookie"]
    for said in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert said in given
    assert TOKEN not in given
    assert web.ask("GET", path, authorization=None).status == 403
    again = web.ask("GET", "/health", authorization=None, cookie=given.partition(";")[0])
    assert again.status == 200


def test_a_link_leads_to_our_own_pages_only(web: Site) -> None:
    for view in (
        "//evil.example",
        "https://evil.example",
        "a\r\nSet-Cookie: x=y",
        "\\\\evil.example",
    ):
        path = web.app._security.entrance.link(view).partition(HOST)[2]
        answer = web.ask("GET", path, authorization=None)
        assert answer.headers["location"].startswith("/")
        assert not answer.headers["location"].startswith(("//", "/\\"))
        assert "\r" not in str(answer.headers)


def test_codes_and_cookies_grow_old() -> None:
    now = 1_000_000.0
    entrance = Entrance(TOKEN, PORT, seconds=lambda: now)
    late, early = (entrance.link().rpartition("code=")[2] for _ in range(2))
    given = entrance.admit(early)
    assert given is not None
    assert entrance.knows_cookie(given)
    now += CODE_SECONDS + 1
    assert entrance.admit(late) is None
    now += COOKIE_DAYS * DAY_SECONDS
    assert not entrance.knows_cookie(given)


def test_a_cookie_outlives_a_restart_of_the_worker() -> None:
    """The token does, and the cookie is signed with it."""
    assert Entrance(TOKEN, PORT).knows_cookie(cookie())


def test_a_browser_without_a_cookie_is_told_what_to_do(web: Site) -> None:
    answer = web.ask("GET", "/", authorization=None, accept="text/html,*/*")
    assert answer.status == 401
    assert b"recollect open" in answer.body
    assert answer.headers["content-type"].startswith("text/html")


def test_a_head_is_a_get_without_a_body(web: Site) -> None:
    answer = web.ask("HEAD", "/health")
    assert (answer.status, answer.body) == (200, b"")
    assert web.ask("HEAD", "/api/stream").body == b""
