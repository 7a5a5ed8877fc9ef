"""The worker as a process: started on demand, alone, replaceable, and gone when idle."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid import clock, wiring
from aforesaid.errors import StoreMissing, WorkerError
from aforesaid.paths import Paths
from aforesaid.settings import Settings
from aforesaid.store.store import Store
from aforesaid.worker import context as context_module
from aforesaid.worker import rpc
from aforesaid.worker import service as service_module
from aforesaid.worker.context import Context
from aforesaid.worker.jobs import JobRunner
from aforesaid.worker.service import Service
from tests.support import payloads
from tests.support.product import close_stores, fire, settled, until, work

BACKLOG = int(os.environ.get("AFORESAID_BACKLOG", "2000"))
TOOL = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "ls"}}


def capture(project: Path, number: int = 0) -> None:
    done = fire("PostToolUse", TOOL | {"tool_use_id": f"t{number}"}, project=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def running(paths: Paths) -> int:
    return int(until(lambda: rpc.running_pid(paths)))


def test_a_capture_starts_the_worker_in_a_session_of_its_own(home: Paths, tmp_path: Path) -> None:
    capture(tmp_path)
    pid = running(home)
    assert os.getsid(pid) == pid
    assert settled(home).health().events == 1


def test_many_captures_at_once_start_one_worker(home: Paths, tmp_path: Path) -> None:
    """T22: twelve want to start it."""
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda number: capture(tmp_path, number), range(12)))
    running(home)
    assert settled(home).health().events == 12
    assert home.log_file.read_text().count("worker.started") == 1


def test_a_session_start_hook_starts_the_worker_too(home: Paths, tmp_path: Path) -> None:
    fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
    assert settled(home).health().sessions == 1


def test_of_two_workers_one_stays(home: Paths) -> None:
    """T22: the lock decides."""
    first = rpc.start(home)
    second = rpc.start(home)
    assert first["pid"] == second["pid"]


def test_a_dead_workers_number_is_no_worker(home: Paths, tmp_path: Path) -> None:
    """T22: a stale number."""
    home.make()
    gone = subprocess.Popen(["true"])
    gone.wait()
    home.pid_file.write_text(f"{gone.pid}\n")
    capture(tmp_path)
    assert settled(home).health().events == 1


def test_a_stranger_who_has_the_workers_number_is_left_alone(home: Paths, tmp_path: Path) -> None:
    """T22: a number that another program has by now."""
    home.make()
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        home.pid_file.write_text(f"{stranger.pid}\n")
        assert rpc.stop(home) is False
        assert stranger.poll() is None
        # The shell believes the number; the session start asks the socket and knows better.
        fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
        assert running(home) != stranger.pid
    finally:
        stranger.kill()
        stranger.wait()


def test_a_killed_worker_is_followed_by_another_and_nothing_is_lost(
    home: Paths, tmp_path: Path
) -> None:
    capture(tmp_path, 1)
    first = running(home)
    os.kill(first, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{first}").exists())  # the hook asks the kernel for the process
    capture(tmp_path, 2)
    assert running(home) != first
    assert settled(home).health().events == 2


def test_a_worker_told_to_terminate_ends_cleanly(home: Paths) -> None:
    pid = int(rpc.start(home)["pid"])
    os.kill(pid, signal.SIGTERM)
    until(lambda: rpc.running_pid(home) is None)
    until(lambda: "worker.ended" in home.log_file.read_text())
    assert not home.pid_file.exists()


def test_an_older_worker_is_replaced(home: Paths, tmp_path: Path) -> None:
    """T12: an upgrade in the middle of a session."""
    home.make()
    old = subprocess.Popen([sys.executable, "-c", OLD_WORKER, str(home.run)])
    try:
        until(home.socket.exists)
        fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
        assert old.wait(timeout=30) == 0
        until(lambda: rpc.running_pid(home) not in (None, old.pid))
        assert settled(home).health().sessions == 1
    finally:
        old.kill()
        old.wait()


OLD_WORKER = textwrap.dedent(
    """
    import fcntl, os, socket, sys
    os.chdir(sys.argv[1])
    lock = open("worker.lock", "w"); fcntl.flock(lock, fcntl.LOCK_EX)
    open("worker.pid", "w").write(f"{os.getpid()}")
    ear = socket.socket(socket.AF_UNIX); ear.bind("worker.sock"); ear.listen()
    while True:
        link, _ = ear.accept()
        asked = b"".join(iter(lambda: link.recv(65536), b""))
        link.sendall(b"0.0.1\\n"); link.close()
        if asked.startswith(b"stop"):
            os.unlink("worker.sock"); sys.exit(0)
    """
)


def test_a_hung_worker_is_killed_by_stop(home: Paths) -> None:
    pid = int(rpc.start(home)["pid"])
    os.kill(pid, signal.SIGSTOP)
    assert rpc.stop(home) is True
    until(lambda: rpc.running_pid(home) is None)


def test_an_idle_worker_ends_by_itself(home: Paths) -> None:
    home.make()
    settings = wiring.home().settings
    impatient = Settings(dict(settings.values) | {"worker.idle_minutes": 0}, settings.origins)
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.Home(home, impatient), store, clock.now))
    service.run()
    store.close()


def test_a_worker_that_cannot_start_says_why_at_the_next_session(
    home: Paths, tmp_path: Path
) -> None:
    home.make()
    Store(home.database, writer=True).close()
    with closing(sqlite3.connect(home.database)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    with pytest.raises(WorkerError, match="newer aforesaid"):
        rpc.start(home)
    # Captures do not try again and again; they keep the events.
    capture(tmp_path)
    assert rpc.running_pid(home) is None
    assert len(list(home.spool_new.iterdir())) == 1
    done = fire("SessionStart", {"session_id": "s", "source": "startup"}, project=tmp_path)
    assert "newer aforesaid" in json.loads(done.stdout)["systemMessage"]


def test_without_an_answer_the_prepared_brief_is_used(home: Paths, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    work(project, "s1")
    settled(home)
    pid = running(home)
    live = fire("SessionStart", {"session_id": "s2", "source": "startup"}, project=project)
    os.kill(pid, signal.SIGSTOP)
    try:
        prepared = fire("SessionStart", {"session_id": "s3", "source": "startup"}, project=project)
        resumed = fire("SessionStart", {"session_id": "s3", "source": "resume"}, project=project)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "hello.py" in live.stdout.decode()
    assert json.loads(prepared.stdout) == json.loads(live.stdout)
    assert resumed.stdout == b""
    settled(home)


def test_an_answer_is_given_once_when_two_installations_ask(home: Paths, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    work(project, "s1")
    settled(home)
    start = {"session_id": "s2", "source": "startup"}
    answers = [fire("SessionStart", start, project=project).stdout for _ in range(2)]
    assert [bool(answer) for answer in answers] == [True, False]
    assert settled(home).health().sessions == 2


def test_a_client_that_never_finishes_its_question_holds_up_nobody(home: Paths) -> None:
    rpc.start(home)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mute:
        os.chdir(home.run)
        mute.connect("worker.sock")
        assert rpc.status(home)["pid"] == rpc.running_pid(home)


def test_a_broken_installation_is_told_at_the_next_session(home: Paths, tmp_path: Path) -> None:
    broken = "import sys; sys.modules['aforesaid.wiring'] = None\n"
    broken += "from aforesaid.worker.main import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", broken], check=False, start_new_session=True)
    assert done.returncode == 1
    assert "not recording: ModuleNotFoundError" in json.loads(home.health_note.read_bytes())
    capture(tmp_path)
    assert rpc.running_pid(home) is None


def test_a_thread_that_fails_says_so_and_goes_on(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "FAULT_SECONDS", (0.01, 0.05))
    run_due, mended = JobRunner.run_due, threading.Event()

    def fail_until_mended(runner: JobRunner, go_on: Callable[[], bool]) -> int:
        if not mended.is_set():
            raise RuntimeError("a bug that nobody thought of")
        return run_due(runner, go_on)

    monkeypatch.setattr(JobRunner, "run_due", fail_until_mended)
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.home(), store, clock.now))
    running = threading.Thread(target=service.run)
    running.start()
    try:
        until(lambda: service.status()["fault"] == "RuntimeError: a bug that nobody thought of")
        mended.set()
        until(lambda: service.status()["fault"] is None)
    finally:
        service.stop()
        running.join()
        store.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_whose_jobs_thread_has_died_is_not_well(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T24: the socket answers, and the answer says that something is wrong."""
    store = wiring.open_for_writing(home)
    monkeypatch.setattr(JobRunner, "run_due", lambda *_: sys.exit())
    service = Service(Context(wiring.home(), store, clock.now))
    running = threading.Thread(target=service.run)
    running.start()
    try:
        until(lambda: "its work on jobs has ended" in str(service.status()["fault"]))
        assert "aforesaid worker restart" in str(service.status()["problem"])
    finally:
        service.stop()
        running.join()
        store.close()


