"""What the hook `file` does, by shell or by Python: it asks, and leaves nothing behind."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aforesaid.agents.claude_code.install import CONNECTION
from tests.support.writers import (
    BARE_PYTHON,
    HOOK_DIR,
    Writer,
    environment,
    failures,
    published,
    python_writer,
    run,
    shell_writer,
)

FILE = "/home/dev/shop/größe.py"
PAYLOAD = (
    json.dumps(
        {
            "session_id": "s-1",
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": FILE, "content": "x\n" * 100_000},
        },
        ensure_ascii=False,
    ).encode()
    + b"\n"
)
ANSWER = b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "known"}}'


def asking(*shell: str) -> Writer:
    return Writer(shell[0], (*shell, "-c", CONNECTION.hook_command("file", HOOK_DIR, BARE_PYTHON)))


@pytest.fixture(
    params=[asking("/bin/sh"), asking("bash", "--posix"), python_writer("file")],
    ids=["sh", "bash", "python"],
)
def hook(request: pytest.FixtureRequest) -> Writer:
    found: Writer = request.param
    return found


@pytest.fixture
def env(state: Path) -> dict[str, str]:
    return environment(AFORESAID_HOME=str(state), CLAUDE_CODE_SESSION_ID="s-1")


class Listener:
    """A worker that has one answer for everything, and remembers the questions."""

    def __init__(self, state: Path, answer: bytes) -> None:
        self.asked: list[bytes] = []
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        before = Path.cwd()
        os.chdir(state / "run")
        self._socket.bind("worker.sock")
        os.chdir(before)
        self._socket.listen(8)

    def serve(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            with link:
                self.asked.append(b"".join(iter(lambda: link.recv(1 << 16), b"")))  # noqa: B023
                link.sendall(self._answer)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def worker(state: Path, answer: bytes = b"0.1.0\n" + ANSWER) -> Iterator[list[bytes]]:
    listener = Listener(state, answer)
    thread = threading.Thread(target=listener.serve)
    thread.start()
    try:
        yield listener.asked
    finally:
        listener.close()
        thread.join()


def write_list(state: Path, *paths: str) -> None:
    (state / "run/files").mkdir()
    lines = "".join(json.dumps(path, ensure_ascii=False) + "\n" for path in paths)
    (state / "run/files/s-1").write_text(lines)


def answered(hook: Writer, state: Path, env: dict[str, str], payload: bytes = PAYLOAD) -> bytes:
    """What it prints. It must exit with 0, say nothing else, keep nothing and start nobody."""
    done = run(hook, payload, env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (published(state), failures(state)) == ([], 0)
    assert not (state / "spool").exists()
    assert not (state / "run/worker.pid").exists()
    return done.stdout


def told(hook: Writer, state: Path, env: dict[str, str]) -> tuple[bytes, bytes]:
    """What is printed, and for which payload. A busy machine may miss the hook's deadline: then the agent
    opens the file once more."""
    for number in range(20):
        payload = PAYLOAD.replace(b"s-1", b"s-%d" % number)
        if printed := answered(hook, state, env, payload):
            return printed, payload
    return b"", b""


@pytest.mark.parametrize("files", [None, [FILE], ["/home/dev/shop/a.py", FILE]])
def test_what_the_worker_knows_is_printed(
    hook: Writer, state: Path, env: dict[str, str], files: list[str] | None
) -> None:
    if files is not None:
        write_list(state, *files)
    with worker(state) as asked:
        printed, payload = told(hook, state, env)
    assert printed == ANSWER
    assert asked[-1].startswith(b"ask aforesaid/1 claude-code file ")
    assert asked[-1].endswith(b"\0\n" + payload)


@pytest.mark.parametrize(
    "files",
    [[], ["/home/dev/shop/other.py"], ["größe.py"], ["/home/dev/shop/größe.p"], [".*", "^"]],
)
def test_a_file_that_is_not_listed_is_not_asked_about(
    hook: Writer, state: Path, env: dict[str, str], files: list[str]
) -> None:
    write_list(state, *files)
    with worker(state) as asked:
        assert answered(hook, state, env) == b""
    assert asked == []


def test_without_the_name_of_its_session_the_worker_is_asked(
    hook: Writer, state: Path, env: dict[str, str]
) -> None:
    write_list(state)
    del env["CLAUDE_CODE_SESSION_ID"]
    with worker(state):
        assert told(hook, state, env)[0] == ANSWER


@pytest.mark.parametrize("answer", [b"", b"0.1.0\n", b"0.0.1\n", b"9.9\n"])
def test_a_worker_of_any_version_that_has_nothing_to_say(
    hook: Writer, state: Path, env: dict[str, str], answer: bytes
) -> None:
    with worker(state, answer):
        assert answered(hook, state, env) == b""


def test_two_installations_print_one_answer(state: Path, env: dict[str, str]) -> None:
    with worker(state) as asked:
        printed, payload = told(asking("/bin/sh"), state, env)
        before = len(asked)
        assert printed == ANSWER
        assert answered(python_writer("file"), state, env, payload) == b""
    assert len(asked) == before


@pytest.mark.parametrize("left", ["nothing", "a socket", "a file", "a list"])
def test_a_dead_worker_costs_nothing_and_is_not_started(
    hook: Writer, state: Path, env: dict[str, str], left: str
) -> None:
    (state / "run/starting").unlink()  # a start would be tried, and would leave its mark
    if left == "a socket":
        with worker(state):
            pass
    elif left == "a file":
        (state / "run/worker.sock").touch()
    elif left == "a list":
        write_list(state, FILE)
    assert answered(hook, state, env) == b""
    assert not (state / "run/starting").exists()


def test_a_hung_worker_is_not_waited_for(hook: Writer, state: Path, env: dict[str, str]) -> None:
    listener = Listener(state, b"")  # nobody accepts
    try:
        assert answered(hook, state, env) == b""
    finally:
        listener.close()


def test_a_stopped_worker_is_not_waited_for(hook: Writer, state: Path, env: dict[str, str]) -> None:
    program = (
        "import os, socket, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX)\n"
        "s.bind('worker.sock'); s.listen(8); print(flush=True)\n"
        "while True: link, _ = s.accept(); link.recv(9); input()"
    )
    command = [sys.executable, "-c", program, str(state / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        try:
            assert answered(hook, state, env) == b""
        finally:
            process.kill()


@pytest.mark.parametrize(
    "payload", [b"", b"\n", b"not JSON", b"\0\xff\n", PAYLOAD.replace(b",", b",\n"), PAYLOAD[:90]]
)
def test_any_payload_ends_well(
    hook: Writer, state: Path, env: dict[str, str], payload: bytes
) -> None:
    write_list(state, FILE)
    with worker(state):
        answered(hook, state, env, payload)


def test_the_memory_agent_asks_nothing(hook: Writer, state: Path, env: dict[str, str]) -> None:
    with worker(state) as asked:
        assert answered(hook, state, env | {"AFORESAID_INSIDE": "1"}) == b""
    assert asked == []


def test_without_python_there_is_no_answer_and_no_capture(state: Path, env: dict[str, str]) -> None:
    with worker(state) as asked:
        assert answered(shell_writer("sh", "/bin/sh", hook="file"), state, env) == b""
    assert asked == []


def test_on_a_machine_without_a_home_for_aforesaid_nothing_is_made(
    hook: Writer, tmp_path: Path
) -> None:
    home = tmp_path / "not there"
    done = run(hook, PAYLOAD, environment(AFORESAID_HOME=str(home)))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not home.exists()
