"""A backlog at a worker: the script of `docs/reliability.md`, at a smaller size."""

from pathlib import Path

import pytest

from tests.torture.backlog import make_large, make_small, measure


@pytest.mark.long
@pytest.mark.parametrize("large", [False, True])
def test_a_backlog_is_stored_in_bounded_memory(tmp_path: Path, large: bool) -> None:
    """T7, T11: every event once; large captures too, but a sparse file that is none."""
    spool = tmp_path / "spool" / "new"
    spool.mkdir(parents=True, mode=0o700)
    count = 1_000 if large else 60_000
    make_small(spool, count)
    if large:
        make_large(spool)
    found = measure(tmp_path, None, 1200)
    assert (found["small_left"], found["large_left"]) == (0, 0)
    assert found["events"] == found["keys"] == count + large
    assert int(str(found["peak_mb"])) < 200
