"""The worker's start reads as a story.

Lock, or replace an older one → open the store, mended if need be → listen → announce → work → withdraw.
"""

import os
import signal
import sys
import threading

from recollect import __version__, clock, log, wiring
from recollect.errors import StoreDamaged
from recollect.paths import Paths, write_private
from recollect.store.protocol import Store
from recollect.worker import opening
from recollect.worker.instance import AlreadyRunning, announce, the_only_one, withdraw
from recollect.worker.service import Service


def run(paths: Paths) -> None:
    paths.make()
    log.to_file(paths.log_file)
    home = wiring.living_home()
    log.set_level(home.settings.text("worker.log_level"))
    again = False
    try:
        with the_only_one(paths):
            again = _work(home)
    except AlreadyRunning:
        paths.starting_file.unlink(missing_ok=True)
    if again:
        os.execv(sys.executable, [sys.executable, "-I", "-m", "recollect.worker.main"])


def _work(home: wiring.Home) -> bool:
    """Whether a new worker should begin where this one ended."""
    store = opening.opened(home, clock.now)
    try:
        service = _served(home, store)
    except StoreDamaged as error:
        if not opening.suspect(home.paths, log.cause(error), clock.now()):
            raise
        return True
    finally:
        store.close()
    service.safekeeping.closed()
    return service.must_restart


def _served(home: wiring.Home, store: Store) -> Service:
    """The service, once it has ended."""
    paths = home.paths
    if orphans := store.release_leases():
        log.action("job.orphaned", count=orphans)
    store.make_due(clock.now())  # a new start may have a new budget, key or model
    service = Service(home, store, clock.now)
    listener = service.open()
    # Hooks of a plugin do not know which interpreter has recollect.
    write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
    announce(paths)
    log.action("worker.started", version=__version__, pid=os.getpid())
    listener.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        # In a thread of its own: the main thread may be holding the very lock that stop() takes.
        signal.signal(number, lambda *_: threading.Thread(target=service.stop).start())
    try:
        service.run()
    finally:
        withdraw(paths)
        listener.close()
        service.last_look()
        log.action("worker.ended", pid=os.getpid())
    return service
