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
PATIENCE_SECONDS = 30.0  # that a client may not ask: on a busy machine it is slow
OTHERS_SECONDS = 5.0  # the same while another import waits


@dataclass(slots=True)
class _Import:
    """`answer`: to its client, which was heard last at `asked_at`."""

    request: Json
    answer: Json = field(default_factory=dict)
    asked_at: float = field(default_factory=time.monotonic)
    thread: threading.Thread = field(init=False)


@dataclass(slots=True)
class Imports:
    """One at a time; the next waits for it. They are kept, to report how they went. `on_imported`: called
    with the projects that were added to."""

    context: Context
    on_imported: Callable[[frozenset[int]], None]
    _imports: dict[str, _Import] = field(default_factory=dict)  # by name
    _beginning: threading.Lock = field(default_factory=threading.Lock)
    _running: threading.Lock = field(default_factory=threading.Lock)

    def at_work(self) -> bool:
        return any(each.thread.is_alive() for each in list(self._imports.values()))

    def wait(self) -> None:
        """When the worker ends: the current step is finished, and no other begins."""
        with self._beginning:
            threads = [each.thread for each in self._imports.values()]
        for thread in threads:
            thread.join()

    def begin(self, request: Json) -> Json:
        """`what`, `path`, `dry_run`, and what the source needs. Returns the name to ask with."""
        name, begun = os.urandom(8).hex(), _Import(request)
        begun.thread = threading.Thread(target=self._run, args=(begun,), name="import", daemon=True)
        with self._beginning:
            if self.context.stopping.is_set():
                return {"lost": True}
            self._imports[name] = begun
            begun.thread.start()
        return {"name": name}

    def progress(self, request: Json) -> Json:
        """The last answer has `over`, or is an error. `lost`: it has ended before that; begin again."""
        found = self._imports.get(request["name"])
        if found is None:
            return {"lost": True}
        found.asked_at = time.monotonic()
        return found.answer

    def _run(self, this: _Import) -> None:
        try:
            with self._running:
                self._import(this)
        except AforesaidError as error:
            this.answer = describe_error(error)
        except Exception as error:
            log.warning("import.failed", error=log.cause(error))
            what = type(error).__name__
            why = f"It could not be imported ({what}). See `aforesaid worker logs`."
            this.answer = describe_error(AforesaidError(why))

    def _import(self, this: _Import) -> None:
        from aforesaid.memory.transfer import MemoryImport
        from aforesaid.transfer import importer

        if not self._go_on(this):
            return
        request = this.request
        undo, source = bool(request["dry_run"]), self._source(request)
        store, redactor = self.context.store, self.context.redactor
        memories = MemoryImport(self.context.paths.memory, self.context.clock)
        steps = importer.run(store, source, memories, redactor=redactor, undo=undo)
        log.action("import.began", what=request["what"], dry_run=undo)
        progress = importer.Progress()
        try:
            for progress in steps:
                this.answer = _describe(source, progress)
                if not self._go_on(this):
                    return
        finally:
            steps.close()
            log.action("import.ended", dry_run=undo, **progress.new)
            if not undo and progress.projects:
                self.on_imported(frozenset(progress.projects))
        this.answer = _describe(source, progress) | {"over": True}

    def _go_on(self, this: _Import) -> bool:
        waiting = any(
            each is not this and each.thread.is_alive() for each in list(self._imports.values())
        )
        patience = OTHERS_SECONDS if waiting else PATIENCE_SECONDS
        wanted = time.monotonic() < this.asked_at + patience
        if wanted and self.context.go_on():
            return True
        this.answer = {"lost": True}
        return False

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
