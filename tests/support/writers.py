"""The two writers of the spool, as the agent runs them: a shell line, and Python where there is no sh."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aforesaid.hook
from aforesaid.agents.claude_code.install import AGENT, CONNECTION
from aforesaid.model.events import Capture, parse_capture

HOOK_DIR = Path(aforesaid.hook.__file__).parent
NO_PYTHON = Path("/nonexistent/python")  # then capture.sh has nothing to start a worker with
FAR_FUTURE = 4_000_000_000  # a `starting` file of that time is never stale
# The interpreter below the virtual environment: it has no aforesaid and so cannot start a worker.
BARE_PYTHON = Path(sys.executable).resolve()


@dataclass(frozen=True, slots=True)
class Writer:
    name: str
    command: tuple[str, ...]


def shell_writer(name: str, *shell: str, hook: str = "save") -> Writer:
    return Writer(name, (*shell, "-c", CONNECTION.hook_command(hook, HOOK_DIR, NO_PYTHON)))


def python_writer(hook: str = "save") -> Writer:
    script = str(HOOK_DIR / "capture.py")
    variables = CONNECTION.variables
    named = f'"${{{variables.project}-}}" "${{{variables.session}-}}"'
    line = f"exec {shlex.join([str(BARE_PYTHON), '-I', '-S', script, AGENT, hook])} {named}"
    return Writer("python", ("/bin/sh", "-c", line))


def writers() -> list[Writer]:
    found = [shell_writer("sh", "/bin/sh"), python_writer()]
    if bash := shutil.which("bash"):
        found.append(shell_writer("bash", bash, "--posix"))
    return found


def environment(**values: str) -> dict[str, str]:
    """Nothing of ours but the search path; what a test wants to be set, it names."""
    return {"PATH": os.environ["PATH"], **values}


def start_no_worker(state: Path) -> None:
    """An empty `starting` is what a worker leaves that cannot start: captures do not try again."""
    starting = state / "run" / "starting"
    starting.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    starting.touch(mode=0o600)
    os.utime(starting, (FAR_FUTURE, FAR_FUTURE))


def run(
    writer: Writer,
    payload: bytes,
    env: Mapping[str, str],
    *,
    around: Sequence[str] = (),
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """`around`: a command line that runs the writer, given as its arguments."""
    return subprocess.run(
        [*around, *writer.command],
        input=payload,
        env=dict(env),
        cwd=cwd,
        capture_output=True,
        timeout=60,
        check=False,
    )


def inside(script: str) -> tuple[str, ...]:
    """A shell that does something first and then becomes the writer."""
    return ("/bin/sh", "-c", f'{script}; exec "$@"', "sh")


def published(state: Path) -> list[Capture]:
    """What lies in the spool, each read as the worker reads it."""
    found = []
    for file in sorted((state / "spool/new").glob("*")):
        capture = parse_capture(file.name, file.read_bytes(), 0)
        assert isinstance(capture, Capture), capture
        found.append(capture)
    return found


def unfinished(state: Path) -> list[str]:
    return sorted(file.name for file in (state / "spool/tmp").glob("*"))


def reasons(state: Path) -> list[str]:
    return [line.split()[-1] for line in (state / "capture-failures").read_text().splitlines()]


def failures(state: Path) -> int:
    file = state / "capture-failures"
    return file.read_bytes().count(b"\n") if file.exists() else 0
