"""What open viewers cost: a capture beside fifty of them, search as one types, and the worker's memory."""

import itertools
import selectors
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlencode

from aforesaid.worker import rpc
from benchmarks import data, rounds, table
from benchmarks.home import SH_TRUE, Home, temporary, wait_until_idle, worker
from benchmarks.machine import megabytes
from benchmarks.priority import undisturbed
from benchmarks.rounds import Variant

VIEWERS = 50
OBSERVATIONS = 10_000
ROUNDS = {1: 40, 8: 12}  # at once: rounds
TYPED = 400  # searches
SECONDS = 15.0  # for the worker to load the web server
HOST = "127.0.0.1"
AT_FIRST = 12  # findings, as views/search.js asks for them
IN_A_ROW = 20  # searches
BARE_QUERY, SERVER, ANSWER = "bare FTS5 query", "search, server time", "search, whole answer"
FRAME = "16.7"  # milliseconds, at sixty a second
BARE = "SELECT rowid FROM document_words WHERE document_words MATCH ? ORDER BY rank LIMIT 50"


def run(*, quick: bool) -> list[table.Table]:
    observations = OBSERVATIONS // 20 if quick else OBSERVATIONS
    return [*_captures(quick), *_searches(observations, quick)]


@dataclass(slots=True)
class _Viewers:
    """Streams that are read as fast as they come. `heard`: what happened, over all of them."""

    port: int
    token: str
    heard: int = 0
    _links: list[socket.socket] = field(default_factory=list)
    _done: threading.Event = field(default_factory=threading.Event)

    def open(self, count: int) -> None:
        for _ in range(count):
            link = socket.create_connection((HOST, self.port))
            head = (f"Host: {HOST}:{self.port}", f"Authorization: Bearer {self.token}", "", "")
            link.sendall("\r\n".join(("GET /api/stream HTTP/1.1", *head)).encode())
            assert link.recv(4096).startswith(b"HTTP/1.1 200"), "a stream was refused"
            link.setblocking(False)
            self._links.append(link)
        threading.Thread(target=self._read, daemon=True).start()

    def close(self) -> None:
        self._done.set()

    def _read(self) -> None:
        with selectors.DefaultSelector() as ready, ExitStack() as stack:
            for link in self._links:
                ready.register(stack.enter_context(link), selectors.EVENT_READ)
            while not self._done.is_set():
                for key, _ in ready.select(0.1):
                    assert isinstance(key.fileobj, socket.socket)
                    told = key.fileobj.recv(1 << 16)
                    if not told:  # the worker has let it go
                        ready.unregister(key.fileobj)
                    self.heard += told.count(b"event: ")


@contextmanager
def _watched(home: Home) -> Iterator[_Viewers]:
    """The web server of a home's worker. Nobody watches yet."""
    answer = rpc.order(home.paths, "web", SECONDS, view="")
    viewers = _Viewers(int(answer["port"]), home.paths.web_token.read_text().strip())
    try:
        yield viewers
    finally:
        viewers.close()


def _captures(quick: bool) -> list[table.Table]:
    with temporary() as alone, temporary() as watched, ExitStack() as stack:
        for home in (alone, watched):
            home.make_repository("main", ["a.py"])
            stack.enter_context(worker(home))
        viewers = stack.enter_context(_watched(watched))
        viewers.open(VIEWERS)
        baseline = Variant("sh -c true", SH_TRUE)
        tables = []
        for at_once, many in ROUNDS.items():
            payloads = partial(data.tools_used, 10 * data.KB)
            named = {"nobody watches": alone, f"{VIEWERS} viewers open": watched}
            variants = [
                Variant(f"capture 10 KB, {name}", home.hook("save"), payloads, after=home.settle)
                for name, home in named.items()
            ]
            baseline.times.clear()
            rounds.run([baseline, *variants], at_once=at_once, rounds=3 if quick else many)
            tables.append(
                table.of_times(
                    f"Capture beside viewers, {at_once} at once", [baseline, *variants], baseline
                )
            )
        assert viewers.heard > VIEWERS, "the viewers heard nothing of the captures"
    return tables


def _searches(observations: int, quick: bool) -> list[table.Table]:
    memory = table.Table("The worker's memory", ("", "RSS MB", "aim"))
    with temporary() as home:
        prompts = data.remember(home, observations)
        with worker(home) as process:
            wait_until_idle(home)

            def note(name: str) -> None:
                memory.add(name, f"{megabytes(process.pid):.1f}", "< 120")

            note(f"{observations:,} observations, nobody watches")
            with _watched(home) as viewers:
                note("the API is served")
                typed = _typed(prompts, TYPED // 20 if quick else TYPED)
                with undisturbed(process.pid):
                    found = _as_typed(home, viewers, typed)
                note(f"after {len(typed)} searches")
                viewers.open(VIEWERS)
                time.sleep(1)
                note(f"{VIEWERS} viewers open")
    found.title = f"Search as somebody types, {observations:,} observations"
    return [found, memory]


def _typed(prompts: list[str], count: int) -> list[str]:
    """Words as they come: the first one, half of the next, and so on."""
    steps = (words[:end] for words in prompts for end in range(4, min(len(words), 60), 4))
    return list(itertools.islice(steps, count))


def _as_typed(home: Home, viewers: _Viewers, typed: list[str]) -> table.Table:
    """In turn with the bare query, some at a time: who types keeps the worker's caches warm."""
    times: dict[str, list[float]] = {name: [] for name in (BARE_QUERY, SERVER, ANSWER)}
    with (
        closing(sqlite3.connect(f"file:{home.paths.database}?mode=ro", uri=True)) as database,
        closing(HTTPConnection(HOST, viewers.port)) as link,
    ):
        for first in range(0, len(typed), IN_A_ROW):
            some = typed[first : first + IN_A_ROW]
            for text in some:
                match = " OR ".join(f'"{word}"' for word in text.replace('"', " ").split())
                began = time.perf_counter()
                database.execute(BARE, (match,)).fetchall()
                times[BARE_QUERY].append((time.perf_counter() - began) * 1000)
            for text in some:
                began = time.perf_counter()
                served = _asked(link, viewers.token, text)
                times[ANSWER].append((time.perf_counter() - began) * 1000)
                times[SERVER].append(served)
    found = table.Table("", ("x bare FTS5 query", "median ms", "p95 ms", "ratio", "aim"))
    for name, taken in times.items():
        ratio = f"{table.median(taken) / table.median(times[BARE_QUERY]):.2f}"
        cells = (table.ms(table.median(taken)), table.ms(table.p95(taken)), ratio)
        found.add(name, *cells, f"<= {FRAME} ms" if name == SERVER else "")
    return found


def _asked(link: HTTPConnection, token: str, text: str) -> float:
    """Milliseconds that the server took for it, as it says itself."""
    asked = urlencode({"q": text, "limit": AT_FIRST})
    link.request("GET", f"/api/search?{asked}", headers={"Authorization": f"Bearer {token}"})
    answer = link.getresponse()
    body = answer.read()
    assert answer.status == 200, body[:200]
    return float(answer.headers["Server-Timing"].rpartition("=")[2])
