"""The worker's answers to hooks, put together without a worker."""

import os

from recollect import wiring
from recollect.clock import Clock
from recollect.memory.choosing.finding import Finder
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.worker.briefs import Briefs
from recollect.worker.memory_telling import MemoryTelling
from recollect.worker.projects import ProjectFinder


def made(paths: Paths, store: Store, clock: Clock) -> Briefs:
    settings = wiring.home(os.environ).settings
    home = wiring.Home(paths, settings)
    telling = MemoryTelling(
        store,
        lambda directory: wiring.memories(home, directory, clock),
        settings,
        Finder(None),
        lambda _: None,
    )
    return Briefs(
        paths=paths,
        store=store,
        agents=wiring.AGENTS,
        finder=ProjectFinder(store, clock),
        settings=settings,
        clock=clock,
        problem=lambda: None,
        searcher=wiring.searcher(store, settings, clock),
        memories=telling,
        expect_a_question=lambda: None,
    )
