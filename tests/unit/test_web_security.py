"""Every route against every way in that is not allowed: refused, and no handler runs."""

import asyncio
import sys
from collections.abc import Iterator

import pytest

from aforesaid.paths import Paths
from aforesaid.web.auth import CODE_SECONDS, COOKIE_DAYS, DAY_SECONDS, Authenticator
from tests.support.web import HOST, PORT, TOKEN, Answer, Site, ask, headers, site
from tests.support.web_tries import cookie, everything, spy_on


@pytest.fixture
def web(home: Paths) -> Iterator[Site]:
    with site(home) as found:
        yield found


async def refuse_all(web: Site) -> tuple[int, list[str]]:
    """How many were tried; and which were not refused, or not as they should be."""
    wrong, count = [], 0
    spy, targets = spy_on(web.app)
    for status, method, path, given, body in everything(targets):
        count += 1
        answer = await ask(web.app, method, path, given, body)
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
    """T40, T41, T42, T43: every route against every way in."""
    count, wrong = asyncio.run(refuse_all(web))
    sys.stdout.write(f"{count} combinations over {len(web.app.paths)} paths refused\n")
    assert wrong == []
    assert count > 1000


def test_every_route_can_be_reached_with_the_token_and_with_the_cookie(web: Site) -> None:
    """Otherwise the test above would prove nothing."""

    async def reach() -> int:
        spy, targets = spy_on(web.app)
        by_cookie = {"authorization": None, "cookie": f"a=b; aforesaid-{PORT}={cookie()}"}
        own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin", "x_aforesaid": "1"}
        for target in targets:
            for given in (
                headers(),
                headers(**by_cookie, **own),
                headers(host=f"LOCALHOST:{PORT}"),
            ):
                answer = await ask(web.app, target.method, target.path, given)
                assert answer.body == b"handled", (target.path, answer)
        assert spy.calls == 3 * len(targets)
        return len(targets)

    assert asyncio.run(reach()) > 60


def test_a_link_is_good_once_and_leaves_a_cookie_that_scripts_cannot_read(web: Site) -> None:
    """T43: how the viewer gets in."""
    link = web.app.authenticator.create_link("search")
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
        path = web.app.authenticator.create_link(view).partition(HOST)[2]
        answer = web.ask("GET", path, authorization=None)
        assert answer.headers["location"].startswith("/")
        assert not answer.headers["location"].startswith(("//", "/\\"))
        assert "\r" not in str(answer.headers)


def test_codes_and_cookies_grow_old() -> None:
    now = 1_000_000.0
    authenticator = Authenticator(TOKEN, PORT, seconds=lambda: now)
    late, early = (authenticator.create_link().rpartition("code=")[2] for _ in range(2))
    given = authenticator.redeem_code(early)
    assert given is not None
    assert authenticator.accepts_cookie(given)
    now += CODE_SECONDS + 1
    assert authenticator.redeem_code(late) is None
    now += COOKIE_DAYS * DAY_SECONDS
    assert not authenticator.accepts_cookie(given)


def test_a_cookie_outlives_a_restart_of_the_worker() -> None:
    """The token does, and the cookie is signed with it."""
    assert Authenticator(TOKEN, PORT).accepts_cookie(cookie())


def test_a_browser_without_a_cookie_is_told_what_to_do(web: Site) -> None:
    answer = web.ask("GET", "/", authorization=None, accept="text/html,*/*")
    assert answer.status == 401
    assert b"aforesaid open" in answer.body
    assert answer.headers["content-type"].startswith("text/html")


def test_a_head_is_a_get_without_a_body(web: Site) -> None:
    answer = web.ask("HEAD", "/health")
    assert (answer.status, answer.body) == (200, b"")
    assert web.ask("HEAD", "/api/stream").body == b""
