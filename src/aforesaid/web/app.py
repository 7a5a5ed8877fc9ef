"""The web application: Starlette's router over the endpoints of `api/`, behind the checks of `auth`.

An endpoint's function runs in a thread with checked values.
"""

import asyncio
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import nullcontext
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from aforesaid import log
from aforesaid.web import openapi, stream, viewer_files
from aforesaid.web.api import agents, memories, observations, search, sessions, settings, worker
from aforesaid.web.auth import LOGIN_PATH, OPEN, Authenticator, Guard, read_body, wants_page
from aforesaid.web.backend import Backend
from aforesaid.web.endpoint import (
    ENDPOINTS,
    MEDIA_TYPE,
    SMALL,
    ApiError,
    Endpoint,
    encode,
    error_response,
    json_response,
    not_found,
)
from aforesaid.web.stream import Stream
from aforesaid.web.viewer_files import ViewerFiles

API_MODULES = (agents, memories, observations, search, sessions, settings, worker)
THREADS, SLOW_THREADS = 6, 4
STOP_SECONDS = 3.0  # for running requests
BODY = "aforesaid.body"  # in the scope


def all_endpoints() -> tuple[Endpoint, ...]:
    return tuple(sorted(ENDPOINTS, key=lambda endpoint: endpoint.path))


@dataclass(frozen=True, slots=True)
class PathHandlers:
    """ASGI: what one path does for each method. Reads the body, of at most so many bytes, before the handler
    runs."""

    by_method: dict[str, tuple[ASGIApp, int]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self.by_method.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if found is None:
            names = sorted(self.by_method)
            allowed = ", ".join([*names, "HEAD"] if "GET" in names else names)
            message = f"This path accepts {allowed}."
            raise ApiError(405, "method_not_allowed", message, headers={"Allow": allowed})
        app, max_bytes = found
        scope[BODY] = await read_body(scope, receive, max_bytes)
        scope["path_params"] = {
            name: unquote(value, errors="replace") for name, value in scope["path_params"].items()
        }
        await app(scope, receive, send)


class Application:
    def __init__(
        self,
        backend: Backend,
        *,
        authenticator: Authenticator,
        endpoints: Iterable[Endpoint] | None = None,
        files: ViewerFiles | None = None,
    ) -> None:
        self.endpoints = tuple(all_endpoints() if endpoints is None else endpoints)
        self.stream = Stream(backend.event_bus)
        self.authenticator = authenticator
        self._backend, self._files = backend, files or ViewerFiles()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
        self._slow = ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="web-slow")
        # One large body at a time: each takes several times its size.
        self._large = threading.Lock()
        self._running: set[Future[Response]] = set()
        self.paths = self._handlers()
        # Paths without parameters first: the router takes the first match.
        ordered = sorted(self.paths.items(), key=lambda each: each[0].count("{"))
        routes = [Route(path, handlers) for path, handlers in ordered]
        router = Router(routes, redirect_slashes=False, default=self._unknown_path)
        self._guard = Guard(router, authenticator)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._guard(scope, receive, send)
        except Exception as error:  # a bug; the connection is closed
            log.warning("web.failed", error=log.cause(error))
            raise

    @property
    def is_busy(self) -> bool:
        return bool(self._running)

    def close(self) -> None:
        """Queued requests are dropped. Running ones may finish, but are not waited for long: whatever is cut
        off is made to be repeated."""
        for pool in (self._pool, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)
        left = wait_for(set(self._running), STOP_SECONDS).not_done
        if left:
            log.warning("web.left_behind", count=len(left))

    def _handlers(self) -> Mapping[str, PathHandlers]:
        document = Response(
            encode(openapi.document((*self.endpoints, stream.ENDPOINT))), media_type=MEDIA_TYPE
        )
        handlers: list[tuple[str, str, ASGIApp, int]] = [
            *((each.method, each.path, self._run(each), each.max_bytes) for each in self.endpoints),
            ("GET", stream.ENDPOINT.path, self.stream, 0),
            ("GET", "/openapi.json", document, 0),
            ("GET", LOGIN_PATH, self._log_in, 0),
            *(("GET", path, self._files.send_page, 0) for path in viewer_files.PAGES),
            *(("GET", path, self._files.send_file, 0) for path in viewer_files.FILES),
        ]
        paths: dict[str, PathHandlers] = {}
        for method, path, app, max_bytes in handlers:
            known = paths.setdefault(path, PathHandlers({})).by_method
            assert method not in known, f"{method} {path} is there twice"
            known[method] = app, max_bytes
        return paths

    def _run(self, endpoint: Endpoint) -> ASGIApp:
        pool = self._slow if endpoint.slow else self._pool

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            work = pool.submit(self._respond, endpoint, scope)
            self._running.add(work)
            work.add_done_callback(self._running.discard)
            response = await asyncio.wrap_future(work)
            await response(scope, receive, send)

        return app

    def _respond(self, endpoint: Endpoint, scope: Scope) -> Response:
        """In a thread. Server-Timing: browsers show it beside the network's time."""
        started, body = time.perf_counter(), scope[BODY]
        try:
            self._backend.yield_to_hooks()
            with self._large if len(body) > SMALL else nullcontext():
                values = endpoint.read(scope["path_params"], scope["query_string"], body)
                response = json_response(endpoint.run(self._backend, **values), endpoint.status)
        except Exception as error:  # whatever happens, the client gets a response
            response = error_response(error)
        taken = (time.perf_counter() - started) * 1000
        response.headers["Server-Timing"] = f"app;dur={taken:.1f}"
        return response

    async def _unknown_path(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A person gets the viewer, which says so; a program gets JSON."""
        if not wants_page(scope) or scope["path"].startswith(("/api/", "/viewer/")):
            raise not_found("There is no such path. /openapi.json lists them.")
        scope[BODY] = await read_body(scope, receive, 0)
        await self._files.send_page(scope, receive, send, status=404)

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A one-time code becomes a cookie. The redirect leaves the address with the code at once."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        # A HEAD request, such as a preview's, must not use the code up.
        cookie = None
        if scope["method"] != "HEAD":
            cookie = self.authenticator.redeem_code(query.get("code", [""])[0])
        if cookie is None:
            text = f"This link has been used or has expired. {OPEN}"
            page = f"<!doctype html><html lang=en><title>aforesaid</title><p>{text}</p></html>"
            await Response(page, 403, media_type="text/html")(scope, receive, send)
            return
        view = "".join(c for c in query.get("view", [""])[0] if c.isalnum() or c in "/-_=?&.")
        response = RedirectResponse(f"/{view.lstrip('/')}", 303)
        name = self.authenticator.cookie_name
        response.set_cookie(name, cookie, httponly=True, samesite="strict", path="/")
        await response(scope, receive, send)
