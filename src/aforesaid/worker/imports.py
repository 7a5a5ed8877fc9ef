"""Imports: the worker reads the source itself and reports after each step.

Between two steps everything else gets its turn. The client may go away and the worker may be killed: what was
imported is sound, and the next run continues because nothing is imported twice.
"""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid import log
from aforesaid.errors import AforesaidError
from aforesaid.model.records import all_counts
from aforesaid.repository import identify
from aforesaid.worker.context import Context

if TYPE_CHECKING:  # loaded by the first import
    from aforesaid.transfer.importer import MemoryImport, Progress, Source

Json = dict[str, Any]
STEP_SECONDS = 0.25
BUSY_SECONDS = 8.0  # longer than it takes to notice that the client of another import is gone
BUSY = "Another import is running. Try again when it has finished."


@dataclass(slots=True)
class Imports:
    """`on_imported`: called with the projects that were added to. `memories`: where those of an import go."""

    context: Context
    on_imported: Callable[[frozenset[int]], None]
    memories: "Callable[[], MemoryImport]"
    _running: threading.Lock = field(default_factory=threading.Lock)

    def at_work(self) -> bool:
        return self._running.locked()

    def run(self, request: Json) -> Generator[Json, None, None]:
        """`what`, `path`, `dry_run`, and what the source needs. Yields the progress; the last answer has
        `over` or `error`, unless the worker stops before that."""
        if not self._running.acquire(timeout=BUSY_SECONDS):
            yield {"error": BUSY}
            return
        try:
            yield from self._steps(request)
        except AforesaidError as error:
            yield {"error": str(error)}
        except Exception as error:
            log.warning("import.failed", error=log.cause(error))
            what = type(error).__name__
            yield {"error": f"It could not be imported ({what}). See `aforesaid worker logs`."}
        finally:
            self._running.release()

    def _steps(self, request: Json) -> Generator[Json, None, None]:
        from aforesaid.transfer import importer

        undo, source = bool(request["dry_run"]), self._source(request)
        store, redactor = self.context.store, self.context.redactor
        steps = importer.run(store, source, self.memories(), redactor=redactor, undo=undo)
        log.action("import.began", what=request["what"], dry_run=undo)
        progress, end = importer.Progress(), time.monotonic() + STEP_SECONDS
        try:
            for progress in steps:
                if time.monotonic() >= end:
                    yield _describe(source, progress) | {"over": False}
                    end = time.monotonic() + STEP_SECONDS
                if not self.context.go_on():
                    return
        finally:
            steps.close()
            log.action("import.ended", dry_run=undo, **progress.new)
            if not undo and progress.projects:
                self.on_imported(frozenset(progress.projects))
        yield _describe(source, progress) | {"over": True}

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
