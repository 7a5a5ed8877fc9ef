"""Every route, from the rows of `api/`: a row's function is called in a thread, with values that were
checked."""

import asyncio
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import nullcontext
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from recollect import log
from recollect.web import errors, json_answers, openapi, parameters, stream, viewer_files
from recollect.web.api import (
    agents,
    brief,
    confirming,
    control,
    cost,
    dreams,
    forgotten,
    health,
    memories,
    memory_log,
    observations,
    projects,
    queue,
    search,
    sessions,
    settings,
    timeline,
)
from recollect.web.backend import Backend
from recollect.web.matching import Endpoint, Route, Table
from recollect.web.rows import SMALL, Row
from recollect.web.security import ASKED, OPEN, Asked, Guard, Security
from recollect.web.stream import Stream
from recollect.web.viewer_files import ViewerFiles

NOUNS = (
    health,
    agents,
    projects,
    sessions,
    observations,
    confirming,
    forgotten,
    search,
    timeline,
    memories,
    memory_log,
    dreams,
    brief,
    cost,
    queue,
    control,
    settings,
)
THREADS, SLOW_THREADS = 6, 4
LAST_SECONDS = 3.0  # for what is under way at the end


def rows() -> tuple[Row, ...]:
    """What the API does, in the order in which it is documented."""
    return tuple(row for noun in NOUNS for row in noun.ROWS)


class Application:
    """The whole site, as ASGI."""

    def __init__(
        self,
        backend: Backend,
        *,
        security: Security,
        served: Iterable[Row] | None = None,
        files: ViewerFiles | None = None,
    ) -> None:
        self.rows = tuple(rows() if served is None else served)
        self.stream = Stream(backend.happenings)
        self._backend, self._security = backend, security
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="web")
        self._slow = ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="web-slow")
        # One large body at a time: each takes several times its size.
        self._large = threading.Lock()
        self._under_way: set[Future[Response]] = set()
        self.table = Table.of(self._routes(files or ViewerFiles()))
        self._guard = Guard(self.table, security, _dispatch)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._guard(scope, receive, send)
        except Exception as error:  # nothing is expected here; the connection is closed
            log.warning("web.failed", error=log.cause(error))
            raise

    @property
    def is_busy(self) -> bool:
        return bool(self._under_way)

    def close(self) -> None:
        """What waits is dropped. What is under way may come to its end, but is not waited for long: it may be
        a dream, and whatever is cut off has been made to stand that."""
        for pool in (self._pool, self._slow):
            pool.shutdown(wait=False, cancel_futures=True)
        left = wait_for(set(self._under_way), LAST_SECONDS).not_done
        if left:
            log.warning("web.left_behind", count=len(left))

    def _routes(self, files: ViewerFiles) -> list[Route]:
        document = json_answers.encode(openapi.document((*self.rows, stream.ROW)))
        return [
            *(Route(row.method, row.path, self._run(row), row.largest) for row in self.rows),
            Route("GET", stream.ROW.path, self.stream),
            Route("GET", "/openapi.json", _fixed(document)),
            Route("GET", "/enter", self._enter, open=True),
            *(Route("GET", path, files.page) for path in viewer_files.PAGES),
            *(Route("GET", path, files.file) for path in viewer_files.FILES),
        ]

    def _run(self, row: Row) -> Endpoint:
        pool = self._slow if row.slow else self._pool

        async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
            work = pool.submit(self._answer, row, scope[ASKED])
            self._under_way.add(work)
            work.add_done_callback(self._under_way.discard)
            response = await asyncio.wrap_future(work)
            await response(scope, receive, send)

        return endpoint

    def _answer(self, row: Row, asked: Asked) -> Response:
        """With the milliseconds that it took, which browsers show beside the network's."""
        began = time.perf_counter()
        response = self._told(row, asked)
        taken = (time.perf_counter() - began) * 1000
        response.headers["Server-Timing"] = f"app;dur={taken:.1f}"
        return response

    def _told(self, row: Row, asked: Asked) -> Response:
        try:
            self._backend.give_way()
            with self._large if len(asked.body) > SMALL else nullcontext():
                values = parameters.values(row, asked.values, asked.query, asked.body)
                return json_answers.answer(row.run(self._backend, **values), row.status)
        except Exception as error:  # the edge: whatever happens inside, the asker gets an answer
            return errors.told(error)

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A one-time code becomes a cookie. The address with the code is left at once."""
        asked: Asked = scope[ASKED]
        query = parse_qs(asked.query.decode("latin-1"))
        entrance = self._security.entrance
        # Looking at a link (a preview, a HEAD) must not use it up.
        given = None if scope["method"] == "HEAD" else entrance.admit(query.get("code", [""])[0])
        if given is None:
            await _spent()(scope, receive, send)
            return
        view = "".join(c for c in query.get("view", [""])[0] if c.isalnum() or c in "/-_=?&.")
        response = RedirectResponse(f"/{view.lstrip('/')}", 303)
        response.set_cookie(entrance.cookie_name, given, httponly=True, samesite="strict", path="/")
        await response(scope, receive, send)


async def _dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    asked: Asked = scope[ASKED]
    await asked.route.endpoint(scope, receive, send)


def _spent() -> Response:
    said = f"This link has been used or is old. {OPEN}"
    page = f"<!doctype html><html lang=en><title>recollect</title><p>{said}</p></html>"
    return Response(page, 403, media_type="text/html")


def _fixed(body: bytes) -> Endpoint:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(body, media_type=json_answers.MEDIA)(scope, receive, send)

    return endpoint
