"""What the worker does with curated memories, put together: telling, extracting, dreaming."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from recollect import log, wiring
from recollect.clock import Clock
from recollect.encoders.protocol import Encoder
from recollect.errors import MemoryRefused
from recollect.memory.choosing.finding import Finder
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.incoming import Incoming
from recollect.memory.storage.outgoing import places_of_user
from recollect.privacy.redactor import Redactor
from recollect.repository import Repository
from recollect.store.protocol import Store
from recollect.synthesis.asking import Asking
from recollect.wiring import AGENTS, Choice, Home
from recollect.worker.announcing import Announcing
from recollect.worker.dreaming import Dreamer
from recollect.worker.extracting import Extractor
from recollect.worker.gate import Gate, GatedModel
from recollect.worker.memory_telling import MemoryTelling

KEPT_SECONDS = 30.0  # which folders there are for a directory
TIDY_SECONDS = 3600.0
MOST_KNOWN = 64  # directories
SLOW = ("claude",)  # a whole agent is started for a question: no prompt can wait for that


class MemoryWork:
    def __init__(
        self,
        home: Home,
        store: Store,
        choice: Choice,
        gate: Gate,
        clock: Clock,
        changed: Callable[[int], None],
        repository: Callable[[str], Repository],
        encoder: Encoder | None,
        env: Mapping[str, str] | None = None,
        announcing: Announcing | None = None,
        hides: Redactor | None = None,
    ) -> None:
        self._home, self._store, self._clock = home, store, clock
        self._choice, self._gate = choice, gate
        self._repository = repository
        self._env = os.environ if env is None else env
        self._hides = hides or wiring.redactor(home, self._env)
        self._next_tidy = 0.0
        self._known: dict[tuple[str, ...], tuple[float, Memories]] = {}
        settings = home.settings
        finder = Finder(encoder)
        self.telling = MemoryTelling(store, self.of, settings, finder, self._quick)
        self.announcing = announcing = announcing or Announcing(store, clock)
        self.extractor = Extractor(
            store, AGENTS, self.of, settings, clock, changed, announcing.memories
        )
        self.dreamer = Dreamer(
            home.paths,
            store,
            self.of,
            settings,
            clock,
            lambda: self._asking(None),
            changed,
            finder,
            announcing.dreamed,
        )

    def of(self, directory: str) -> Memories:
        settings = self._home.settings
        # With what may be set anew meanwhile.
        key = directory, settings.text("memory.client"), settings.text("memory.team_folder")
        until, found = self._known.get(key, (0.0, None))
        if found is None or time.monotonic() > until:
            repository = self._repository(directory)
            told = (self._env, repository, self._hides)
            found = wiring.memories(self._home, directory, self._clock, *told)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = (time.monotonic() + KEPT_SECONDS, found)
        return found

    def tidy(self) -> None:
        """Now and then: the history of all memories."""
        if time.monotonic() < self._next_tidy:
            return
        self._next_tidy = time.monotonic() + TIDY_SECONDS
        try:
            Memories(places_of_user(self._home.paths.memory), self._clock).tidy()
        except (MemoryRefused, OSError) as error:  # somebody is writing; there will be another time
            log.warning("memory.not_tidied", error=log.cause(error))

    def look_again(self) -> None:
        """Folders may have been made elsewhere."""
        self._known.clear()

    def incoming(self) -> Incoming:
        """For one import."""
        return Incoming(self._home.paths.memory, self._clock)

    def _quick(self, session_id: int) -> Asking | None:
        model = self._choice.model
        return None if model is None or model.name in SLOW else self._asking(session_id)

    def _asking(self, session_id: int | None) -> Asking | None:
        model = self._choice.model
        if model is None or self._gate.closed():
            return None
        heard = replace(self._choice, model=GatedModel(model, self._gate))
        return heard.asking(self._store, self._clock, session_id)
