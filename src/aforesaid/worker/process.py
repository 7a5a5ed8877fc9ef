"""The worker as a process: one per user, from taking the lock to giving it up.

It listens first; the database is opened and the service loaded after that, and requests wait for it.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cache

from aforesaid import __version__, clock, log
from aforesaid.paths import Paths, write_private
from aforesaid.worker.rpc import AlreadyRunning, Handler, Listener, single_instance

Handlers = Mapping[str, Handler]


def run(paths: Paths) -> None:
    paths.make()
    log.to_file(paths.log_file)
    again = False
    try:
        with single_instance(paths):
            again = _listen(paths)
    except AlreadyRunning:
        paths.starting_file.unlink(missing_ok=True)
    if again:
        os.execv(sys.executable, [sys.executable, "-I", "-m", "aforesaid.worker.main"])


def _listen(paths: Paths) -> bool:
    loaded: Future[Handlers] = Future()
    ping = f"{__version__}\n".encode()

    def find(name: str) -> Handler | None:
        return (lambda _: ping) if name == "ping" else loaded.result().get(name)

    def close() -> None:
        _withdraw(paths)
        loaded.cancel()  # unless it was loaded: who waits gets no answer
        listener.close()

    listener = Listener(paths, find)
    listener.start()
    try:
        return _serve(paths, loaded, close)
    finally:
        close()


def _serve(paths: Paths, loaded: Future[Handlers], stop_listening: Callable[[], None]) -> bool:
    """Returns whether a new worker should start where this one ended."""
    from aforesaid import wiring
    from aforesaid.backups import database_state
    from aforesaid.errors import StoreDamaged
    from aforesaid.worker import database

    home = wiring.home(live=True)
    redactor = cache(lambda: wiring.make_redactor(home))  # loaded by the first line
    log.redact_with(lambda text: redactor().text(text))
    log.set_level(home.settings.text("worker.log_level"))
    store = database.open_database(home, clock.now)
    service = None
    try:
        _announce(paths)
        if orphans := store.jobs.release_leases():
            log.action("job.orphaned", count=orphans)
        store.jobs.make_due(clock.now())  # a new start may have a new budget, key or model
        log.action("worker.started", version=__version__, pid=os.getpid())
        from aforesaid.worker.context import Context
        from aforesaid.worker.service import Service

        service = Service(Context(home, store, clock.now))
        gc.freeze()  # what was loaded until now stays: it need not be traversed again and again
        gc.enable()
        for number in (signal.SIGTERM, signal.SIGINT):
            # In a thread of its own: the main thread may be holding the very lock that stop() takes.
            signal.signal(number, lambda *_: threading.Thread(target=service.stop).start())
        loaded.set_result(service.handlers())
        service.run()
    except StoreDamaged as error:
        if not database_state.note_suspicion(paths, log.cause(error), clock.now()):
            raise
        return True
    finally:
        stop_listening()
        if service is not None:
            service.ingest_last()
        log.action("worker.ended", pid=os.getpid())
        store.close()
    service.backups.record_close()
    return service.must_restart


def _announce(paths: Paths) -> None:
    """From here on hooks need not start anybody."""
    # Hooks of a plugin do not know which interpreter has aforesaid.
    write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
    write_private(paths.pid_file, f"{os.getpid()}\n".encode())
    paths.health_note.unlink(missing_ok=True)
    paths.starting_file.unlink(missing_ok=True)


def _withdraw(paths: Paths) -> None:
    """From here on the next capture starts a new worker. What a successor has put there is left alone."""
    with suppress(OSError, ValueError):
        if int(paths.pid_file.read_text()) == os.getpid():
            paths.pid_file.unlink()
            # A hook that wrote its number late left this behind; later it would look like a failed start.
            paths.starting_file.unlink(missing_ok=True)
            paths.socket.unlink(missing_ok=True)
