"""Calls of the git program, on one named repository and with nothing of the user's own git."""

import os
import subprocess
from pathlib import Path

SECONDS = 30.0
OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "user.name=recollect",
    "user.email=recollect@localhost",
)
SETTINGS = tuple(word for option in OPTIONS for word in ("-c", option))


class GitFailed(Exception):
    """What git said is not repeated: it may quote what was recorded."""


def git(
    repository: Path,
    *arguments: str,
    data: bytes = b"",
    lock: int | None = None,
    seconds: float = SECONDS,
) -> bytes:
    """What it prints. With the repository named, git looks for no other one, and does not mind who owns it.
    `lock`: a descriptor that git keeps open as long as it runs. Raises GitFailed."""
    first = ("git", f"--git-dir={repository}", "--literal-pathspecs", "--no-replace-objects")
    try:
        done = subprocess.run(
            [*first, *SETTINGS, *arguments],
            input=data,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=repository.parent,
            umask=0o077,
            env=_environment(),
            pass_fds=() if lock is None else (lock,),
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise GitFailed(type(error).__name__) from None
    if done.returncode != 0:
        raise GitFailed(f"git {arguments[0]} ended with {done.returncode}")
    return done.stdout


def _environment() -> dict[str, str]:
    """GIT_DIR and its kin would name another repository; the user's settings could sign, rewrite or ask. An
    older git finds them by the home alone."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return plain | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "LC_ALL": "C",
    }
