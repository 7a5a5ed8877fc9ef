"""When a dream may begin: four gates and a threshold, each alone enough to say no; and the lock."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from recollect.clock import DAY, HOUR, MINUTE
from recollect.memory.dream import dream_lock, dream_times
from recollect.memory.dream.dream_lock import Held, acquire
from recollect.memory.dream.gates import (
    LEAST,
    SESSIONS,
    Holder,
    State,
    counted_from,
    holds,
    why_not,
)
from recollect.memory.storage.folders import places
from recollect.paths import Paths
from recollect.settings import load

NOW = 1_780_000_000_000
OPEN = State(last=NOW - 3 * DAY, looked=NOW - HOUR, sessions=SESSIONS, memories=LEAST, holder=None)


def test_with_all_gates_open_there_is_a_dream() -> None:
    assert why_not(NOW, OPEN) is None


def test_the_first_dream_needs_no_earlier_one() -> None:
    assert why_not(NOW, State(sessions=5, memories=10)) is None


# fmt: off
CLOSED = [
    ("an hour ago", {"last": NOW - HOUR}, "the last dream was 1 h ago"),
    ("a minute short of a day", {"last": NOW - DAY + MINUTE}, "a day is between two"),
    ("looked at just now", {"looked": NOW}, "it was looked at"),
    ("looked at 9 minutes ago", {"looked": NOW - 9 * MINUTE}, "9 min ago"),
    ("four sessions", {"sessions": 4}, "4 sessions since the last dream, and 5 are needed"),
    ("one session", {"sessions": 1}, "1 session since"),
    ("held", {"holder": Holder(NOW - MINUTE, alive=True)}, "another dream began 1 min ago"),
    ("held, 59 minutes", {"holder": Holder(NOW - 59 * MINUTE, alive=True)}, "another dream began"),
    ("nine memories", {"memories": 9}, "9 memories, and 10 are needed"),
    ("no memories", {"memories": 0}, "0 memories"),
]
OPENED = [
    ("a day ago", {"last": NOW - DAY}),
    ("looked at ten minutes ago", {"looked": NOW - 10 * MINUTE}),
    ("five sessions", {"sessions": 5}),
    ("held for an hour", {"holder": Holder(NOW - HOUR, alive=True)}),
    ("its holder crashed a moment ago", {"holder": Holder(NOW - 1, alive=False)}),
    ("ten memories", {"memories": 10}),
    ("not counted yet", {"memories": None, "sessions": None}),
    ("a clock that was a year ahead", {"last": NOW + 365 * DAY}),
    ("a look by a clock that was ahead", {"looked": NOW + DAY}),
    ("a lock by a clock that was ahead", {"holder": Holder(NOW + DAY, alive=True)}),
]
# fmt: on


@pytest.mark.parametrize(("name", "state", "why"), CLOSED, ids=[name for name, _, _ in CLOSED])
def test_each_gate_alone_prevents_a_dream(name: str, state: dict[str, int], why: str) -> None:
    assert why in (why_not(NOW, replace(OPEN, **state)) or "")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "state"), OPENED, ids=[name for name, _ in OPENED])
def test_at_its_limit_each_gate_is_open(name: str, state: dict[str, int]) -> None:
    assert why_not(NOW, replace(OPEN, **state)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "since"), [(None, 0), (NOW - DAY, NOW - DAY), (NOW, NOW), (NOW + 365 * DAY, 0)]
)
def test_sessions_are_counted_from_the_last_dream_unless_it_is_still_to_come(
    last: int | None, since: int
) -> None:
    assert counted_from(NOW, last) == since


def test_each_project_has_a_last_dream_of_its_own(home: Paths, tmp_path: Path) -> None:
    shop, office = (
        places(home, str(tmp_path / name), load(home.config_file, {}))
        for name in ("shop", "office")
    )
    home.memory.mkdir()
    assert (dream_times.last(shop), dream_times.last(office)) == (None, None)
    dream_times.note(shop, NOW)
    assert (dream_times.last(shop), dream_times.last(office)) == (NOW, None)
    dream_times.note(office, NOW + DAY)
    dream_times.note(shop, NOW + MINUTE)
    assert (dream_times.last(shop), dream_times.last(office)) == (NOW + MINUTE, NOW + DAY)
    left = home.memory / dream_times.FOLDER / f".{shop.project.path.name}.new"
    left.touch()  # of one that was killed before its time was set
    assert dream_times.last(shop) == NOW + MINUTE
    dream_times.note(shop, NOW + HOUR)
    assert (dream_times.last(shop), left.exists()) == (NOW + HOUR, False)
    assert dream_lock.last(home.memory / dream_lock.NAME) is None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / dream_lock.NAME


def taken(path: Path, now: int) -> Held:
    held = acquire(path, now)
    assert held is not None
    return held


def test_who_has_the_lock_keeps_others_out_and_lets_them_in_again(path: Path) -> None:
    with taken(path, NOW) as held:
        assert held.is_mine()
        assert acquire(path, NOW) is None
        assert dream_lock.holder(path) == Holder(NOW, alive=True)
        assert why_not(NOW + 1, replace(OPEN, holder=dream_lock.holder(path)))
    assert dream_lock.holder(path) == Holder(NOW, alive=False)
    taken(path, NOW).release()


def test_before_the_first_dream_there_is_no_last_one_and_one_that_fails_changes_nothing(
    path: Path,
) -> None:
    assert dream_lock.last(path) is None
    assert dream_lock.holder(path) is None
    with taken(path, NOW):
        assert dream_lock.last(path) is None
    assert dream_lock.last(path) is None


def test_the_files_time_is_that_of_the_last_completed_dream(path: Path) -> None:
    with taken(path, NOW) as held:
        held.done(NOW + MINUTE)
    assert dream_lock.last(path) == NOW + MINUTE
    assert path.stat().st_mtime_ns == (NOW + MINUTE) * 1_000_000

    with taken(path, NOW + DAY):
        assert dream_lock.last(path) == NOW + MINUTE  # also while one is dreaming
    assert dream_lock.last(path) == NOW + MINUTE
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_somebody_touched_counts_as_a_dream_and_is_free(path: Path) -> None:
    path.touch()
    os.utime(path, (NOW / 1000, NOW / 1000))
    assert dream_lock.last(path) == NOW
    assert dream_lock.holder(path) is None
    taken(path, NOW).release()
    assert dream_lock.last(path) == NOW


def test_after_an_hour_another_one_takes_over_and_the_first_finds_out(path: Path) -> None:
    with taken(path, NOW) as held:
        held.done(NOW)
    hung = taken(path, NOW)
    assert acquire(path, NOW + HOUR - 1) is None
    with taken(path, NOW + HOUR) as second:
        assert second.is_mine()
        assert not hung.is_mine()
        hung.done(NOW + 2 * HOUR)  # too late: the file is no longer its own
        assert dream_lock.last(path) == NOW
        second.done(NOW + HOUR)
    hung.release()
    assert dream_lock.last(path) == NOW + HOUR


DREAMER = """
import sys, time
from pathlib import Path
from recollect.memory.dream.dream_lock import acquire
held = acquire(Path(sys.argv[1]), int(sys.argv[2]))
print("held" if held else "no", flush=True)
time.sleep(60)
"""


def test_a_holder_that_was_killed_holds_nothing(path: Path) -> None:
    with taken(path, NOW) as held:
        held.done(NOW)
    with subprocess.Popen(
        [sys.executable, "-c", DREAMER, path, str(NOW + DAY)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert acquire(path, NOW + DAY) is None
        assert holds(NOW + DAY, dream_lock.holder(path) or Holder(0, alive=False))
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert dream_lock.holder(path) == Holder(NOW + DAY, alive=False)
    assert dream_lock.last(path) == NOW  # the killed one was no dream
    taken(path, NOW + DAY).release()


def test_of_many_that_come_at_once_one_gets_it(path: Path) -> None:
    start = Barrier(8)
    got: list[Held | None] = []

    def come() -> None:
        start.wait()
        got.append(acquire(path, NOW))

    threads = [Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (held,) = [each for each in got if each]
    assert held.is_mine()
    held.release()


def test_what_a_killed_one_left_half_made_is_swept_away(path: Path) -> None:
    left = path.with_name(".dream.0123.new")
    left.touch()
    taken(path, NOW).release()
    assert not left.exists()
