"""What a worker costs while nobody needs it, and how soon it is there when somebody does."""

import os
import time
from contextlib import suppress
from pathlib import Path

from aforesaid.worker import rpc
from benchmarks import data, table
from benchmarks.home import Home, temporary, worker
from benchmarks.machine import megabytes, status
from benchmarks.priority import undisturbed

OBSERVATIONS = 10_000
STARTS = 7
CALM_SECONDS, WATCHED_SECONDS = 3.0, 10.0


def run(*, quick: bool) -> list[table.Table]:
    with temporary() as empty, temporary() as full:
        observations = OBSERVATIONS // 20 if quick else OBSERVATIONS
        data.remember(full, observations)
        size = full.paths.database.stat().st_size / data.MB
        labels = ("empty store", f"{observations:,} observations, database of {size:.0f} MB")
        homes = dict(zip(labels, (empty, full), strict=True))
        return [_starting(homes, quick), _resting(homes, quick)]


def _starting(homes: dict[str, Home], quick: bool) -> table.Table:
    found = table.Table(
        "Worker, from its start to its first answer", ("", "median ms", "most ms", "aim")
    )
    times: dict[str, list[float]] = {name: [] for name in homes}
    for _ in range(2 if quick else STARTS):
        for name, home in homes.items():
            times[name].append(_start(home))
    for name, taken in times.items():
        found.add(name, table.ms(table.median(taken)), table.ms(max(taken)), "<= 1000")
    return found


def _start(home: Home) -> float:
    with undisturbed():
        began = time.perf_counter()
        with worker(home):
            return (time.perf_counter() - began) * 1000


def _resting(homes: dict[str, Home], quick: bool) -> table.Table:
    seconds = 2.0 if quick else WATCHED_SECONDS
    columns = ("", "busy s", "RSS MB", "threads", "CPU ticks", "CPU ms", "wake-ups", "aim")
    found = table.Table(f"Idle worker, {seconds:.0f} s", columns)
    for name, home in homes.items():
        with worker(home) as process:
            began = time.monotonic()
            while not rpc.status(home.paths)["idle"]:  # it indexes what is new to it
                time.sleep(0.2)
            busy = f"{time.monotonic() - began:.1f}"
            time.sleep(CALM_SECONDS)
            before = _spent(process.pid)
            time.sleep(seconds)
            spent = [
                after - earlier for after, earlier in zip(_spent(process.pid), before, strict=True)
            ]
            ticks, nanoseconds, wakes = spent
            memory = megabytes(process.pid)
            threads = status(process.pid, "Threads")
            cells = (
                busy,
                f"{memory:.1f}",
                threads,
                str(ticks),
                f"{nanoseconds / 1e6:.2f}",
                str(wakes),
            )
            found.add(name, *cells, "< 80 MB, 0 ticks")
    return found


def _spent(pid: int) -> tuple[int, int, int]:
    """Clock ticks (10 ms), nanoseconds on a core, and how often a thread gave its core back."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    nanoseconds = wakes = 0
    for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - not a real folder
        with suppress(OSError):
            nanoseconds += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
            wakes += int(status(f"{pid}/task/{task}", "voluntary_ctxt_switches"))
    return int(words[11]) + int(words[12]), nanoseconds, wakes
