"""Power loss: what the worker has acknowledged by removing its file is on the disk before the file is gone.

A real worker is watched; then the power is cut on paper, after each of its calls in turn, and the database
that would be found is opened.
"""

import json
import random
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support import payloads
from tests.support.power_loss import Disk
from tests.support.product import until
from tests.support.rounds import rounds, seed
from tests.support.system_calls import FILES, Call, calls_in, needs_strace, watched

pytestmark = pytest.mark.slow

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
WORKER = (sys.executable, "-I", "-m", "aforesaid.worker.main")
WAVES, FILES_OF_A_WAVE = 4, 6


def publish(home: Paths, name: str, body: bytes) -> None:
    """As a hook does, so that nobody reads half of it."""
    (home.spool_tmp / name).write_bytes(body)
    (home.spool_tmp / name).rename(home.spool_new / name)


def drained(home: Paths) -> bool:
    return not any(home.spool_new.iterdir())


@pytest.fixture
def traced(home: Paths, tmp_path: Path) -> list[Call]:
    """What a worker did that took in a few waves of captures, among them one that cannot be read."""
    needs_strace()
    trace = tmp_path / "trace"
    with subprocess.Popen(
        watched(WORKER, trace, FILES), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as running:
        for wave in range(WAVES):
            for number in range(FILES_OF_A_WAVE):
                name = f"t{wave}_{number}"
                publish(home, name, HEADER + payloads.tool("s1", name))
            publish(home, f"bad{wave}", b"nonsense")
            until(lambda: drained(home), seconds=120)
        until(lambda: rpc.stop(home), seconds=120)
        assert running.wait(120) == 0
    return calls_in(trace)


def stored(database: Path) -> set[str]:
    """The names of the captures that the database has, whole or put aside."""
    if not database.exists():
        return set()
    with closing(sqlite3.connect(database)) as connection:
        if (
            connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'events'").fetchone()
            is None
        ):
            return set()
        assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        bodies = connection.execute("SELECT body FROM events").fetchall()
        aside = connection.execute("SELECT name FROM quarantine").fetchall()
    events = {json.loads(zlib.decompress(body))["tool_use_id"] for (body,) in bodies}
    return events | {name for (name,) in aside}


def removed(disk: Disk, home: Paths) -> set[str]:
    """The captures whose files would be gone."""
    return {Path(path).name for path in disk.gone if Path(path).parent == home.spool_new}


def cut_after_removals(traced: list[Call], home: Paths, folder: Path) -> tuple[int, int]:
    """How often the power was cut, each time right after a removal; and how often something was lost then."""
    folder.mkdir()
    disk, cuts, losses = Disk(home.database), 0, 0
    for call in traced:
        disk.happens(call)
        if Path(call.path).parent == home.spool_new and call.name != "openat":
            cuts += 1
            losses += not removed(disk, home) <= stored(disk.left(folder))
    return cuts, losses


@pytest.mark.quick
def test_a_file_leaves_the_spool_only_when_its_event_is_on_the_disk(
    traced: list[Call], home: Paths, tmp_path: Path
) -> None:
    """T27: the power is cut right after each removal; nothing that was not synced is left."""
    removals = WAVES * (FILES_OF_A_WAVE + 1)
    assert cut_after_removals(traced, home, tmp_path / "found") == (removals, 0)
    # The same worker, had it not synced: then this would be seen.
    careless = [
        call for call in traced if not call.path.endswith("-wal") or call.name != "fdatasync"
    ]
    _, losses = cut_after_removals(careless, home, tmp_path / "careless")
    assert losses > removals // 2


def test_whatever_part_of_the_last_writes_is_left_the_database_opens_and_is_complete(
    traced: list[Call], home: Paths, tmp_path: Path
) -> None:
    """T27: the power is cut at any call, and any part of what was not synced has reached the disk."""
    found = tmp_path / "found"
    found.mkdir()
    given = seed()
    chance = random.Random(given)
    places = set(chance.sample(range(len(traced)), min(len(traced), rounds(60, 3000))))
    disk = Disk(home.database)
    for number, call in enumerate(traced):
        disk.happens(call)
        if number in places:
            here = (given, number)
            assert removed(disk, home) <= stored(disk.left(found, chance)), here
    sys.stdout.write(f"seed {given}: the power was cut at {len(places)} of {len(traced)} calls\n")
