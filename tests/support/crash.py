"""Hooks and a worker that are killed at random moments, round after round, and what must be true then.

A hook that ended with status 0 has acknowledged its event. Everything is killed with SIGKILL, so nobody
can tidy up; each hook is a process group of its own, as it is below the agent. Some payloads are cut off in
the middle, as by a sender that dies: those must end in quarantine, whole as they came.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid.errors import WorkerError
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support import payloads
from tests.support.product import until
from tests.support.writers import Writer, python_writer, shell_writer, start_no_worker

ROUNDS_OF_A_WORKER = (1, 3)  # once it works: it needs longer to start than a round may last
TURNS_PER_SESSION = 6
SOMETIMES = 0.15
SETTLE_SECONDS = 600  # thousands of events on a machine that others use too

Step = list[tuple[str, bytes]]  # hooks and payloads that may run side by side


@dataclass(frozen=True, slots=True)
class Pace:
    """How much happens in a round. On a slow machine it lasts until all its hooks were started."""

    seconds: tuple[float, float] = (0.05, 0.3)
    hooks: int = 8
    at_once: int = 4
    sessions: int = 3
    tools: tuple[int, int] = (1, 4)  # of a turn
    strikes: int = 1  # how often in a round every hook that runs is killed
    cut: float = 0.0  # the share of payloads whose sender dies half-way
    early: float = SOMETIMES  # how likely a worker dies in a round in which it is still starting


@dataclass(frozen=True, slots=True)
class Running:
    process: subprocess.Popen[bytes]
    session: int | None  # None: delivered again or cut off, nobody waits for it
    payload: bytes
    whole: bool


@dataclass(slots=True)
class Crash:
    paths: Paths
    project: Path
    chance: random.Random
    pace: Pace = Pace()
    sent: set[bytes] = field(default_factory=set)
    acknowledged: set[bytes] = field(default_factory=set)
    cut: set[bytes] = field(default_factory=set)  # halves
    counts: Counter[str] = field(default_factory=Counter)
    _worker: subprocess.Popen[bytes] | None = None
    _rounds_left: int = 0
    _running: list[Running] = field(default_factory=list)
    _answered: list[bytes] = field(default_factory=list)  # as acknowledged, to choose from
    _scripts: list[Iterator[Step]] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._scripts = [self._script(number) for number in range(self.pace.sessions)]
        self._steps = [[] for _ in range(self.pace.sessions)]

    def round(self) -> None:
        """Work for a moment, then kill every hook, and the worker if its time has come."""
        start_no_worker(self.paths.state)
        if self._worker is None:
            self._worker = start_worker()
            self._rounds_left = self.chance.randint(*ROUNDS_OF_A_WORKER)
        if self.chance.random() < 2 * SOMETIMES:
            self._deliver_again()
        for strike in range(self.pace.strikes):
            if strike:
                self.kill(worker=False)
            self._fire()
        self._spawn(self.pace.at_once)  # some are to die young
        time.sleep(self.chance.uniform(0, 0.012))
        works = rpc.running_pid(self.paths) == self._worker.pid
        self._rounds_left -= works
        too_early = not works and self.chance.random() < self.pace.early
        self.kill(worker=too_early or self._rounds_left == 0)
        self.counts["rounds"] += 1

    def _fire(self) -> None:
        """The hooks of a round, or of its part between two strikes."""
        begin, hooks = time.monotonic(), self.pace.hooks // self.pace.strikes
        length = self.chance.uniform(*self.pace.seconds) / self.pace.strikes
        started = 0
        while (elapsed := time.monotonic() - begin) < length or started < hooks:
            due = min(hooks, int(hooks * elapsed / length))
            started += self._spawn(due - started)
            self._reap()
            time.sleep(0.001)

    def kill(self, *, worker: bool) -> None:
        for running in self._running:
            with suppress(ProcessLookupError):
                os.killpg(running.process.pid, signal.SIGKILL)
        if worker and self._worker is not None:
            self._worker.kill()
            self._worker.wait()
            self._worker = None
            self.counts["workers killed"] += 1
        for running in self._running:
            running.process.wait()
        self._reap()

    def settle(self) -> None:
        """End every turn, let a worker finish, take up what was parked for ending it too often."""
        self.kill(worker=True)
        for number in range(self.pace.sessions):
            session, prompt_id = f"session-{number}-last", f"p-{number}-last"
            for hook, payload in (
                ("new", payloads.prompt(session, prompt_id, "The last one")),
                ("summary", payloads.stop(session, prompt_id)),
            ):
                self._start(None, hook, payload, shell=True).process.wait()
        self._reap()
        self._worker = start_worker()
        until(self._is_idle, seconds=SETTLE_SECONDS)
        # Not an order: on a busy machine that starts one more worker, which takes over from this one.
        rpc.ask(self.paths, b'retry {"id": null}', seconds=SETTLE_SECONDS)
        until(self._is_idle, seconds=SETTLE_SECONDS)
        assert rpc.stop(self.paths)
        self._worker.wait()

    def _is_idle(self) -> bool:
        try:
            status = rpc.status(self.paths)
        except WorkerError:
            return False
        return bool(status["idle"]) and status["queue"]["pending"] == 0

    def _spawn(self, budget: int) -> int:
        """Start the next hooks. How many."""
        started = 0
        order = self.chance.sample(range(self.pace.sessions), self.pace.sessions)
        for session in order:
            busy = any(running.session == session for running in self._running)
            if not self._steps[session] and not busy:
                self._steps[session] = next(self._scripts[session])
            while (
                self._steps[session] and started < budget and len(self._running) < self.pace.at_once
            ):
                hook, payload = self._steps[session].pop(0)
                if self.chance.random() < self.pace.cut:
                    self._cut_off(hook, payload)
                self._start(session, hook, payload)
                started += 1
        return started

    def _deliver_again(self) -> None:
        """As a second installation does, or the client after a restart."""
        if self._answered:
            self._start(None, "save", self.chance.choice(self._answered))
            self.counts["delivered again"] += 1

    def _cut_off(self, hook: str, payload: bytes) -> None:
        """The hook sees the end of its input and publishes half of it; the client sends it again."""
        half = payload[: self.chance.randrange(1, len(payload) - 1)]
        self._start(None, hook, half, whole=False)
        self.counts["cut off"] += 1

    def _start(
        self,
        session: int | None,
        hook: str,
        payload: bytes,
        *,
        shell: bool | None = None,
        whole: bool = True,
    ) -> Running:
        writer = self._writer(hook, self.chance.random() > SOMETIMES if shell is None else shell)
        process = subprocess.Popen(
            writer.command,
            env=os.environ | {"CLAUDE_PROJECT_DIR": str(self.project)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        (self.sent if whole else self.cut).add(payload)
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(payload)  # less than a pipe holds: this does not wait
        running = Running(process, session, payload, whole)
        self._running.append(running)
        return running

    def _reap(self) -> None:
        for running in list(self._running):
            status = running.process.poll()
            if status is None:
                continue
            self._running.remove(running)
            self.counts["hooks killed" if status else "hooks done"] += 1
            if status == 0 and running.whole and running.payload not in self.acknowledged:
                self.acknowledged.add(running.payload)
                self._answered.append(running.payload)
            self.counts["halves acknowledged"] += status == 0 and not running.whole

    def _writer(self, hook: str, shell: bool) -> Writer:
        return shell_writer("sh", "/bin/sh", hook=hook) if shell else python_writer(hook)

    def _script(self, number: int) -> Iterator[Step]:
        """One session after the other: a prompt, a few tools side by side, a stop (or none: Esc)."""
        turn = 0
        while True:
            turn += 1
            session = f"session-{number}-{turn // TURNS_PER_SESSION}"
            name = f"{number}_{turn}"
            prompt_id = f"p-{name}"
            yield [("new", payloads.prompt(session, prompt_id, f"Write the files of turn {name}"))]
            yield [
                ("save", self._tool(session, f"t{name}_{use}", prompt_id))
                for use in range(self.chance.randint(*self.pace.tools))
            ]
            if self.chance.random() > SOMETIMES:
                yield [("summary", payloads.stop(session, prompt_id, f"Wrote those of {name}."))]

    def _tool(self, session: str, use_id: str, prompt_id: str) -> bytes:
        if self.chance.random() < SOMETIMES:
            return payloads.tool(session, use_id, prompt_id=prompt_id, output="x" * 20_000)
        return payloads.write(session, use_id, prompt_id, f"{self.project}/{use_id}.py")


def start_worker() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "aforesaid.worker.main"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
