"""Hooks that never arrived: the real worker reads the transcript and ends where it would have been."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock
from aforesaid.clock import HOUR
from aforesaid.errors import WorkerError, WorkerHung
from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support import scripted_notes
from tests.support.product import aforesaid, close_stores, fire, settled, until
from tests.support.scripted_notes import Notes
from tests.support.transcripts import Written, read
from tests.support.writers import start_no_worker

SESSION = "0b7c5a52-8f0e-4a3e-9d0f-5a1c3e7d9b11"
TURNS = 50
Rows = list[tuple[object, ...]]
STATE = {
    "sessions": "SELECT ref, status, prompts, started_at, last_event_at, ended_at FROM sessions",
    "events": (
        "SELECT iif(key LIKE 'capture:%', kind, key), kind, tool, prompt_number FROM events"
        " ORDER BY at, id"
    ),
    "prompts": "SELECT number, prompt_id, text FROM prompts ORDER BY number",
    "jobs": "SELECT DISTINCT kind, prompt_number, state FROM jobs ORDER BY 1, 2",
    "observations": "SELECT prompt_number, type, title FROM observations ORDER BY 1, 2, 3",
    "summaries": "SELECT prompt_number, request, completed FROM summaries ORDER BY 1",
}


@dataclass(frozen=True, slots=True)
class Project:
    """A session of an hour ago: its directory, its transcript, and the hooks that it fired."""

    folder: Path
    transcript: Path
    payloads: list[tuple[int, dict[str, Any]]]

    def fire(self, paths: Paths) -> list[Path]:
        """Every hook through the line that `install` writes, dated as it was. What the transcript tells
        of, too: a session's start and end are told by hooks alone."""
        start_no_worker(paths.state)
        begin, end = self.payloads[0][0] - 1_000, self.payloads[-1][0] + 1_000
        told = [self._fire(paths, at, payload) for at, payload in self.payloads]
        common = {"session_id": SESSION, "transcript_path": str(self.transcript)}
        start = common | {"hook_event_name": "SessionStart", "source": "startup"}
        self._fire(paths, begin, start)
        self._fire(paths, end, common | {"hook_event_name": "SessionEnd", "reason": "other"})
        return told

    def _fire(self, paths: Paths, at: int, payload: dict[str, Any]) -> Path:
        before = set(paths.spool_new.iterdir())
        env = {"AFORESAID_HOME": str(paths.state)}
        fire(payload["hook_event_name"], payload, project=self.folder, env=env)
        (new,) = set(paths.spool_new.iterdir()) - before
        os.utime(new, ns=(at * 1_000_000, at * 1_000_000))
        return new


def write_transcript(user: Path, folder: Path, written: Written) -> Path:
    """As if it had been told an hour ago, a second for each line."""
    begin = clock.now() - HOUR - 1_000 * len(written.lines)
    for number, line in enumerate(written.lines):
        at = datetime.fromtimestamp(begin / 1_000 + number, UTC)
        line |= {"timestamp": at.isoformat(timespec="milliseconds"), "cwd": str(folder)}
    path = written.write(user / ".claude" / "projects" / "p")
    os.utime(path, (clock.now() / 1_000 - 60,) * 2)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four turns; the second ends with Esc."""
    folder = tmp_path / "shop"
    folder.mkdir()
    written = Written(SESSION)
    for turn in range(4):
        written.prompt(f"Please add number {turn} to the shop")
        for use in range(3):
            name, file = f"toolu_{turn}_{use}", str(folder / f"part{turn}_{use}.py")
            content = f"def part_{turn}_{use}():\n    return {use}\n"
            written.call(name, "Write", file_path=file, content=content)
            done = {"type": "create", "filePath": file, "content": content}
            done |= {"structuredPatch": [], "originalFile": None}  # type: ignore[dict-item]
            written.result(name, "File created", done)
        if turn != 1:
            written.says(f"Part {turn} is in the shop now.")
            written.add("system", subtype="turn_duration")
    path = write_transcript(tmp_path / "user", folder, written)
    told = [(t.capture.at, json.loads(t.capture.body)) for t in read(path)]
    assert len(told) == 4 + 12 + 3
    return Project(folder, path, told)


def state(paths: Paths) -> dict[str, Rows]:
    with closing(sqlite3.connect(paths.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return {name: connection.execute(query).fetchall() for name, query in STATE.items()}


def start_worker(paths: Paths) -> None:
    """However long that takes; the machine is shared."""
    for _ in range(10):
        with suppress(WorkerHung):
            rpc.start(paths)
            return


def is_idle(paths: Paths) -> bool:
    with suppress(WorkerError):
        return bool(rpc.status(paths)["idle"])
    return False


def run_worker(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> int:
    """Until it has nothing left to do. How many events it healed."""
    monkeypatch.setenv("AFORESAID_HOME", str(paths.state))
    start_worker(paths)
    until(lambda: is_idle(paths), seconds=240)
    healed = settled(paths).health().from_transcripts
    close_stores()
    assert rpc.stop(paths)
    return healed


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_third_of_the_spool_is_lost_and_nothing_is_missing(
    seed: int, project: Project, home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "whole"
    whole = Paths(config=other, data=other, state=other)
    whole.make()
    project.fire(whole)
    assert run_worker(whole, monkeypatch) == 0

    captures = project.fire(home)
    lost = random.Random(seed).sample(captures, len(captures) // 3)
    for capture in lost:
        capture.unlink()
    assert run_worker(home, monkeypatch) == len(lost)
    assert state(home) == state(whole)
    assert run_worker(home, monkeypatch) == len(lost)
    assert state(home) == state(whole)


def test_a_capture_that_was_cut_off_is_put_aside_and_healed(
    project: Project, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T2: its sender died in the middle. Nothing of the half is taken for an event."""
    captures = project.fire(home)
    whole = captures[5].stat()
    captures[5].write_bytes(captures[5].read_bytes()[:-30])
    os.utime(captures[5], ns=(whole.st_atime_ns, whole.st_mtime_ns))
    assert run_worker(home, monkeypatch) == 1
    assert [file.name for file in home.spool_bad.iterdir()] == [captures[5].name]
    assert len(state(home)["events"]) == len(captures) + 2  # and the session's start and end
    with closing(sqlite3.connect(home.database)) as connection:
        ((name, why),) = connection.execute("SELECT name, why FROM quarantine")
    assert name == captures[5].name
    assert "JSON" in why


