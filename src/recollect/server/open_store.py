"""The database that is open, lent to the calls that look into it.

It may come, be replaced or be mended while the server lives, so whoever borrows gets the one that is there
now. One that is no longer wanted is closed by the last call that uses it: SQLite does not survive that a
connection is closed while another thread asks it something.
"""

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollect import wiring
from recollect.clock import Clock
from recollect.memory.choosing.finding import Finder
from recollect.recall.search import Searcher
from recollect.store.protocol import Reading


@dataclass(slots=True, eq=False)
class Opened:
    file: tuple[int, int]
    store: Reading
    searcher: Searcher
    finder: Finder
    users: int = 0


class OpenStore:
    def __init__(self, env: Mapping[str, str], clock: Clock) -> None:
        self._env, self._clock = env, clock
        self._lock = threading.Lock()
        self._current: Opened | None = None

    def borrow(self) -> Opened:
        """Every one must be given back."""
        with self._lock:
            home = wiring.home(self._env)
            file = _identity(home.paths.database)
            if self._current is None or self._current.file != file:
                self._retire()
                store = wiring.open_for_reading(home.paths)
                searcher = wiring.searcher(store, home.settings, self._clock)
                finder = Finder(searcher.encoder)
                self._current = Opened(file, store, searcher, finder)
            self._current.users += 1
            return self._current

    def give_back(self, opened: Opened, *, broken: bool = False) -> None:
        """`broken`: nobody else shall get it; it may be mended before the next call."""
        with self._lock:
            opened.users -= 1
            if opened is self._current:
                if broken:
                    self._retire()
            elif opened.users == 0:
                opened.store.close()

    def close(self) -> None:
        with self._lock:
            self._retire()

    def _retire(self) -> None:
        if self._current is not None and self._current.users == 0:
            self._current.store.close()
        self._current = None


def _identity(database: Path) -> tuple[int, int]:
    with suppress(OSError):
        found = database.stat()
        return found.st_dev, found.st_ino
    return 0, 0
