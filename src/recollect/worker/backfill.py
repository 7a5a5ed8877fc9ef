"""Backfill: old transcripts, brought in one session after the other while live work goes first.

Whoever asked may go away; the worker goes on. If the worker is killed, the marks in the store say where the
next run goes on. Nothing is counted here: what an import came to is the difference that it made in the store.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from recollect import log
from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.model.arrivals import Healed
from recollect.model.transcripts import TranscriptFile
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.worker import chores
from recollect.worker.health import waiting
from recollect.worker.reconcile import Reconciler

Json = dict[str, Any]
STEP_SECONDS = 0.2
BREATH, LONGEST_WAY = 0.01, 2.0  # seconds
REMEMBERED = 8  # imports that are over, for those who ask how it went


@dataclass(frozen=True, slots=True)
class Selected:
    """A transcript, and the agent that wrote it."""

    agent: str
    file: TranscriptFile


@dataclass(slots=True)
class _Run:
    name: str
    selected: list[Selected]
    place: int = 0
    events: int = 0
    faulty: list[str] = field(default_factory=list)  # paths

    @property
    def over(self) -> bool:
        return self.place == len(self.selected)


def bring_in(
    reconciler: Reconciler, store: Store, agent: Agent, file: TranscriptFile, clock: Clock
) -> Iterator[Healed]:
    """All of a session, with the end that time has put to it. Then the work on it may begin."""
    yield from reconciler.file(agent, file)
    chores.interrupt(store, reconciler, clock)
    store.release_held_jobs(agent.name, file.session, clock())


@dataclass(slots=True)
class Backfill:
    paths: Paths
    store: Store
    agents: Mapping[str, Agent]
    clock: Clock
    reconciler: Reconciler
    wake: threading.Event = field(default_factory=threading.Event)  # for whoever calls `step`
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _runs: list[_Run] = field(default_factory=list)

    def begin(self, order: Json) -> Json:
        """`files`: what to bring in. The name to ask with; who asks for the same again gets the same."""
        selected = [Selected(f.pop("agent"), TranscriptFile(**f)) for f in order["files"]]
        paths = [s.file.path for s in selected]
        with self._lock:
            for run in self._runs:
                if not run.over and [s.file.path for s in run.selected] == paths:
                    return {"name": run.name}
            run = _Run(os.urandom(8).hex(), selected)
            over = [old for old in self._runs if old.over]
            for old in over[: max(0, len(over) - REMEMBERED)]:
                self._runs.remove(old)
            self._runs.append(run)
        log.action("backfill.began", sessions=len(selected))
        self.wake.set()
        return {"name": run.name}

    def progress(self, order: Json) -> Json:
        """`lost`: the worker was replaced meanwhile; begin again."""
        for run in list(self._runs):
            if run.name == order["name"]:
                sizes = [s.file.size for s in run.selected]
                done, total = sum(sizes[: run.place]), sum(sizes)
                told = {"done": done, "total": total, "over": run.over, "events": run.events}
                return told | {"faulty": run.faulty}
        return {"lost": True}

    def under_way(self) -> Json | None:
        """How many sessions of those that were asked for are done, while some are not."""
        runs = [run for run in list(self._runs) if not run.over]
        if not runs:
            return None
        return {
            "done": sum(run.place for run in runs),
            "sessions": sum(len(run.selected) for run in runs),
        }

    def waits(self) -> bool:
        return any(not run.over for run in list(self._runs))

    def step(self, go_on: Callable[[], bool]) -> bool:
        """A moment's work, at least one session. Whether something was added."""
        end = time.monotonic() + STEP_SECONDS
        added = 0
        for run in [run for run in list(self._runs) if not run.over]:
            while run.place < len(run.selected):
                for part in self._parts(run.selected[run.place]):
                    added += part.added
                    run.events += part.added
                    self._give_way()
                    if not go_on():
                        return added > 0
                self._next(run)
                if time.monotonic() >= end:
                    return added > 0
        return added > 0

    def _next(self, run: _Run) -> None:
        file = run.selected[run.place].file
        if self.reconciler.is_faulty(file):
            run.faulty.append(file.path)
        run.place += 1
        if run.over:
            log.action("backfill.ended", sessions=len(run.selected), faulty=len(run.faulty))

    def _give_way(self) -> None:
        """To whoever waits for the store or the processor, and to captures until they are stored."""
        end = time.monotonic() + LONGEST_WAY
        time.sleep(BREATH)
        while waiting(self.paths) and time.monotonic() < end:
            time.sleep(BREATH)

    def _parts(self, selected: Selected) -> Iterator[Healed]:
        agent = self.agents[selected.agent]
        return bring_in(self.reconciler, self.store, agent, selected.file, self.clock)


def as_order(selected: Iterable[Selected]) -> Json:
    return {"files": [asdict(one.file) | {"agent": one.agent} for one in selected]}