def test_a_clock_that_is_set_back_starves_no_work(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T10: what was put off for a minute is not put off for an hour and a minute; leases neither."""
    monkeypatch.setattr(service_module, "SAFETY_SECONDS", 0.05)
    shift = [0]
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.home(), store, lambda: clock.now() + shift[0]))
    header = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
    for name, body in (
        ("a", payloads.write("s1", "t1", "p1", "a.py")),
        ("b", payloads.stop("s1", "p1")),
    ):
        (home.spool_new / name).write_bytes(header + body)
        os.utime(home.spool_new / name, (1_800_000_000 + ord(name), 1_800_000_000 + ord(name)))
    service._ingest.drain()
    job = store.jobs.claim("gone", clock.now() + clock.DAY, clock.now() + clock.DAY + clock.MINUTE)
    assert job is not None
    store.jobs.retry(job, "an outage", clock.now() + clock.DAY)
    running = threading.Thread(target=service.run)
    shift[0] = clock.DAY - clock.HOUR  # due in an hour, by a clock that is fast by a day
    running.start()
    try:
        until(service.transcripts.idle)
        shift[0] = 0
        until(lambda: store.health().pending == 0)
    finally:
        service.stop()
        running.join()
        store.close()


def test_a_backlog_of_days_is_drained_in_order_and_hooks_go_on(home: Paths, tmp_path: Path) -> None:
    """T11: nobody worked for days; nothing of it is dropped. `AFORESAID_BACKLOG` makes it 100,000."""
    header = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
    began = 1_780_000_000
    for number in range(BACKLOG):
        file = home.spool_new / f"{BACKLOG - number:06}"  # the names tell nothing
        file.write_bytes(header + payloads.tool("s1", f"t{number}"))
        os.utime(file, (began + number, began + number))
    fire("PostToolUse", TOOL | {"session_id": "s2", "tool_use_id": "late"}, project=tmp_path)
    until(lambda: not list(home.spool_new.iterdir()), seconds=60 + BACKLOG / 100)
    with closing(sqlite3.connect(home.database)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM events ORDER BY id")]
    assert keys == [*(f"tool:t{number}" for number in range(BACKLOG)), "tool:late"]
    assert list(home.spool_bad.iterdir()) == []


def test_a_worker_whose_home_was_deleted_ends(home: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "SAFETY_SECONDS", 0.05)
    store = wiring.open_for_writing(home)
    service = Service(Context(wiring.home(), store, clock.now))
    running = threading.Thread(target=service.run)
    running.start()
    shutil.rmtree(home.state)
    running.join(timeout=30)
    assert not running.is_alive()
    assert not service.must_restart
    store.close()


@pytest.mark.parametrize("lost", ["database", "spool", "run"])
def test_what_is_deleted_under_a_worker_is_made_again_and_nothing_more_is_lost(
    lost: str, home: Paths, tmp_path: Path
) -> None:
    rpc.start(home)
    capture(tmp_path, 1)
    settled(home)
    close_stores()
    match lost:
        case "database":
            for file in home.data.glob("aforesaid.db*"):
                file.unlink()
        case "spool":
            shutil.rmtree(home.spool)
        case _:
            for file in home.run.iterdir():
                file.unlink()
    capture(tmp_path, 2)
    fire("SessionStart", {"session_id": "s2", "source": "startup"}, project=tmp_path)
    expected = 2 if lost == "database" else 3

    def arrived() -> bool:
        try:
            store = wiring.open_for_reading(home)
        except StoreMissing:
            return False
        try:
            return store.health().events == expected
        finally:
            store.close()

    until(arrived, seconds=60)


def test_a_python_without_aforesaid_is_told_of_when_its_start_came_to_nothing(
    home: Paths, tmp_path: Path
) -> None:
    bare = Path(sys.executable).resolve()
    start = {"session_id": "s", "source": "startup"}
    first = fire("SessionStart", start, project=tmp_path, python=bare)
    assert first.stdout == b""
    os.utime(home.starting_file, (1, 1))  # as it is some seconds later
    second = fire("SessionStart", start | {"session_id": "s2"}, project=tmp_path, python=bare)
    assert "its worker does not start" in json.loads(second.stdout)["systemMessage"]
    assert len(list(home.spool_new.iterdir())) == 2
