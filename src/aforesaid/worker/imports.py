"""Imports: the worker reads the source itself and reports after each step.

Between two steps everything else gets its turn. An import ends when its client goes away, and the worker may
be killed: what was imported is sound, and the next run continues because nothing is imported twice.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import AforesaidError, describe_error
from aforesaid.model.records import all_counts
from aforesaid.repository import identify
from aforesaid.worker.context import Context

if TYPE_CHECKING:  # loaded by the first import
    from aforesaid.transfer.importer import Progress, Source

Json = dict[str, Any]
WATCHED_SECONDS = 5.0  # that a client may not ask, then it is gone
BUSY_SECONDS = 8.0  # longer than it takes to notice that the client of another import is gone


@dataclass(slots=True)
class Imports:
    """`on_imported`: called with the projects that were added to."""

    context: Context
    on_imported: Callable[[frozenset[int]], None]
    _running: threading.Lock = field(default_factory=threading.Lock)
    _name: str = ""
    _progress: Json = field(default_factory=dict)
    _asked_at: float = 0.0

    def at_work(self) -> bool:
        return self._running.locked()

    def wait(self) -> None:
        """When the worker ends: the current step is finished."""
        if self._running.acquire(timeout=BUSY_SECONDS):
            self._running.release()

    def begin(self, request: Json) -> Json:
        """`what`, `path`, `dry_run`, and what the source needs. Returns the name to ask with."""
        if self.context.stopping.is_set():
            return {"lost": True}
        if not self._running.acquire(timeout=BUSY_SECONDS):
            raise AforesaidError("Another import is running. Try again when it has finished.")
        self._name, self._progress, self._asked_at = os.urandom(8).hex(), {}, time.monotonic()
        threading.Thread(target=self._run, args=(request,), name="import", daemon=True).start()
        return {"name": self._name}

    def progress(self, request: Json) -> Json:
        """The last answer has `over`, or is an error. `lost`: it has ended before that; begin again."""
        if request["name"] != self._name:
            return {"lost": True}
        self._asked_at = time.monotonic()
        return self._progress

    def _run(self, request: Json) -> None:
        try:
            self._import(request)
        except AforesaidError as error:
            self._progress = describe_error(error)
        except Exception as error:
            log.warning("import.failed", error=log.cause(error))
            what = type(error).__name__
            why = f"It could not be imported ({what}). See `aforesaid worker logs`."
            self._progress = describe_error(AforesaidError(why))
        finally:
            self._running.release()

    def _import(self, request: Json) -> None:
        from aforesaid.memory.transfer import MemoryImport
        from aforesaid.transfer import importer

        undo, source = bool(request["dry_run"]), self._source(request)
        store, redactor = self.context.store, self.context.redactor
        memories = MemoryImport(self.context.paths.memory, self.context.clock)
        steps = importer.run(store, source, memories, redactor=redactor, undo=undo)
        log.action("import.began", what=request["what"], dry_run=undo)
        progress = importer.Progress()
        try:
            for progress in steps:
                self._progress = _describe(source, progress)
                watched = time.monotonic() < self._asked_at + WATCHED_SECONDS
                if not watched or not self.context.go_on():
                    self._name = ""
                    return
        finally:
            steps.close()
            log.action("import.ended", dry_run=undo, **progress.new)
            if not undo and progress.projects:
                self.on_imported(frozenset(progress.projects))
        self._progress = _describe(source, progress) | {"over": True}

    def _source(self, request: Json) -> "Source":
        from aforesaid.transfer.claude_mem import ClaudeMem
        from aforesaid.transfer.import_file import ExportFile

        path = Path(request["path"])
        if request["what"] == "file":
            return ExportFile(path)
        return ClaudeMem(
            path,
            only=request["project"],
            folders={name: identify(folder) for name, folder in request["folders"].items()},
            known=self.context.store.projects.all(),
            now=self.context.clock(),
        )


def _describe(source: "Source", progress: "Progress") -> Json:
    found: Json = {
        "done": source.done,
        "total": source.total,
        "new": all_counts(progress.new),
        "known": all_counts(progress.known),
    }
    homes = getattr(source, "homes", None)
    if homes is None:
        names = ("renamed", "refused", "reasons")
        return found | {"memories": {name: getattr(progress.memories, name) for name in names}}
    return found | {"projects": {name: home.record.root for name, home in homes.items()}}
