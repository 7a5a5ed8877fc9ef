"""The worker's Unix socket.

Clients call, start and stop the worker; the listener serves them. One worker per user.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aforesaid import __version__, locks, log
from aforesaid.errors import WorkerDown, WorkerError, WorkerHung, raise_reported
from aforesaid.hook.capture import older
from aforesaid.paths import Paths

SECONDS = 5.0  # for an answer
START_SECONDS = 10.0
STOP_SECONDS = 15.0
LARGEST = 64 * 1024 * 1024  # bytes of a request
PATIENCE = 5.0  # seconds for a client to finish its question
THREADS = 4
HANDOVER_SECONDS = 10.0  # for an older worker to end
PAUSE = 0.2  # seconds before the next try, when no connection could be taken


def nothing(_: bool) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Answer:
    """`done` is called once, with whether the asker was still there when the text was sent."""

    text: bytes
    done: Callable[[bool], None] = nothing


Handler = Callable[[bytes], bytes | Answer]


def ask(paths: Paths, request: bytes, *, seconds: float = SECONDS) -> bytes:
    """Sends a request and returns the answer. Raises WorkerError."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(seconds)
        try:
            _connect(link, paths.socket)
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: link.recv(1 << 16), b""))
        except TimeoutError:
            raise WorkerHung from None
        except OSError:
            raise WorkerDown from None
    if not answer:
        raise WorkerError("The worker could not answer. See `aforesaid worker logs`.")
    return answer


def order(paths: Paths, verb: str, seconds: float = SECONDS, /, **values: object) -> dict[str, Any]:
    """Sends a command to the worker, which is started if need be. Raises the error that it reports."""
    start(paths)
    answer = json.loads(ask(paths, f"{verb} {json.dumps(values)}".encode(), seconds=seconds))
    assert isinstance(answer, dict)
    raise_reported(answer)
    return answer


def status(paths: Paths) -> dict[str, Any]:
    found = json.loads(ask(paths, b"status\n"))
    assert isinstance(found, dict)
    return found


def start(paths: Paths) -> dict[str, Any]:
    """The status of a worker of this version, which is started if need be. Not beside a running one: it would
    take over if that were stopped just now."""
    paths.make()
    pid, ended, state = 0, 0, 0
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with suppress(WorkerError):
            found = status(paths)
            if not older(found["version"]):
                return found
        if not pid:
            pid = _spawn()
        elif not ended:
            ended, state = os.waitpid(pid, os.WNOHANG)
        if state:  # ending well means that another worker was there first
            from aforesaid.worker.health import not_recording

            why = not_recording(paths)
            raise WorkerError(why or "The worker did not start. See `aforesaid worker logs`.")
        time.sleep(0.02)
    raise WorkerHung


def _spawn() -> int:
    """Detached, with none of our descriptors. It outlives us, so nobody waits for it."""
    command = [sys.executable, "-I", "-m", "aforesaid.worker.main"]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    return os.posix_spawn(command[0], command, os.environ, file_actions=null, setsid=True)


def stop(paths: Paths) -> bool:
    """True if one was running. It ends what it is doing; one that does not answer is killed, which
    loses nothing. It is gone when this returns: its number is withdrawn before its last commit."""
    pid = running_pid(paths)
    if pid is None:
        return False
    with suppress(WorkerError):
        ask(paths, b"stop\n")
        end = time.monotonic() + STOP_SECONDS
        while _is_worker(pid) and time.monotonic() < end:
            time.sleep(0.02)
    if _is_worker(pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        paths.pid_file.unlink(missing_ok=True)
    return True


def running_pid(paths: Paths) -> int | None:
    """The worker's process id. One that another program has got since does not count."""
    with suppress(OSError, ValueError):
        if _is_worker(pid := int(paths.pid_file.read_text())):
            return pid
    return None


def _is_worker(pid: int) -> bool:
    command = Path(f"/proc/{pid}/cmdline")
    try:
        os.kill(pid, 0)
        return not command.exists() or b"aforesaid.worker" in command.read_bytes()
    except OSError:
        return False


def _connect(link: socket.socket, path: Path) -> None:
    """A socket's path may have 107 bytes only; a descriptor of its directory stands for a longer one."""
    if len(os.fsencode(path)) < 100:
        link.connect(str(path))
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        link.connect(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)


class Listener:
    """`find`: returns what answers a request of that name; it may wait for it."""

    def __init__(self, paths: Paths, find: Callable[[str], Handler | None]) -> None:
        # Not for clients, which are in a hurry.
        from concurrent.futures import ThreadPoolExecutor

        self._find = find
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="answer")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # A socket's path may have 107 bytes; relative to its directory it always fits.
        os.chdir(paths.run)
        name = paths.socket.name
        if paths.socket.exists():
            paths.socket.unlink()  # we hold the lock, so it is a dead worker's
        before = os.umask(0o177)
        try:
            self._socket.bind(name)
        finally:
            os.umask(before)
        self._socket.listen(64)

    def start(self) -> None:
        threading.Thread(target=self._accept, name="listener", daemon=True).start()

    def close(self) -> None:
        """No new questions; the ones under way get their answer."""
        self._closing.set()
        with suppress(OSError):  # refused by some systems for a listening socket; close is enough
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._pool.shutdown(wait=True)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
                self._pool.submit(self._serve, connection)
            except RuntimeError:  # closing
                connection.close()
            except OSError as error:
                # Too many open files, most likely: a listener that gave up would never answer again.
                if not self._closing.wait(PAUSE):
                    log.warning("answer.failed", error=log.cause(error))

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(PATIENCE)
            try:
                request = bytearray()
                while part := connection.recv(1 << 16):
                    request += part
                    if len(request) > LARGEST:
                        raise ValueError(f"a request of over {LARGEST} bytes")
                name, _, rest = bytes(request).partition(b" ")
                if handler := self._find(name.strip().decode("utf-8", "replace")):
                    _send(connection, handler(rest))
            except Exception as error:
                # The asker falls back to its prepared copy; the reason is for `worker logs`.
                log.warning("answer.failed", error=log.cause(error))


def _send(connection: socket.socket, answer: bytes | Answer) -> None:
    answer = Answer(answer) if isinstance(answer, bytes) else answer
    try:
        # An asker that has gone on has closed its end: then this fails, however small the text is.
        connection.sendall(answer.text)
        connection.close()  # the end of the stream: nobody waits for what is noted then
    except OSError:
        answer.done(False)
        raise
    answer.done(True)


class AlreadyRunning(Exception):
    """A worker that is no older than this one holds the lock; there is nothing to do."""


@contextmanager
def single_instance(paths: Paths) -> Iterator[None]:
    """Holds the worker's lock; an older version is asked to stop. Raises AlreadyRunning."""
    end = time.monotonic() + HANDOVER_SECONDS
    while (descriptor := locks.acquire(paths.lock_file, timeout=0)) is None:
        if time.monotonic() > end:
            raise AlreadyRunning
        with suppress(WorkerError):  # its holder is just starting or ending
            version = ask(paths, b"ping\n", seconds=1.0).decode().strip()
            if not older(version):
                raise AlreadyRunning
            log.action("worker.replaces", version=version, by=__version__)
            ask(paths, b"stop\n")
        time.sleep(0.05)
    try:
        yield
    finally:
        os.close(descriptor)  # releases the lock
