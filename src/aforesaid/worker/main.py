"""The worker's entry: `python -I -m aforesaid.worker.main`.

It runs where nobody sees it, so whatever keeps it from starting, a broken installation included, is written
down for the next session to tell.
"""

import gc
import os
import signal
import sys
from contextlib import suppress

from aforesaid.paths import Paths, disable_core_dumps, search_path, write_private

MOST_DESCRIPTORS = 4096
SWITCH_SECONDS = 0.0005  # a hook's question must not wait 5 ms for each turn while others compute


def main() -> int:
    gc.disable()  # until everything is loaded: little of it is garbage (`process.py` enables it)
    _detach()
    os.environ["PATH"] = search_path(os.environ)
    sys.setswitchinterval(SWITCH_SECONDS)
    os.umask(0o077)
    disable_core_dumps()
    paths = Paths.of(os.environ)
    try:
        from aforesaid.worker import process

        process.run(paths)
    except Exception as error:
        _cannot_start(paths, error)
        return 1
    return 0


def _detach() -> None:
    """A session of our own and none of the agent's pipes, so that its end is not ours."""
    os.closerange(3, MOST_DESCRIPTORS)
    os.chdir("/")  # not in a session's directory, which the worker outlives
    with suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _cannot_start(paths: Paths, error: Exception) -> None:
    """An empty `starting` stops captures from trying again and again; a session start or a command of
    the user does try."""
    import json

    from aforesaid import log

    known = type(error).__module__ == "aforesaid.errors"
    why = str(error) if known else f"{type(error).__name__}: {error}. Run `aforesaid doctor`."
    with suppress(OSError):
        log.warning("worker.cannot_start", error=why)
        note = json.dumps(f"aforesaid is not recording: {why}")
        write_private(paths.health_note, note.encode())
        write_private(paths.starting_file, b"")


if __name__ == "__main__":
    sys.exit(main())
