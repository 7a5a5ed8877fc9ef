"""What the API works on. The worker gives it; nothing here knows the worker."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect.clock import Clock
from recollect.memory.choosing.finding import Finder
from recollect.memory.storage.changes import Memories
from recollect.recall.search import Searcher
from recollect.store.protocol import Reading
from recollect.web.happenings import Happenings
from recollect.wiring import Home

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Backend:
    """`store` may be read from any thread. `order`: has the worker do something, as commands do over its
    socket (`worker/orders.py`), and gives its answer. `status`: what `recollect status` shows of the worker.
    `capture`: puts a hook's payload (hook, session's directory, bytes) into the spool; the capture's id.
    `stopping`: nobody may wait any longer. `give_way`: waits while a hook is answered."""

    home: Home
    clock: Clock
    store: Reading
    searcher: Searcher
    finder: Finder
    memories: Callable[[str], Memories]
    order: Callable[..., Json]
    status: Callable[[], Json]
    capture: Callable[[str, str, bytes], str]
    happenings: Happenings
    stopping: Callable[[], bool] = lambda: False
    give_way: Callable[[], None] = lambda: None
