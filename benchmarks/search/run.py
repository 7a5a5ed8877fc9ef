"""`benchmarks search`: fills a real store with made-up text, and asks it questions."""

import multiprocessing
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aforesaid import wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.model.records import ObservationRecord
from aforesaid.store.store import Store
from aforesaid.worker.indexing import STEP, index
from benchmarks import table
from benchmarks.recall.loading import Show, encoder_named, temporary_paths
from benchmarks.recall.plain import text
from benchmarks.search import probe
from benchmarks.search.synthetic import Text

AT_ONCE = 2_000  # observations that are taken in one transaction
PLAIN = "CREATE VIRTUAL TABLE plain USING fts5 (words, tokenize = 'porter unicode61')"
ADD = "INSERT INTO plain (words) VALUES (?)"
PAGES = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"


@dataclass(frozen=True, slots=True)
class Measured:
    """`take` and `index`: milliseconds an observation, `cpu` the part of indexing that was spent computing;
    `bytes`: of the index, an observation."""

    size: int
    probe: probe.Probe
    take: float
    index: float
    cpu: float
    bytes: float
    megabytes: float


@dataclass(slots=True)
class _Filled:
    queries: list[list[str]]
    take_seconds: float = 0.0
    index_seconds: float = 0.0
    cpu_seconds: float = 0.0
    indexed: int = 0
    index_bytes: int = 0


def measure(size: int, encoder: str, queries: int, show: Show, *, first: bool = False) -> Measured:
    with temporary_paths() as paths:
        store = wiring.open_for_writing(paths, encoder_named(encoder))
        try:
            filled = _fill(store, paths.database, size, queries, show)
        finally:
            store.close()
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as child:
            given = (str(paths.data), encoder, filled.queries, first)
            found = child.submit(probe.run, *given).result()
        indexed = max(1, filled.indexed)
        return Measured(
            size,
            found,
            filled.take_seconds / size * 1000,
            filled.index_seconds / indexed * 1000,
            filled.cpu_seconds / indexed * 1000,
            filled.index_bytes / indexed,
            paths.database.stat().st_size / 1e6,
        )


def _fill(store: Store, database: Path, size: int, queries: int, show: Show) -> _Filled:
    """As an import does it: everything is stored, then what did not fit into the transactions is indexed."""
    made, done = Text(), 0
    filled = _Filled([])
    every = max(1, size // (queries + probe.WARM_UP))
    store.transfer.begin()
    with closing(sqlite3.connect(database.with_name("plain.db"))) as plain:
        plain.execute(PLAIN)
        for sessions, count in made.blocks(size, AT_ONCE):
            records = [record for block in sessions for record in block]
            told = [record for record in records if isinstance(record, ObservationRecord)]
            plain.executemany(ADD, ((text(record),) for record in told))
            plain.commit()
            filled.queries += [made.query(told[n]) for n in range(-done % every, count, every)]
            began = time.perf_counter()
            store.transfer.import_records(records)
            filled.take_seconds += time.perf_counter() - began
            done += count
            show(done, size * 2)
    store.transfer.end()
    _index(store, database, filled, lambda indexed: show(size + min(indexed, size), size * 2))
    return filled


def _index(store: Store, database: Path, filled: _Filled, show: Callable[[int], None]) -> None:
    filled.indexed = store.index.health().waiting
    before = _bytes(database)
    began, computed = time.perf_counter(), time.process_time()
    for number, _ in enumerate(index(store, AGENTS), 1):
        show(number * STEP)
    filled.index_seconds = time.perf_counter() - began
    filled.cpu_seconds = time.process_time() - computed
    filled.index_bytes = _bytes(database) - before


def _bytes(database: Path) -> int:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as reader:
        return int(reader.execute(PAGES).fetchone()[0])


def tables(found: Sequence[Measured]) -> list[table.Table]:
    return [_times(found), _costs(found)]


def _times(found: Sequence[Measured]) -> table.Table:
    columns = ("", "p50 ms", "p95 ms", "ratio p50", "ratio p95")
    made = table.Table("Search and a bare FTS5 query of the same words", columns)
    for each in found:
        bare = each.probe.bare
        rows = (
            ("bare FTS5", bare),
            ("search", each.probe.everywhere),
            ("search in one project", each.probe.in_project),
        )
        for name, times in rows:
            middle, late = table.median(times), table.p95(times)
            ratios = (middle / table.median(bare), late / table.p95(bare))
            cells = (table.ms(middle), table.ms(late), *(f"{ratio:.2f}" for ratio in ratios))
            made.add(f"{each.size:,} observations: {name}", *cells)
    made.notes.append(
        f"{len(found[0].probe.bare) if found else 0} queries of 3 to 5 words of a document each."
    )
    return made


def _costs(found: Sequence[Measured]) -> table.Table:
    columns = (
        "observations",
        "store ms each",
        "index ms each",
        "of it CPU",
        "index bytes each",
        "database MB",
        "vectors loaded in s",
        "RSS growth MB",
    )
    made = table.Table("What the index costs", columns)
    for each in found:
        made.add(
            f"{each.size:,}",
            table.ms(each.take),
            table.ms(each.index),
            table.ms(each.cpu),
            f"{each.bytes:,.0f}",
            f"{each.megabytes:,.0f}",
            f"{each.probe.load_seconds:.2f}",
            f"{each.probe.grown:,.0f}",
        )
    made.notes.append(
        f"Indexed in steps of {STEP}, each durable. RSS: a process that searches, numpy and all."
    )
    return made
