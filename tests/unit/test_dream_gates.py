"""When a dream may begin: four gates and a threshold, each alone enough to say no; and the lock."""

import signal
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from aforesaid.clock import DAY, HOUR, MINUTE
from aforesaid.errors import MemoryRefused
from aforesaid.memory.dream.run import (
    DREAM_LOCK_FILE,
    MIN_MEMORIES,
    MIN_SESSIONS,
    closed_gate,
    last_dream_at,
    lock_dreams,
    record_dream,
)
from aforesaid.memory.folders import Places, find_places
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
    ("a minute short of a day", {"last": NOW - DAY + MINUTE}, "a day must pass between dreams"),
    ("checked just now", {"checked": NOW}, "it was checked"),
    ("checked 9 minutes ago", {"checked": NOW - 9 * MINUTE}, "9 min ago"),
    ("four sessions", {"sessions": 4}, "4 sessions since the last dream, and 5 are needed"),
    ("one session", {"sessions": 1}, "1 session since"),
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
    ("a look by a clock that was ahead", {"checked": NOW + DAY}),
]
# fmt: on


@loop_over(("name", "state", "why"), CLOSED)
def test_each_gate_alone_prevents_a_dream(name: str, state: dict[str, Any], why: str) -> None:
    assert why in (closed_gate(NOW, **(OPEN | state)) or "")


@loop_over(("name", "state"), OPENED)
def test_at_its_limit_each_gate_is_open(name: str, state: dict[str, Any]) -> None:
    assert closed_gate(NOW, **(OPEN | state)) is None


@pytest.fixture
def places(home: Paths, tmp_path: Path) -> Places:
    home.memory.mkdir()
    return find_places(home, str(tmp_path / "shop"), load(home.config_file, {}))


def test_each_project_has_a_last_dream_of_its_own(
    home: Paths, tmp_path: Path, places: Places
) -> None:
    office = find_places(home, str(tmp_path / "office"), load(home.config_file, {}))
    late = NOW + 2 * DAY
    assert (last_dream_at(places, late), last_dream_at(office, late)) == (None, None)
    record_dream(places, NOW)
    assert (last_dream_at(places, late), last_dream_at(office, late)) == (NOW, None)
    record_dream(office, NOW + DAY)
    record_dream(places, NOW + MINUTE)
    found = last_dream_at(places, late), last_dream_at(office, late)
    assert found == (NOW + MINUTE, NOW + DAY)


def test_a_dream_that_is_still_to_come_was_none(places: Places) -> None:
    record_dream(places, NOW + 365 * DAY)
    assert last_dream_at(places, NOW) is None


def is_free(folder: Path) -> bool:
    try:
        with lock_dreams(folder):
            return True
    except MemoryRefused:
        return False


def test_who_has_the_lock_keeps_others_out_and_lets_them_in_again(tmp_path: Path) -> None:
    with lock_dreams(tmp_path):
        assert not is_free(tmp_path)
    assert is_free(tmp_path)
    assert (tmp_path / DREAM_LOCK_FILE).stat().st_mode & 0o777 == 0o600


DREAMER = """
import sys, time
from pathlib import Path
from aforesaid.memory.dream.run import lock_dreams
with lock_dreams(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_holder_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DREAMER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert not is_free(tmp_path)
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert is_free(tmp_path)


def test_of_many_that_come_at_once_one_gets_it(tmp_path: Path) -> None:
    start, done = Barrier(8), Barrier(8)
    got: list[bool] = []

    def come() -> None:
        start.wait()
        try:
            with lock_dreams(tmp_path):
                got.append(True)
                done.wait()
        except MemoryRefused:
            done.wait()

    threads = [Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True]
