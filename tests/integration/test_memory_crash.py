"""kill -9 of whoever changes memories: the state is the one before or after, and the next change works.

`AFORESAID_CRASH_SEED` makes the random moments the same again.
"""

import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from aforesaid.memory.folders import render_index
from aforesaid.memory.history import BY_HAND
from aforesaid.model.memories import Memory
from tests.support.memory_crash import memories_in
from tests.support.product import until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SEED = int(os.environ.get("AFORESAID_CRASH_SEED", random.randrange(1 << 32)))
WRITERS = 2
WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from aforesaid.model.memories import Memory
from tests.support.memory_crash import memories_in
memories = memories_in(Path(sys.argv[1]))
name, number = sys.argv[2], 0
while True:
    number += 1
    with memories.change(f"{name} {number}") as change:
        change.write(Memory(f"{name}-{number}", f"Memory {number}", "user", "Body. " * 300))
        change.write(Memory(f"{name}-{number}-too", f"Memory {number}", "project", "Body. " * 300))
        if number > 1:
            change.retire(f"{name}-{number - 1}", "a new one came", replaced_by=f"{name}-{number}")
    print(number, flush=True)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_a_change_that_is_killed_at_any_step_happened_or_did_not(quick: Path, every: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.memory_crash", quick, str(every)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stderr


def start(home: Path, name: str) -> subprocess.Popen[bytes]:
    with (home / f"{name}.out").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, home, name],
            cwd=ROOT,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def all_began(home: Path, names: list[str]) -> bool:
    return all((home / f"{name}.out").stat().st_size for name in names)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", [5, pytest.param(30, marks=pytest.mark.long)])
def test_killing_writers_at_random_moments_loses_nothing(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(SEED)
    sys.stdout.write(f"seed {SEED}\n")
    made: dict[str, int] = {}
    for turn in range(rounds):
        names = [f"w{turn}x{number}" for number in range(WRITERS)]
        running = [start(tmp_path, name) for name in names]
        try:
            until(partial(all_began, tmp_path, names), seconds=100)
            time.sleep(chance.uniform(0, 0.15))
        finally:
            for process in running:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for name in names:
            made[name] = int((tmp_path / f"{name}.out").read_text().split()[-1])
    assert_whole(tmp_path, made)
    assert sum(made.values()) >= rounds


def assert_whole(home: Path, made: dict[str, int]) -> None:
    """What was acknowledged is there; what was begun is there altogether or not at all."""
    memories = memories_in(home)
    memories.all()
    with memories.change("the last") as change:
        change.write(Memory("last", "The last", "user", "Body."))
    there = {name for folder in memories.places.own for name in folder.names()}
    retired = {name for folder in memories.places.retired for name in folder.names()}
    for name, count in made.items():
        reached = count + (f"{name}-{count + 1}" in there)
        assert {
            each for each in there if each.startswith(f"{name}-") and each.endswith("-too")
        } == {f"{name}-{number}-too" for number in range(1, reached + 1)}
        assert {
            each for each in there if each.startswith(f"{name}-") and not each.endswith("-too")
        } == ({f"{name}-{reached}"} if reached else set())
        assert {each for each in retired if each.startswith(f"{name}-")} == {
            f"{name}-{number}" for number in range(1, reached)
        }
    for folder in (*memories.places.own, *memories.places.retired):
        assert not folder.list(None).broken
    for folder in memories.places.own:
        assert (folder.path / "MEMORY.md").read_text() == render_index(folder.list(None))
    reasons = [entry.reason for entry in memories.history.log(None)]
    assert BY_HAND not in reasons  # nobody edited anything
    assert len(reasons) == len(set(reasons))
    assert sum(made.values()) <= len(reasons) - 1 <= sum(made.values()) + len(made)
