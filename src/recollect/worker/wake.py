"""Wakes the worker when a file lands in the spool, by the operating system's file events."""

import threading
from pathlib import Path

from watchdog.events import (
    FileCreatedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from recollect import log

BLIND_SECONDS = 2.0  # between looks, on a system that gives no file events
SEEING_SECONDS = 20.0  # a safety net: events get dropped under load, and the folder may be deleted


class SpoolWatch(FileSystemEventHandler):
    def __init__(self, folder: Path, wake: threading.Event) -> None:
        self._wake = wake
        self._observer = Observer()
        self.sees = True
        try:
            # Our own reading and deleting makes events too; they are of no use to anybody.
            wanted: list[type[FileSystemEvent]] = [FileCreatedEvent, FileMovedEvent]
            self._observer.schedule(self, str(folder), event_filter=wanted)
            self._observer.start()
        except OSError as error:  # the system's limit of watches is used up
            self.sees = False
            log.warning("wake.blind", error=error)

    @property
    def longest_wait(self) -> float:
        return SEEING_SECONDS if self.sees else BLIND_SECONDS

    def on_any_event(self, event: FileSystemEvent) -> None:  # noqa: ARG002 - that it came is enough
        self._wake.set()

    def close(self) -> None:
        if self.sees:
            self._observer.stop()
            self._observer.join(timeout=2)
