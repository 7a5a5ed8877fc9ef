"""A memory of a data set in a real store of its own, in a folder that is thrown away."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recollect import settings as settings_module
from recollect import wiring
from recollect.bench.recall.sets import AGENT, Memory
from recollect.encoders.protocol import Encoder
from recollect.errors import ConfigError
from recollect.model.records import SessionRecord
from recollect.paths import Paths
from recollect.store.protocol import Store
from recollect.worker.indexing import Indexer

Show = Callable[[int, int], None]  # done, total
ENCODERS = ("static", "minilm", "none")


def unseen(_done: int, _total: int) -> None:
    """For who does not watch."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """`names`: the data set's names by the store's numbers. `seconds`: storing and indexing."""

    store: Store
    names: dict[int, str]
    projects: dict[str, int]
    seconds: float


def encoder_named(name: str) -> Encoder | None:
    """As the setting `recall.encoder` would choose it. A missing one is an error: the figures would be those
    of the words alone."""
    env = {"RECOLLECT_RECALL_ENCODER": name}
    settings = settings_module.load(Path("/nonexistent"), env)
    if problem := wiring.encoder_problem(settings):
        raise ConfigError(problem)
    return wiring.encoder(settings)


@contextmanager
def temporary_paths() -> Iterator[Paths]:
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        paths = Paths.of({"RECOLLECT_HOME": folder})
        paths.make()
        yield paths


@contextmanager
def loaded(memory: Memory, encoder: Encoder | None) -> Iterator[Loaded]:
    with temporary_paths() as paths:
        store = wiring.open_for_writing(paths, encoder)
        try:
            began = time.perf_counter()
            store.begin_import()
            for block in memory.sessions:
                store.take(block)
            store.end_import()
            Indexer(store, wiring.AGENTS).run()
            took = time.perf_counter() - began
            projects = {project.name: project.id for project in store.projects()}
            yield Loaded(store, _names(store, memory), projects, took)
        finally:
            store.close()


def _names(store: Store, memory: Memory) -> dict[int, str]:
    """Rows of a session are numbered in the order in which they came."""
    names: dict[int, str] = {}
    told = iter(memory.observations)
    for block in memory.sessions:
        session = next(part for part in block if isinstance(part, SessionRecord))
        row = store.session_by_ref(AGENT, session.ref)
        assert row is not None
        for key in sorted(each.id for each in store.observations_of_session(row.id)):
            names[key] = next(told).observation
    assert next(told, None) is None, "some observations were not stored"
    return names
