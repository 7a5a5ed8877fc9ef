"""The worker's answers to hooks, put together without a worker."""

import os

from aforesaid import wiring
from aforesaid.clock import Clock
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.hook_answers import HookAnswers
from aforesaid.worker.memory import MemoryRecall
from tests.support.context import make_context


def made(paths: Paths, store: Store, clock: Clock) -> HookAnswers:
    settings = wiring.home(os.environ).settings
    home = wiring.Home(paths, settings)
    telling = MemoryRecall(
        store,
        lambda directory: wiring.memories(home, directory, clock),
        settings,
        MemoryRanker(None),
        lambda _: None,
    )
    return HookAnswers(make_context(paths, store, clock), telling)
