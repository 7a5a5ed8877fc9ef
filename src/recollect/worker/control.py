"""What the user decides on, put together: what is not recorded, what grows too old, what goes for good."""

import threading
from collections.abc import Callable
from typing import Any

from recollect.clock import Clock
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.wiring import Home
from recollect.worker.briefs import Briefs
from recollect.worker.erasing import Eraser
from recollect.worker.memory_work import MemoryWork
from recollect.worker.pausing import Pausing
from recollect.worker.projects import ProjectFinder
from recollect.worker.retention import Retention, let_go

Json = dict[str, Any]


class Control:
    eraser: Eraser  # once the rest of the worker is there

    def __init__(self, home: Home, store: Store, clock: Clock, finder: ProjectFinder) -> None:
        self._paths, self._store, self._clock = home.paths, store, clock
        settings = home.settings
        self.pausing = Pausing(store, finder, clock, lambda: settings.names("capture.skip_dirs"))
        self.retention = Retention(store, settings, clock)

    def erase_with(
        self,
        busy: threading.Lock,
        briefs: Briefs,
        finder: ProjectFinder,
        memories: MemoryWork,
        redactor: Redactor,
        new_backup: Callable[[], str | None],
        go_on: Callable[[], bool],
        wake: Callable[[], None],
        on_fault: Callable[[Exception | None], None],
    ) -> None:
        self.eraser = Eraser(
            *(self._paths, self._store, self._clock, busy, briefs, finder, self.pausing, memories),
            *(redactor, new_backup, go_on, wake, on_fault),
        )

    def verbs(self) -> dict[str, Callable[[Json], Json]]:
        return self.pausing.verbs() | self.eraser.verbs()

    def begin(self) -> None:
        self.eraser.resume()

    def let_go(self, size: int) -> int:
        """Where the disk is short: see `retention`."""
        return let_go(self._store, self._clock, self.eraser.go_on, size)

    def idle(self) -> bool:
        return not self.eraser.at_work()

    def wait(self) -> None:
        self.eraser.wait()
