"""The parts of the long suite as rows: the kill rounds, tests by their numbers in the catalogue, programs.

Tests run here at their full length: `AFORESAID_TORTURE` is set, which `tests.support.rounds` looks at, and
those that are marked `long` are not left out.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.support.catalogue import held
from tests.support.rounds import SEED, TORTURE
from tests.torture.results import Result

NOTHING_COLLECTED = 5  # pytest's status


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    about: str
    faults: tuple[int, ...] = ()  # whose tests it runs
    program: tuple[str, ...] = ()  # a module and its arguments
    options: tuple[str, ...] = ()  # which tests, for pytest


KILLS = "kills"
PARTS = (
    Part(KILLS, "kill -9 of hooks, workers and process groups at random moments"),
    Part(
        "moments", "kills at single moments: hooks at a byte, between two calls", (1, 2, 3, 15, 16)
    ),
    Part("power", "the power is cut after any call of a worker", (27, 32)),
    Part("disk", "disks that are full, read-only, limited or of another kind", (4, 5, 6, 26, 28)),
    Part("clock", "clocks that jump, and work that waits for days", (10, 11)),
    Part("stopped", "SIGSTOP beyond the lease, locks, jobs that fail or kill", (17, 18, 20, 23)),
    Part("versions", "hooks and workers of several versions, upgrades", (12, 22, 30)),
    Part("ports", "hostile ports, requests and connections; no network", (40, 44, 47, 49, 52, 68)),
    Part("size", "payloads and JSON without measure", (7, 8, 9)),
    Part(
        "damage",
        "databases with flipped, cut and lost bytes",
        program=("tests.support.corruption", "--cases", "50"),
    ),
    Part(
        "long", "every test that is too long for `make test-slow`", options=("-m", "long", "tests")
    ),
)


def run(part: Part, seed: int) -> Result:
    begin = time.monotonic()
    if part.program:
        command = [sys.executable, "-m", *part.program]
        passed = subprocess.run(command, check=False).returncode == 0
        seen = " ".join(part.program[1:]).removeprefix("--")
    else:
        passed, seen = _tests(part.options or ("-m", "slow or not slow", *_held_by(part)), seed)
    repeat = f"make torture ARGS='{part.name} --seed {seed}'"
    return Result(part.name, passed, seen, time.monotonic() - begin, repeat)


def _held_by(part: Part) -> list[str]:
    marks = [mark for mark in held() if mark.number in part.faults]
    return sorted({f"tests/{mark.file}::{mark.name}" for mark in marks})


def _tests(options: Sequence[str], seed: int) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        always = ("-q", "-p", "no:cacheprovider", f"--junitxml={report}")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *always, *options],
            env=os.environ | {TORTURE: "1", SEED: str(seed)},
            check=False,
        )
        seen = _counted(report) if report.exists() else "it did not start"
    return done.returncode in (0, NOTHING_COLLECTED), seen


def _counted(report: Path) -> str:
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))

    def number(name: str) -> int:
        return sum(int(suite.get(name, "0")) for suite in suites)

    skipped = number("skipped")
    passed = number("tests") - number("failures") - number("errors") - skipped
    return f"{passed} of {number('tests')} tests passed" + (
        f", {skipped} skipped" if skipped else ""
    )
