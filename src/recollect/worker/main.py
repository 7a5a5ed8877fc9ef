"""The worker's entry: `python -I -m recollect.worker.main`. Its start reads as a story.

Detach → lock, or replace an older one → open the store → listen → announce → work → withdraw.
"""

import os
import signal
import sys
from contextlib import suppress

from recollect import __version__, clock, log, wiring
from recollect.errors import RecollectError
from recollect.paths import Paths, write_private
from recollect.worker.briefs import health_note
from recollect.worker.instance import AlreadyRunning, announce, the_only_one, withdraw
from recollect.worker.service import Service


def main() -> int:
    _detach()
    os.umask(0o077)
    paths = Paths.of(os.environ)
    try:
        paths.make()
        home = wiring.home()
        log.to_file(paths.log_file, home.settings.text("worker.log_level"))
        with the_only_one(paths):
            _work(home)
    except AlreadyRunning:
        paths.starting_file.unlink(missing_ok=True)
    except (RecollectError, OSError) as error:
        _cannot_start(paths, error)
        return 1
    return 0


def _work(home: wiring.Home) -> None:
    paths = home.paths
    store = wiring.open_for_writing(paths)
    try:
        if orphans := store.release_leases():
            log.action("job.orphaned", count=orphans)
        service = Service(home, store, clock.now)
        listener = service.open()
        # Hooks of a plugin do not know which interpreter has recollect.
        write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
        announce(paths)
        log.action("worker.started", version=__version__, pid=os.getpid())
        listener.start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: service.stop())
        try:
            service.run()
        finally:
            withdraw(paths)
            listener.close()
            service.last_look()
            log.action("worker.ended", pid=os.getpid())
    finally:
        store.close()


def _detach() -> None:
    """A session of our own, so that the end of the agent that started us is not ours."""
    with suppress(PermissionError):
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _cannot_start(paths: Paths, error: Exception) -> None:
    """Tell the next session. An empty `starting` stops captures from trying again and again; a session
    start or a command of the user does try."""
    with suppress(OSError):
        log.warning("worker.cannot_start", error=f"{type(error).__name__}: {error}")
        write_private(paths.health_note, health_note(f"recollect is not recording: {error}"))
        write_private(paths.starting_file, b"")


if __name__ == "__main__":
    sys.exit(main())
