"""One stretch of kill rounds in a home of its own: `python -m tests.torture.kill_segment FOLDER SEED ROUNDS`.

It tells what it has counted so far in a line of JSON after every few rounds, and in the last one what became
of the events. Ends with status 1 if anything is lost, doubled or corrupted; whoever started it removes the
folder, or keeps it to be looked at.
"""

import json
import os
import random
import sys
from dataclasses import asdict
from pathlib import Path

from aforesaid.paths import Paths
from tests.support.crash import Crash, Pace
from tests.support.crash_verdict import judge, unsound

LOOK_EVERY = 25  # rounds after which everybody is killed and the database looked at
TELL_EVERY = 5
DENSE = Pace(
    seconds=(0.05, 0.2),
    hooks=30,
    strikes=2,
    at_once=8,
    sessions=8,
    tools=(4, 8),
    cut=0.03,
    early=0.04,
)


def main(folder: Path, seed: int, rounds: int) -> int:
    paths = Paths.of(os.environ)
    paths.make()
    project = folder / "shop"
    project.mkdir()
    crash = Crash(paths, project, random.Random(seed), DENSE)
    damage: list[str] = []
    try:
        for number in range(1, rounds + 1):
            crash.round()
            if number % LOOK_EVERY == 0:
                crash.kill(worker=True)
                damage += unsound(paths.database)
            if number % TELL_EVERY == 0:
                _tell(crash)
        crash.settle()
    finally:
        crash.kill(worker=True)
    verdict = judge(crash)
    _tell(crash, damage=damage, verdict=asdict(verdict))
    return int(bool(damage) or not verdict.is_clean)


def _tell(crash: Crash, **more: object) -> None:
    counts = {"acknowledged": len(crash.acknowledged), **crash.counts}
    sys.stdout.write(json.dumps({"counts": counts, **more}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
