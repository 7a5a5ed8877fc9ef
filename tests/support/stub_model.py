"""A model that answers as it is told, a clock that the test moves, and the worker's own parts around them."""

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid.clock import HOUR, SECOND
from aforesaid.model.jobs import Job
from aforesaid.model.observations import Author
from aforesaid.model.requests import Failure, Reply, Request, Usage
from aforesaid.paths import Paths
from aforesaid.providers.base import Model
from aforesaid.store.store import Store
from aforesaid.synthesis.cost import Budget, Prices
from aforesaid.synthesis.model import Requester, Terms
from aforesaid.synthesis.prompt import VERSION
from aforesaid.wiring import Choice
from aforesaid.worker.ingest import Ingest
from aforesaid.worker.jobs import JobRunner
from tests.support import payloads
from tests.support.arrivals import START
from tests.support.context import make_context

Step = str | Failure | Callable[[Request], "Step"]
CHANGED = re.compile(r"(?:Created|Edited) (\S+)")


@dataclass(slots=True)
class FakeClock:
    at: int = START

    def __call__(self) -> int:
        return self.at


def dutiful(request: Request) -> str:
    """What a good model answers: one observation about the files, or the summary."""
    files = CHANGED.findall(request.message) or ["nothing"]
    if request.message.endswith("Write the summary."):
        return f"<summary><request>Write {files[0]}.</request></summary>"
    return observation(f"{files[0]} written", f"The file {files[0]} was created by the agent.")


def observation(title: str, *facts: str) -> str:
    told = "".join(f"<fact>{fact}</fact>" for fact in facts)
    return f"<observation><type>feature</type><title>{title}</title><facts>{told}</facts></observation>"


@dataclass(slots=True)
class StubModel:
    """Steps in order, then `then` for ever. A step may be a function of the request. `when`: the time of
    each request."""

    steps: list[Step] = field(default_factory=list)
    then: Step = dutiful
    clock: FakeClock = field(default_factory=FakeClock)
    requests: list[Request] = field(default_factory=list)
    when: list[int] = field(default_factory=list)
    name: str = "stub"
    model: str = "stub-1"
    longest_seconds: float = 1.0

    def ask(self, request: Request) -> Reply | Failure:
        self.requests.append(request)
        self.when.append(self.clock())
        step = self.steps.pop(0) if self.steps else self.then
        while callable(step):
            step = step(request)
        return Reply(step, self.model, usage_of(request, step)) if isinstance(step, str) else step

    def close(self) -> None:
        """Nothing is under way."""


def usage_of(request: Request, reply: str) -> Usage:
    return Usage(len(request.system + request.message) // 4, 0, 0, len(reply) // 4)


@dataclass(slots=True)
class Turns:
    """Sessions as the hooks deliver them, into the store, at the clock's time."""

    paths: Paths
    store: Store
    clock: FakeClock
    _count: int = 0

    def add(self, session: str, number: int) -> None:
        """One turn: a prompt, a new file named after the turn, a stop. Two jobs."""
        name = f"{session}_{number}"
        self.deliver(
            payloads.prompt(
                session, f"p-{name}", f"Please write the file of turn {name}, it is due"
            ),
            payloads.write(session, f"t_{name}", f"p-{name}", f"{payloads.CWD}/{name}.py"),
            payloads.stop(session, f"p-{name}", f"Wrote {name}.py."),
        )

    def deliver(self, *bodies: bytes) -> None:
        header = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
        for body in bodies:
            self._count += 1
            self.clock.at += SECOND
            file = self.paths.spool_new / f"{self._count:06}"
            file.write_bytes(header + body)
            os.utime(file, ns=(self.clock.at * 1_000_000,) * 2)
        Ingest(make_context(self.paths, self.store, self.clock)).drain()


def asking(store: Store, model: Model, clock: FakeClock, job: Job, **limits: int) -> Requester:
    """Questions for one job, with no budget but what is given as `tokens` or `cents`."""
    budget = Budget(limits.get("tokens", 0), limits.get("cents", 0), clock)
    return Requester(
        store, model, Terms(VERSION, Prices.of(()), budget), clock, job.session_id, job.id
    )


def claimed(store: Store, clock: FakeClock) -> Job:
    job = store.jobs.claim("test", clock(), clock() + HOUR)
    assert job is not None
    return job


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    """Straight from the file, beside whoever has it open."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


@dataclass(slots=True)
class Desk:
    """The worker's job thread without its process: what is waited for is slept through on the fake clock."""

    paths: Paths
    model: StubModel
    clock: FakeClock
    store: Store
    runner: JobRunner
    turns: Turns

    @classmethod
    def of(cls, paths: Paths, model: StubModel, **limits: int) -> "Desk":
        clock = model.clock
        store = Store(paths.database, writer=True)
        budget = Budget(limits.get("tokens", 0), limits.get("cents", 0), clock)
        choice = Choice(
            author=Author(model.name, model.model, VERSION),
            why="a test",
            model=model,
            terms=Terms(VERSION, Prices.of(()), budget),
            request_tokens=6_000,
        )
        context = make_context(paths, store, clock, choice=choice)
        context.breaker.luck = lambda: 0.5
        runner = JobRunner(context, holder="desk", lease=HOUR)
        return cls(paths, model, clock, store, runner, Turns(paths, store, clock))

    def work(self, until: int | None = None) -> None:
        """As the job thread does: all that is due, then asleep until there is more, or until then."""
        while True:
            self.runner.write_drafts(lambda: True)
            self.runner.run_due(lambda: True)
            due = self.store.jobs.next_due()
            if due is None:
                return
            outage = self.runner.context.breaker.blocked()
            wake = max(due, outage.until if outage else 0, self.clock.at + 10)
            if until is not None and wake >= until:
                self.clock.at = until
                return
            self.clock.at = wake

    def rows(self, query: str) -> list[tuple[object, ...]]:
        return rows(self.paths.database, query)

    def jobs(self) -> list[tuple[object, ...]]:
        """Kind, state, tries and error of each, in their order."""
        return self.rows("SELECT kind, state, tries, last_error FROM jobs ORDER BY id")
