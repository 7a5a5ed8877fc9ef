"""How fast the spool becomes events, durably: in the function that does it, and with a real worker."""

import sqlite3
import time
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.agents.claude_code.install import AGENT
from aforesaid.hook.capture import header
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.context import Context
from aforesaid.worker.ingest import BATCH_FILES, Ingest
from benchmarks import data, table
from benchmarks.home import Home, temporary, worker
from benchmarks.priority import undisturbed

EVENTS = 5_000
SIZE = 10 * data.KB
TIMES = 3
CAPTURES = 50
AIM = ">= 1,000"


def run(*, quick: bool) -> list[table.Table]:
    events, times = (500, 1) if quick else (EVENTS, TIMES)
    title = f"Ingest of {events:,} captures of 10 KB, median of {times}"
    found = table.Table(title, ("", "events/s", "x bare", "aim"))
    rows = (
        ("bare: read, insert, commit, unlink", _bare, ""),
        ("Ingest.drain(), in a git repository", _drain_repository, AIM),
        ("Ingest.drain(), in a plain folder", _drain_folder, AIM),
        ("a worker, from its start to the last event", _worker, AIM),
    )
    taken: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    for _ in range(times):
        for name, measure, _ in rows:
            with undisturbed():
                taken[name].append(events / measure(events))
    bare = table.median(taken[rows[0][0]])
    for name, _, aim in rows:
        middle = table.median(taken[name])
        found.add(name, f"{middle:,.0f}", f"{middle / bare:.2f}", aim)
    found.notes.append(
        f"Batches of {BATCH_FILES}, synchronous=FULL; files are unlinked after the commit."
    )
    return [found, _latency(quick=quick)]


def _latency(*, quick: bool) -> table.Table:
    """One capture at a time, as in a session."""
    found = table.Table("From the spool to the store, worker idle", ("", "median ms", "p95 ms"))
    times = []
    with temporary() as home:
        home.make_repository("main", ["a.py"])
        with worker(home):
            for _ in range(5 if quick else CAPTURES):
                time.sleep(0.05)
                times.append(_until_stored(home))
    found.add(
        "one capture of 10 KB, durable", table.ms(table.median(times)), table.ms(table.p95(times))
    )
    return found


def _until_stored(home: Home) -> float:
    written, spooled = home.paths.spool_tmp / "one", home.paths.spool_new / "one"
    written.write_bytes(header(AGENT, "save", str(home.project)) + data.tool_used(SIZE))
    began = time.perf_counter()
    written.rename(spooled)
    while spooled.exists():
        time.sleep(0.0002)
    return (time.perf_counter() - began) * 1000


def _bare(events: int) -> float:
    """The least that any durable ingest does, in the product's batches."""
    with temporary() as home:
        data.spool(home, events, SIZE)
        database = sqlite3.connect(home.paths.data / "bare.db", isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, body BLOB)")
        began = time.perf_counter()
        files = sorted(Path(home.paths.spool_new).iterdir())
        for first in range(0, len(files), BATCH_FILES):
            batch = files[first : first + BATCH_FILES]
            database.execute("BEGIN IMMEDIATE")
            bodies = ((file.read_bytes(),) for file in batch)
            database.executemany("INSERT INTO events (body) VALUES (?)", bodies)
            database.execute("COMMIT")
            for file in batch:
                file.unlink()
        took = time.perf_counter() - began
        database.close()
        return took


def _drain_repository(events: int) -> float:
    with temporary() as home:
        home.make_repository("main", ["a.py"])
        return _drain(home, events)


def _drain_folder(events: int) -> float:
    with temporary() as home:
        return _drain(home, events)


def _drain(home: Home, events: int) -> float:
    data.spool(home, events, SIZE)
    store = Store(home.paths.database, writer=True)
    try:
        context = Context(wiring.home(home.env), store, clock.now, env=home.env)
        ingest = Ingest(context)
        began = time.perf_counter()
        ingested = ingest.drain()
        took = time.perf_counter() - began
    finally:
        store.close()
    assert (ingested.added, ingested.duplicates) == (events, 0), ingested
    return took


def _worker(events: int) -> float:
    with temporary() as home:
        home.make_repository("main", ["a.py"])
        data.spool(home, events, SIZE)
        began = time.perf_counter()
        with worker(home):
            home.settle(0)
            took = time.perf_counter() - began
        assert _stored(home.paths) == events
        return took


def _stored(paths: Paths) -> int:
    store = Store(paths.database, writer=False)
    try:
        return store.health().events
    finally:
        store.close()
