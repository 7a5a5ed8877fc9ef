"""Imports: the worker reads the source itself, a step for each request of the client.

Between two steps everything else gets its turn. The client may go away and the worker may be killed: what was
imported is sound, and the next run continues because nothing is imported twice.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import AforesaidError
from aforesaid.repository import identify
from aforesaid.worker.context import Context

if TYPE_CHECKING:  # loaded by the first import
    from aforesaid.transfer.importer import MemoryImport, Progress, Source

Json = dict[str, Any]
STEP_SECONDS = 0.25
GONE_SECONDS = 5.0  # a client asks for the next step without a pause


@dataclass(slots=True)
class _Running:
    name: str
    source: "Source"
    steps: "Iterator[Progress]"
    undo: bool
    progress: "Progress"
    seen: float = field(default_factory=time.monotonic)

    def describe(self) -> Json:
        found: Json = {
            "done": self.source.done,
            "total": self.source.total,
            "new": asdict(self.progress.new),
            "known": asdict(self.progress.known),
        }
        taken, homes = self.progress.memories, getattr(self.source, "homes", None)
        if homes is None:
            names = ("renamed", "refused", "reasons")
            return found | {"memories": {name: getattr(taken, name) for name in names}}
        return found | {"projects": {name: home.record.root for name, home in homes.items()}}


@dataclass(slots=True)
class Imports:
    """`on_imported`: called with the projects that were added to. `memories`: where those of an import go."""

    context: Context
    on_imported: Callable[[frozenset[int]], None]
    memories: "Callable[[], MemoryImport]"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: _Running | None = None

    def at_work(self) -> bool:
        return self._lock.locked() or self._is_waited_for()

    def begin(self, request: Json) -> Json:
        """`what`, `path`, `dry_run`, and what the source needs. The name to ask for steps with."""
        from aforesaid.transfer import importer

        with self._lock:
            if self._is_waited_for():
                return {"busy": True}
            self._drop()
            try:
                source = self._source(request)
            except AforesaidError as error:
                return {"error": str(error)}
            undo = bool(request["dry_run"])
            redacted = importer.Redacted(source, self.context.redactor)
            steps = importer.run(self.context.store, redacted, self.memories(), undo=undo)
            self._running = _Running(os.urandom(8).hex(), source, steps, undo, importer.Progress())
            log.action("import.began", what=request["what"], dry_run=undo)
            return {"name": self._running.name}

    def step(self, request: Json) -> Json:
        """As much as a moment allows. `lost`: the worker was replaced meanwhile; begin again."""
        with self._lock:
            running = self._running
            if running is None or running.name != request["name"]:
                return {"lost": True}
            try:
                over = self._go_on(running)
            except AforesaidError as error:
                self._finish(running)
                return {"error": str(error)}
            except Exception as error:
                self._drop()
                log.warning("import.failed", error=log.cause(error))
                what = type(error).__name__
                return {"error": f"It could not be taken ({what}). See `aforesaid worker logs`."}
            running.seen = time.monotonic()
            answer = running.describe() | {"over": over}
            if over:
                self._finish(running)
            return answer

    def cancel(self, request: Json) -> Json:
        with self._lock:
            if self._running is not None and self._running.name == request["name"]:
                self._finish(self._running)
        return {}

    def _is_waited_for(self) -> bool:
        running = self._running
        return running is not None and time.monotonic() - running.seen < GONE_SECONDS

    def _go_on(self, running: _Running) -> bool:
        end = time.monotonic() + STEP_SECONDS
        for progress in running.steps:
            running.progress = progress
            if time.monotonic() >= end:
                return False
        return True

    def _finish(self, running: _Running) -> None:
        new = {noun: number for noun, number in asdict(running.progress.new).items() if number}
        log.action("import.ended", dry_run=running.undo, **new)
        self._drop()
        if not running.undo and running.progress.projects:
            self.on_imported(running.progress.projects)

    def _drop(self) -> None:
        if self._running is not None:
            steps, self._running = self._running.steps, None
            close = getattr(steps, "close", None)
            if close is not None:
                close()

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