def test_what_hook_transcript_and_import_all_report_is_stored_once(
    project: Project, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T21: in every order, and the hooks twice."""
    captures = {capture: capture.read_bytes() for capture in project.fire(home)}
    assert run_worker(home, monkeypatch) == 0
    before = state(home)
    assert aforesaid("import", "claude-code").returncode == 0
    assert rpc.stop(home)
    for capture, body in captures.items():
        capture.write_bytes(body)
    assert run_worker(home, monkeypatch) == 0
    assert state(home) == before
    assert len(before["events"]) == len(captures) + 2


def test_a_hook_that_comes_after_healing_is_dropped(
    project: Project, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T21: the transcript first, then the hook."""
    captures = project.fire(home)
    held = {capture: capture.read_bytes() for capture in captures[::2]}
    for capture in held:
        capture.unlink()
    assert run_worker(home, monkeypatch) == len(held)
    before = state(home)
    for capture, body in held.items():
        capture.write_bytes(body)
    assert run_worker(home, monkeypatch) == len(held)
    assert state(home) == before
    assert list(home.spool_bad.iterdir()) == []


def test_a_turn_that_ends_while_the_worker_runs_is_healed_at_once(
    project: Project, home: Paths
) -> None:
    """No other hook of it has arrived but its Stop."""
    start_worker(home)
    _, stop = project.payloads[-1]
    fire("Stop", stop, project=project.folder)
    until(lambda: "heal.stored" in home.log_file.read_text())
    health = settled(home).health()
    assert (health.events, health.from_transcripts) == (
        len(project.payloads),
        len(project.payloads) - 1,
    )


def test_a_model_is_asked_about_a_turn_when_its_transcript_was_read(
    project: Project, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be asked about the Stop alone, and again about what no hook has told."""
    with Notes() as model:
        scripted_notes.use(monkeypatch, model.url)
        start_worker(home)
        until(lambda: is_idle(home))
        _, stop = project.payloads[-1]
        fire("Stop", stop, project=project.folder)
        until(lambda: "heal.stored" in home.log_file.read_text())
        until(lambda: is_idle(home))
        assert settled(home).health().from_transcripts == len(project.payloads) - 1
        asked = [str(body["messages"][-1]["content"])[-400:] for body in model.bodies]
        assert len(asked) == 2 * 4, asked


def test_a_worker_that_is_killed_while_it_heals_heals_all_in_the_end(
    home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    written = Written(SESSION)
    for turn in range(TURNS):
        written.prompt(f"Please add number {turn} to the shop")
        for use in range(20):
            written.call(f"toolu_{turn}_{use}", command=f"echo {turn} {use}")
            written.result(f"toolu_{turn}_{use}", "ok", {"stdout": "ok", "stderr": ""})
        written.says(f"Part {turn} is in the shop now.")
        written.add("system", subtype="turn_duration")
    path = write_transcript(tmp_path / "user", folder, written)
    told = [t.event.key for t in read(path)]
    assert len(told) == TURNS * 22
    start_no_worker(home.state)
    first = {"session_id": SESSION, "transcript_path": str(path), "source": "startup"}
    fire("SessionStart", first, project=folder)

    chance = random.Random(7)
    found = []
    for _ in range(5):
        worker = subprocess.Popen([sys.executable, "-I", "-m", "aforesaid.worker.main"])
        until(home.database.exists)
        until(lambda: rpc.running_pid(home))
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(chance.uniform(0, 0.5))
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
        found.append(len(state(home)["events"]))
    sys.stdout.write(f"stored at each kill: {found}\n")
    run_worker(home, monkeypatch)
    with closing(sqlite3.connect(home.database)) as connection:
        keys = connection.execute(
            "SELECT key FROM events WHERE kind <> 'session_start' ORDER BY at, id"
        ).fetchall()
    assert [key for (key,) in keys] == told
    assert len(state(home)["summaries"]) == TURNS
