"""Wakes the worker when a file lands in the spool, by the operating system's file events."""

import threading
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from recollect import log

BLIND_SECONDS = 2.0  # between looks, on a system that gives no file events
SEEING_SECONDS = 60.0  # a safety net only: file systems may drop events under load


class SpoolWatch(FileSystemEventHandler):
    def __init__(self, folder: Path, wake: threading.Event) -> None:
        self._wake = wake
        self._observer = Observer()
        self.sees = True
        try:
            self._observer.schedule(self, str(folder))
            self._observer.start()
        except OSError as error:  # the system's limit of watches is used up
            self.sees = False
            log.warning("wake.blind", error=error)

    @property
    def longest_wait(self) -> float:
        return SEEING_SECONDS if self.sees else BLIND_SECONDS

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("created", "moved"):
            self._wake.set()

    def close(self) -> None:
        if self.sees:
            self._observer.stop()
            self._observer.join(timeout=2)
