"""What a capture costs the agent: 10 KB and 1 MB; 1, 8 and 32 at once; whatever state the worker is in."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from aforesaid import wiring
from aforesaid.worker import rpc
from benchmarks import data, rounds, spawn, table
from benchmarks.home import (
    PYTHON_PASS,
    SH_TRUE,
    Home,
    locked,
    temporary,
    wait_until_ready,
    worker,
)
from benchmarks.rounds import Variant

SIZES = (("10 KB", 10 * data.KB, "<= 5"), ("1 MB", data.MB, "<= 6"))
ROUNDS = {1: 40, 8: 12, 32: 6}  # at once: rounds
STARTS = 6
BACKLOG = 100_000
NOTES = [
    "The hook is `/bin/sh -c` with the line of the settings file; the payload comes through a pipe.",
    "worker up: a sample begins when the worker is idle, as it is between two tool calls. At 8 and 32",
    "it wakes at the first capture: it shares the cores at normal priority, and waits at real-time.",
]


def run(*, quick: bool) -> list[table.Table]:
    backlog = BACKLOG // 100 if quick else BACKLOG
    with ExitStack() as stack:
        states = [
            _State("worker up", stack.enter_context(_up()), drained=True),
            _State("worker dead", stack.enter_context(_dead())),
            _State("database locked", stack.enter_context(_locked())),
            _State(f"{backlog:,} files waiting", stack.enter_context(_dead())),
        ]
        states[-1].home.fill_spool(backlog)
        tables = [_measure(states, count, quick=quick) for count in ROUNDS]
        states[0].check_all_stored()
    tables[-1].notes += NOTES
    return tables


@dataclass(slots=True)
class _State:
    """A home whose captures are counted: the time of a capture that got lost is worth nothing."""

    name: str
    home: Home
    drained: bool = False
    sent: int = 0

    def payloads(self, size: int, count: int) -> list[bytes]:
        self.sent += count
        return data.tools_used(size, count)

    def before(self) -> None:
        if not self.drained:
            self.home.pretend_starting()

    def after(self) -> None:
        if self.drained:
            self.home.settle()
            return
        found = self.home.clear_spool()
        assert found == self.sent, f"{self.name}: {self.sent} sent, {found} in the spool"
        self.sent = 0

    def check_all_stored(self) -> None:
        store = wiring.open_for_reading(self.home.paths)
        stored = store.health().events
        store.close()
        assert stored == self.sent, f"{self.name}: {self.sent} sent, {stored} stored"

    def variant(self, name: str, command: spawn.Command, size: int, aim: str = "") -> Variant:
        payloads = partial(self.payloads, size)
        return Variant(name, command, payloads, self.before, self.after, aim)


def _measure(states: list[_State], at_once: int, *, quick: bool) -> table.Table:
    baseline = Variant("sh -c true", SH_TRUE)
    variants = [baseline, Variant("python -I -S -c pass", PYTHON_PASS)]
    for label, size, aim in SIZES:
        for state in states:
            name, command = f"capture {label}, {state.name}", state.home.hook("save")
            variants.append(state.variant(name, command, size, aim if at_once == 1 else ""))
    dead = states[1]
    for label, size, _ in SIZES:
        command = dead.home.python_writer("save")
        variants.append(dead.variant(f"Python writer {label}, worker dead", command, size))
    rounds.run(variants, at_once=at_once, rounds=3 if quick else ROUNDS[at_once])
    if at_once == 1:
        variants.append(_starting(quick=quick))
    return table.of_times(f"Hook, {at_once} at once", variants, baseline)


def _starting(*, quick: bool) -> Variant:
    """The capture that finds no worker and starts one."""
    with temporary() as home:
        state = _State("no worker", home, drained=True)

        def stop_again() -> None:
            wait_until_ready(home)
            home.settle()
            rpc.stop(home.paths)

        name = "capture 10 KB, worker dead, this capture starts it"
        variant = state.variant(name, home.hook("save"), 10 * data.KB)
        variant.after = stop_again
        rounds.run([variant], at_once=1, rounds=1 if quick else STARTS)
        state.check_all_stored()
    return variant


@contextmanager
def _dead() -> Iterator[Home]:
    with temporary() as home:
        home.pretend_starting()
        yield home


@contextmanager
def _up() -> Iterator[Home]:
    with temporary() as home:
        home.make_repository("main", ["a.py"])
        with worker(home):
            yield home


@contextmanager
def _locked() -> Iterator[Home]:
    with _up() as home, locked(home):
        yield home
