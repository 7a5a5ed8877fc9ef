"""How others speak with the worker: ask it, start it, stop it."""

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.errors import WorkerDown, WorkerError, WorkerHung
from recollect.hook.capture import older
from recollect.paths import Paths
from recollect.worker.health import not_recording

SECONDS = 5.0  # for an answer
START_SECONDS = 10.0
STOP_SECONDS = 15.0


def ask(paths: Paths, request: bytes, *, seconds: float = SECONDS) -> bytes:
    """One answer, or why there is none."""
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
        raise WorkerError("The worker could not answer. See `recollect worker logs`.")
    return answer


def order(paths: Paths, verb: str, **values: object) -> dict[str, Any]:
    """Have the worker do something; it is started if need be."""
    return order_patiently(paths, verb, SECONDS, **values)


def order_patiently(paths: Paths, verb: str, seconds: float, **values: object) -> dict[str, Any]:
    """The same for what may take a while."""
    start(paths)
    answer = json.loads(ask(paths, f"{verb} {json.dumps(values)}".encode(), seconds=seconds))
    assert isinstance(answer, dict)
    return answer


def status(paths: Paths) -> dict[str, Any]:
    found = json.loads(ask(paths, b"status\n"))
    assert isinstance(found, dict)
    return found


def start(paths: Paths) -> dict[str, Any]:
    """A worker of this version that answers; started if need be."""
    paths.make()
    with suppress(WorkerError):
        found = status(paths)
        # Not one more beside it: that would take over if the first were stopped just now.
        if not older(found["version"]):
            return found
    pid = _spawn()
    ended = False
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if not ended:
            ended, code = _ended(pid)
            if code:
                why = not_recording(paths)
                raise WorkerError(why or "The worker did not start. See `recollect worker logs`.")
        with suppress(WorkerDown):
            found = status(paths)
            if not older(found["version"]):
                return found
        time.sleep(0.02)
    raise WorkerHung


def _spawn() -> int:
    """Detached, with none of our descriptors. It outlives us, so nobody waits for it."""
    command = [sys.executable, "-I", "-m", "recollect.worker.main"]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    return os.posix_spawn(command[0], command, os.environ, file_actions=null, setsid=True)


def _ended(pid: int) -> tuple[bool, int]:
    """Whether it is over, and how. Ending well means that another worker was there first."""
    found, status_ = os.waitpid(pid, os.WNOHANG)
    return found == pid, os.waitstatus_to_exitcode(status_) if found == pid else 0


def request_stop(paths: Paths) -> None:
    ask(paths, b"stop\n")


def stop(paths: Paths) -> bool:
    """True if one was running. It ends what it is doing; one that does not answer is killed, which
    loses nothing. It is gone when this returns: its number is withdrawn before its last commit."""
    pid = running_pid(paths)
    if pid is None:
        return False
    try:
        request_stop(paths)
        end = time.monotonic() + STOP_SECONDS
        while _is_worker(pid) and time.monotonic() < end:
            time.sleep(0.02)
    except WorkerError:
        pass
    if _is_worker(pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        paths.pid_file.unlink(missing_ok=True)
    return True


def running_pid(paths: Paths) -> int | None:
    """The worker's process. A number that another program has got since is not it."""
    try:
        pid = int(paths.pid_file.read_text())
    except (OSError, ValueError):
        return None
    return pid if _is_worker(pid) else None


def _is_worker(pid: int) -> bool:
    command = Path(f"/proc/{pid}/cmdline")
    try:
        os.kill(pid, 0)
        return not command.exists() or b"recollect.worker" in command.read_bytes()
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
