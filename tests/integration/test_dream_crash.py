"""A dream that is killed at any step leaves the memories as they were before it, or as they are after it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LEAST_STEPS = 40


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("git", [True, False], ids=["git", "snapshots"])
def test_killed_at_every_step_it_leaves_the_state_before_or_after(
    tmp_path: Path, git: bool, every: int
) -> None:
    """And whoever comes next is not locked out, ends with the same memories, and can undo the dream."""
    nowhere = tmp_path / "nowhere"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.dream_killer", tmp_path, str(every)],
        cwd=Path(__file__).parents[2],
        env=os.environ | ({} if git else {"PATH": str(nowhere)}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(steps) * every > LEAST_STEPS
    *killed, last = steps
    assert all(step["killed"] for step in killed)
    assert not last["killed"]
    assert last["state"] == "after"
    assert last["counted"]
    for step in steps:
        assert step["state"] in ("before", "after"), step
        assert step["resumed"], step
        assert step["undone"], step
        # Only a completed dream counts as one.
        assert not (step["counted"] and step["state"] == "before"), step
    states = [step["state"] for step in steps]
    assert states == sorted(states, reverse=True)  # one moment divides them
    assert {"before", "after"} == set(states)
