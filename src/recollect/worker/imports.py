"""Imports: the worker reads the source itself, a step at a time, for as long as somebody asks for the next.

Between two steps everything else gets its turn. Whoever asked may go away, and the worker may be killed: what
was taken is sound, and the next run goes on from there because nothing is taken twice.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.errors import RecollectError, TransferError
from recollect.privacy.redactor import Redactor
from recollect.repository import identify
from recollect.store.protocol import Store
from recollect.transfer import importing
from recollect.transfer.blocks import Source
from recollect.transfer.claude_mem import ClaudeMem
from recollect.transfer.import_file import ExportFile
from recollect.transfer.importing import Arriving, Progress
from recollect.transfer.redacted import Redacted

Json = dict[str, Any]
STEP_SECONDS = 0.25
GONE_SECONDS = 5.0  # whoever asks for steps asks without a pause


@dataclass(slots=True)
class _Running:
    name: str
    source: Source
    steps: Iterator[Progress]
    undo: bool
    progress: Progress = field(default_factory=Progress)
    seen: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Imports:
    store: Store
    clock: Clock
    on_taken: Callable[[frozenset[int]], None]  # told the projects that know more than before
    memories: Callable[[], Arriving]  # where those of one import go
    redactor: Redactor = field(default_factory=Redactor)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: _Running | None = None

    def at_work(self) -> bool:
        return self._lock.locked() or self._waited_for()

    def begin(self, order: Json) -> Json:
        """`what`, `path`, `dry_run`, and what the source needs. The name to ask for steps with."""
        with self._lock:
            if self._waited_for():
                return {"busy": True}
            self._drop()
            try:
                source = self._source(order)
            except RecollectError as error:
                return {"error": str(error)}
            undo = bool(order["dry_run"])
            discreet = Redacted(source, self.redactor)
            steps = importing.run(self.store, discreet, self.memories(), undo=undo)
            self._running = _Running(os.urandom(8).hex(), source, steps, undo)
            log.action("import.began", what=order["what"], dry_run=undo)
            return {"name": self._running.name}

    def step(self, order: Json) -> Json:
        """As much as a moment allows. `lost`: the worker was replaced meanwhile; begin again."""
        with self._lock:
            running = self._running
            if running is None or running.name != order["name"]:
                return {"lost": True}
            try:
                over = self._go_on(running)
            except RecollectError as error:
                self._finish(running)
                return {"error": str(error)}
            except Exception as error:
                self._drop()
                log.warning("import.failed", error=log.cause(error))
                fault = (
                    f"It could not be taken ({type(error).__name__}). See `recollect worker logs`."
                )
                return {"error": fault}
            running.seen = time.monotonic()
            answer = _told(running) | {"over": over}
            if over:
                self._finish(running)
            return answer

    def cancel(self, order: Json) -> Json:
        with self._lock:
            if self._running is not None and self._running.name == order["name"]:
                self._finish(self._running)
        return {}

    def _waited_for(self) -> bool:
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
            self.on_taken(running.progress.projects)

    def _drop(self) -> None:
        if self._running is not None:
            steps, self._running = self._running.steps, None
            close = getattr(steps, "close", None)
            if close is not None:
                close()

    def _source(self, order: Json) -> Source:
        path = Path(order["path"])
        match order["what"]:
            case "file":
                return ExportFile(path)
            case "claude-mem":
                return ClaudeMem(
                    path,
                    only=order["project"],
                    folders={name: identify(folder) for name, folder in order["folders"].items()},
                    known=self.store.projects(),
                    now=self.clock(),
                )
            case other:
                raise TransferError(f"There is no import from {other!r}.")


def _told(running: _Running) -> Json:
    told: Json = {
        "done": running.source.done,
        "total": running.source.total,
        "new": asdict(running.progress.new),
        "known": asdict(running.progress.known),
    }
    if isinstance(running.source, ExportFile):
        taken = running.progress.memories
        told["memories"] = {
            "renamed": taken.renamed,
            "refused": taken.refused,
            "reasons": taken.reasons,
        }
    if isinstance(running.source, ClaudeMem):
        homes = running.source.homes.items()
        told["projects"] = {name: home.record.root for name, home in homes}
    return told
