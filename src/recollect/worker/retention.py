"""What was captured long ago loses its content, as the settings say; what was made of it stays.

In small steps that give way to hooks. Where space is short, `let_go` goes on with the oldest, whatever the
settings say: contents first, then what search finds of them, never what is remembered.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recollect import log
from recollect.clock import DAY, Clock
from recollect.model.retention import Freed
from recollect.settings import Settings
from recollect.store.protocol import Store

AT_ONCE = 200  # events in a transaction
EVERY_SECONDS = 3600.0


@dataclass(slots=True)
class Retention:
    store: Store
    settings: Settings
    clock: Clock
    _next: float = field(default=0.0)

    def if_due(self, go_on: Callable[[], bool]) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY_SECONDS
        if days := self.settings.number("retention.days"):
            self.age_out(self.clock() - days * DAY, go_on)

    def age_out(self, before: int, go_on: Callable[[], bool]) -> int:
        """How many events lost their content."""
        count = 0
        while go_on() and (freed := self.store.age_out(before, AT_ONCE)).rows:
            count += freed.rows
        if count:
            given_back = self.store.shrink()
            log.action("retention.aged_out", events=count, given_back=given_back)
        return count


def let_go(store: Store, clock: Clock, go_on: Callable[[], bool], size: int) -> int:
    """So many bytes, if there are as many to give: of what is older than a day, as a session that goes on may
    want its own. How many were given back to the disk."""
    freed = 0
    steps: tuple[Callable[[], Freed], ...] = (
        lambda: store.age_out(clock() - DAY, AT_ONCE, keep_texts=True),
        lambda: store.drop_old_texts(AT_ONCE),
    )
    for step in steps:
        while freed < size and go_on() and (more := step()).rows:
            freed += more.size
    if not freed:
        return 0
    given_back = store.shrink(at_once=True)
    log.action("retention.let_go", freed=freed, given_back=given_back)
    return given_back
