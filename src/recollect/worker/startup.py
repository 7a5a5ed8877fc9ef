"""The worker's start reads as a story.

Lock, or replace an older one → open the store → listen → announce → work → withdraw.
"""

import os
import signal
import sys
from contextlib import suppress

from recollect import __version__, clock, log, wiring
from recollect.paths import Paths, write_private
from recollect.worker.instance import AlreadyRunning, announce, the_only_one, withdraw
from recollect.worker.service import Service


def run(paths: Paths) -> None:
    paths.make()
    log.to_file(paths.log_file)
    home = wiring.home()
    log.set_level(home.settings.text("worker.log_level"))
    try:
        with the_only_one(paths):
            _work(home)
    except AlreadyRunning:
        paths.starting_file.unlink(missing_ok=True)


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
            with suppress(FileNotFoundError):  # our home was deleted
                service.last_look()
            log.action("worker.ended", pid=os.getpid())
    finally:
        store.close()
