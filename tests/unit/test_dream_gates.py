"""When a dream may begin: four gates and a threshold, each alone enough to say no; and the lock."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from aforesaid.clock import DAY, HOUR, MINUTE
from aforesaid.memory.dream.run import (
    DREAM_LOCK_FILE,
    MIN_MEMORIES,
    MIN_SESSIONS,
    DreamLock,
    acquire_dream_lock,
    closed_gate,
    is_dreaming,
    last_dream_at,
    last_project_dream_at,
    record_project_dream,
    sessions_counted_since,
)
from aforesaid.memory.folders import find_places
from aforesaid.paths import Paths
from aforesaid.settings import load
from tests.support.tables import loop_over

NOW = 1_780_000_000_000
OPEN: dict[str, Any] = {
    "last": NOW - 3 * DAY,
    "checked": NOW - HOUR,
    "sessions": MIN_SESSIONS,
    "memories": MIN_MEMORIES,
}


# fmt: off
CLOSED = [
    ("an hour ago", {"last": NOW - HOUR}, "the last dream was 1 h ago"),
    ("a minute short of a day", {"last": NOW - DAY + MINUTE}, "a day is between two"),
    ("checked just now", {"checked": NOW}, "it was checked"),
    ("checked 9 minutes ago", {"checked": NOW - 9 * MINUTE}, "9 min ago"),
    ("four sessions", {"sessions": 4}, "4 sessions since the last dream, and 5 are needed"),
    ("one session", {"sessions": 1}, "1 session since"),
    ("held", {"dreaming": True}, "another dream is under way"),
    ("nine memories", {"memories": 9}, "9 memories, and 10 are needed"),
    ("no memories", {"memories": 0}, "0 memories"),
]
OPENED = [
    ("all open", {}),
    ("no earlier dream", {"last": None, "checked": None}),
    ("a day ago", {"last": NOW - DAY}),
    ("checked ten minutes ago", {"checked": NOW - 10 * MINUTE}),
    ("five sessions", {"sessions": 5}),
    ("ten memories", {"memories": 10}),
    ("not counted yet", {"memories": None, "sessions": None}),
    ("a clock that was a year ahead", {"last": NOW + 365 * DAY}),
    ("a look by a clock that was ahead", {"checked": NOW + DAY}),
]
# fmt: on


@loop_over(("name", "state", "why"), CLOSED)
def test_each_gate_alone_prevents_a_dream(name: str, state: dict[str, Any], why: str) -> None:
    assert why in (closed_gate(NOW, **(OPEN | state)) or "")


@loop_over(("name", "state"), OPENED)
def test_at_its_limit_each_gate_is_open(name: str, state: dict[str, Any]) -> None:
    assert closed_gate(NOW, **(OPEN | state)) is None


@pytest.mark.parametrize(
    ("last", "since"), [(None, 0), (NOW - DAY, NOW - DAY), (NOW, NOW), (NOW + 365 * DAY, 0)]
)
def test_sessions_are_counted_from_the_last_dream_unless_it_is_still_to_come(
    last: int | None, since: int
) -> None:
    assert sessions_counted_since(NOW, last) == since


def test_each_project_has_a_last_dream_of_its_own(home: Paths, tmp_path: Path) -> None:
    shop, office = (
        find_places(home, str(tmp_path / name), load(home.config_file, {}))
        for name in ("shop", "office")
    )
    home.memory.mkdir()
    assert (last_project_dream_at(shop), last_project_dream_at(office)) == (None, None)
    record_project_dream(shop, NOW)
    assert (last_project_dream_at(shop), last_project_dream_at(office)) == (NOW, None)
    record_project_dream(office, NOW + DAY)
    record_project_dream(shop, NOW + MINUTE)
    assert (last_project_dream_at(shop), last_project_dream_at(office)) == (NOW + MINUTE, NOW + DAY)
    assert last_dream_at(home.memory / DREAM_LOCK_FILE) is None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / DREAM_LOCK_FILE


def taken(path: Path) -> DreamLock:
    held = acquire_dream_lock(path)
    assert held is not None
    return held


def test_who_has_the_lock_keeps_others_out_and_lets_them_in_again(path: Path) -> None:
    with taken(path):
        assert acquire_dream_lock(path) is None
        assert is_dreaming(path)
        assert closed_gate(NOW + 1, dreaming=is_dreaming(path))
    assert not is_dreaming(path)
    with taken(path):
        pass


def test_before_the_first_dream_there_is_no_last_one_and_one_that_fails_changes_nothing(
    path: Path,
) -> None:
    assert last_dream_at(path) is None
    assert not is_dreaming(path)
    with taken(path):
        assert last_dream_at(path) is None
    assert last_dream_at(path) is None


def test_the_files_time_is_that_of_the_last_completed_dream(path: Path) -> None:
    with taken(path) as held:
        held.done(NOW + MINUTE)
    assert last_dream_at(path) == NOW + MINUTE
    assert path.stat().st_mtime_ns == (NOW + MINUTE) * 1_000_000

    with taken(path):
        assert last_dream_at(path) == NOW + MINUTE  # also while one is dreaming
    assert last_dream_at(path) == NOW + MINUTE
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_somebody_touched_counts_as_a_dream_and_is_free(path: Path) -> None:
    path.touch()
    os.utime(path, (NOW / 1000, NOW / 1000))
    assert last_dream_at(path) == NOW
    assert not is_dreaming(path)
    with taken(path):
        pass
    assert last_dream_at(path) == NOW


DREAMER = """
import sys, time
from pathlib import Path
from aforesaid.memory.dream.run import acquire_dream_lock
held = acquire_dream_lock(Path(sys.argv[1]))
print("held" if held else "no", flush=True)
time.sleep(60)
"""


def test_a_holder_that_was_killed_holds_nothing(path: Path) -> None:
    with taken(path) as held:
        held.done(NOW)
    with subprocess.Popen([sys.executable, "-c", DREAMER, path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert acquire_dream_lock(path) is None
        assert is_dreaming(path)
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert not is_dreaming(path)
    assert last_dream_at(path) == NOW  # the killed one was no dream
    with taken(path):
        pass


def test_of_many_that_come_at_once_one_gets_it(path: Path) -> None:
    start = Barrier(8)
    got: list[DreamLock | None] = []

    def come() -> None:
        start.wait()
        got.append(acquire_dream_lock(path))

    threads = [Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (held,) = [each for each in got if each]
    with held:
        assert is_dreaming(path)
