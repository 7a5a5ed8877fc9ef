"""The parts of the long suite as rows. A part without tests is the kill rounds, which run by themselves.

Tests run here at their full length: `RECOLLECT_TORTURE` is set, which `tests.support.rounds` looks at, and
those that are marked `long` are not left out.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.support.rounds import SEED, TORTURE
from tests.torture.results import Result


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    about: str
    tests: tuple[str, ...] = ()


PARTS = (Part("kills", "kill -9 of hooks, workers and process groups at random moments"),)


def run_tests(part: Part, seed: int) -> Result:
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-m", "long or not long"),
                *("-p", "no:cacheprovider", f"--junitxml={report}", *part.tests),
            ],
            env=os.environ | {TORTURE: "1", SEED: str(seed)},
            check=False,
        )
        seen = _counted(report) if report.exists() else "it did not start"
    repeat = f"make torture ARGS='{part.name} --seed {seed}'"
    return Result(part.name, done.returncode == 0, seen, time.monotonic() - begin, repeat)


def _counted(report: Path) -> str:
    """What pytest counted, and what the tests have recorded of their figures."""
    (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
    counted = {
        name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")
    }
    figures = [
        f"{each.get('value')}" for each in suite.iter("property") if each.get("name") == "figure"
    ]
    passed = counted["tests"] - counted["failures"] - counted["errors"] - counted["skipped"]
    said = [f"{passed} of {counted['tests']} tests passed"]
    said += [f"{counted['skipped']} skipped"] if counted["skipped"] else []
    return "; ".join([*said, *figures])
