"""The searching half, in a process of its own: what it takes up in memory is the search's alone.

Imports nothing heavy before it is asked to; numpy counts as a part of what searching costs.
"""

import sqlite3
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.model.search import Filters, Query
from aforesaid.paths import Paths
from aforesaid.recall.search import Searcher
from benchmarks.recall.loading import encoder_named

WARM_UP = 5  # queries that are not counted
LIMIT = 10
BARE = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 50"


@dataclass(slots=True)
class Probe:
    """Times in milliseconds, memory in megabytes."""

    bare: list[float] = field(default_factory=list)
    everywhere: list[float] = field(default_factory=list)
    in_project: list[float] = field(default_factory=list)
    load_seconds: float = 0.0
    grown: float = 0.0
    found: int = 0


def run(folder: str, encoder: str, queries: list[list[str]], first: bool) -> Probe:
    """`first`: before all other programs."""
    probe = Probe()
    paths = Paths.of({"AFORESAID_HOME": folder})
    plain = sqlite3.connect(Path(folder, "plain.db"))
    store = wiring.open_for_reading(paths)
    before = memory()
    chosen = encoder_named(encoder)
    searcher = Searcher(store, chosen, clock.now)
    if chosen is not None:
        chosen.encode(["warm"])
    began = time.perf_counter()
    searcher.warm()
    probe.load_seconds = time.perf_counter() - began
    project = store.projects.all()[0].id
    with _undisturbed(first):
        for number, words in enumerate(queries):
            _one(probe, plain, searcher, words, project)
            if number + 1 == WARM_UP < len(queries):
                for times in (probe.bare, probe.everywhere, probe.in_project):
                    times.clear()
    probe.grown = memory() - before
    store.close()
    plain.close()
    return probe


def _one(
    probe: Probe, plain: sqlite3.Connection, searcher: Searcher, words: list[str], project: int
) -> None:
    """All three in turn, so that a noisy moment falls on each of them alike."""
    match = " OR ".join(f'"{word}"' for word in words)
    began = time.perf_counter()
    plain.execute(BARE, (match,)).fetchall()
    probe.bare.append((time.perf_counter() - began) * 1000)
    scopes = ((probe.everywhere, Filters()), (probe.in_project, Filters(project_id=project)))
    for times, filters in scopes:
        began = time.perf_counter()
        answer = searcher.search(Query(" ".join(words), filters, limit=LIMIT))
        times.append((time.perf_counter() - began) * 1000)
        assert answer.without is None, answer.without
        probe.found += bool(answer.hits)


def memory() -> float:
    """Megabytes that this process holds; the most it ever held, where the system tells no more."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * 4096 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _undisturbed(first: bool) -> AbstractContextManager[None]:
    if not first:
        return nullcontext()
    from benchmarks import priority

    priority.go_first()
    return priority.undisturbed()
