"""kill -9 of everything, at any moment, loses nothing and doubles nothing.

`RECOLLECT_CRASH_ROUNDS` makes it longer, `RECOLLECT_CRASH_SEED` makes it the same again.
"""

import json
import os
import random
import sqlite3
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect.paths import Paths
from tests.support.crash import Crash
from tests.support.finding import check_words

ROUNDS = int(os.environ.get("RECOLLECT_CRASH_ROUNDS", "60"))
SEED = int(os.environ.get("RECOLLECT_CRASH_SEED", random.randrange(1 << 32)))
LOOK_EVERY = 20


@pytest.fixture
def crash(home: Paths, tmp_path: Path) -> Iterator[Crash]:
    project = tmp_path / "shop"
    project.mkdir()
    running = Crash(home, project, random.Random(SEED))
    yield running
    running.kill(worker=True)
    sys.stdout.write(f"seed {SEED}: {dict(running.counts)}\n")


def assert_sound(database: Path) -> None:
    """No worker is alive: we may write, which is what the index's own check wants."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            return  # no worker has lived long enough yet
        check_words(connection)


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


def stored_payloads(database: Path) -> Counter[bytes]:
    bodies = rows(database, "SELECT body FROM events")
    return Counter(zlib.decompress(body) for (body,) in bodies if isinstance(body, bytes))


@pytest.mark.timeout(300 + 3 * ROUNDS)
def test_killing_everything_at_random_moments_loses_nothing_and_doubles_nothing(
    crash: Crash,
) -> None:
    database = crash.paths.database
    for number in range(1, ROUNDS + 1):
        crash.round()
        if number % LOOK_EVERY == 0:
            crash.kill(worker=True)
            assert_sound(database)
    crash.settle()

    assert_sound(database)
    assert_every_acknowledged_event_is_stored_once(crash)
    assert_every_job_was_done_once(database)
    assert_every_file_is_remembered_once(database)
    assert crash.counts["hooks killed"] > 0
    assert crash.counts["workers killed"] >= ROUNDS // LOOK_EVERY


def assert_every_acknowledged_event_is_stored_once(crash: Crash) -> None:
    stored = stored_payloads(crash.paths.database)
    assert set(stored.values()) == {1}
    assert crash.acknowledged <= set(stored) <= crash.sent
    assert not (crash.paths.state / "capture-failures").exists()
    assert list(crash.paths.spool_new.iterdir()) == []
    assert list(crash.paths.spool_bad.iterdir()) == []


def assert_every_job_was_done_once(database: Path) -> None:
    assert (
        rows(database, "SELECT * FROM jobs WHERE state <> 'done' OR lease_until IS NOT NULL") == []
    )
    # Whatever was done in a turn that is over is claimed by a job, and by one only.
    unclaimed = (
        "SELECT session_id, max(prompt_number) FROM events WHERE kind = 'tool' AND job_id IS NULL"
    )
    for session, number in rows(database, unclaimed + " GROUP BY session_id"):
        later = f"SELECT 1 FROM prompts WHERE session_id = {session} AND number > {number}"
        assert rows(database, later) == []
    ordinals = rows(
        database,
        "SELECT count(*), count(DISTINCT ordinal), max(ordinal) + 1 FROM observations GROUP BY job_id",
    )
    assert all(len(set(row)) == 1 for row in ordinals)
    assert rows(database, "SELECT * FROM observations WHERE job_id IS NULL") == []


def assert_every_file_is_remembered_once(database: Path) -> None:
    """Each tool wrote a file of its own, so a doubled effect would name one twice."""
    told = Counter(
        path
        for (path,) in rows(database, "SELECT path FROM observation_files WHERE role = 'modified'")
    )
    claimed = rows(database, "SELECT body FROM events WHERE tool = 'Write' AND job_id IS NOT NULL")
    written = [
        json.loads(zlib.decompress(body))["tool_use_id"] + ".py"
        for (body,) in claimed
        if isinstance(body, bytes)
    ]
    assert told == Counter(written)
