"""kill -9 of everything, at any moment, loses nothing and doubles nothing.

`AFORESAID_CRASH_ROUNDS` makes it longer, `AFORESAID_CRASH_SEED` makes it the same again; `make torture` has
thousands of rounds.
"""

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from tests.support.crash import Crash, Pace
from tests.support.crash_verdict import judge, unsound

ROUNDS = int(os.environ.get("AFORESAID_CRASH_ROUNDS", "30"))
SEED = int(os.environ.get("AFORESAID_CRASH_SEED", random.randrange(1 << 32)))
LOOK_EVERY = 10


@pytest.fixture
def crash(home: Paths, tmp_path: Path) -> Iterator[Crash]:
    project = tmp_path / "shop"
    project.mkdir()
    running = Crash(home, project, random.Random(SEED), Pace(cut=0.05))
    yield running
    running.kill(worker=True)
    sys.stdout.write(f"seed {SEED}: {dict(running.counts)}\n")


@pytest.mark.timeout(300 + 3 * ROUNDS)
def test_killing_everything_at_random_moments_loses_nothing_and_doubles_nothing(
    crash: Crash,
) -> None:
    """T14: hooks and workers, round after round, with redeliveries and senders that die half-way."""
    for number in range(1, ROUNDS + 1):
        crash.round()
        if number % LOOK_EVERY == 0:
            crash.kill(worker=True)
            assert unsound(crash.paths.database) == []
    crash.settle()

    verdict = judge(crash)
    assert verdict.is_clean, verdict
    assert verdict.acknowledged > ROUNDS
    assert crash.counts["hooks killed"] > 0
    assert crash.counts["workers killed"] >= ROUNDS // LOOK_EVERY
