"""A memory of a data set in a real store of its own, in a folder that is thrown away."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aforesaid import settings as settings_module
from aforesaid import wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.encoders.base import Encoder
from aforesaid.errors import ConfigError
from aforesaid.model.records import SessionRecord
from aforesaid.model.search import OBSERVATION, PROMPT, SUMMARY
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.indexing import index
from benchmarks.recall.sets import AGENT, Memory

Show = Callable[[int, int], None]  # done, total
MOST_PROMPTS = 10_000
ENCODERS = ("static", "minilm", "none")


def unseen(_done: int, _total: int) -> None:
    """For who does not watch."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """`names`: the data set's names by kind and number. `seconds`: storing and indexing."""

    store: Store
    names: dict[tuple[str, int], str]
    projects: dict[str, int]
    seconds: float


def encoder_named(name: str) -> Encoder | None:
    """As the setting `recall.encoder` would choose it. A missing one is an error: the figures would be those
    of the words alone."""
    env = {"AFORESAID_RECALL_ENCODER": name}
    settings = settings_module.load(Path("/nonexistent"), env)
    if problem := wiring.encoder_problem(settings):
        raise ConfigError(problem)
    return wiring.encoder(settings)


@contextmanager
def temporary_paths() -> Iterator[Paths]:
    with tempfile.TemporaryDirectory(prefix="aforesaid-bench-") as folder:
        paths = Paths.of({"AFORESAID_HOME": folder})
        paths.make()
        yield paths


@contextmanager
def loaded(memory: Memory, encoder: Encoder | None) -> Iterator[Loaded]:
    with temporary_paths() as paths:
        if memory.database:
            shutil.copy(memory.database, paths.database)
        store = wiring.open_for_writing(paths, encoder)
        try:
            began = time.perf_counter()
            if memory.sessions:
                store.transfer.begin()
                for block in memory.sessions:
                    store.transfer.import_records(block)
                store.transfer.end()
            list(index(store, AGENTS))
            took = time.perf_counter() - began
            projects = {project.name: project.id for project in store.projects.all()}
            names = _names(store, memory) if memory.sessions else _turns(store)
            yield Loaded(store, names, projects, took)
        finally:
            store.close()


def _turns(store: Store) -> dict[tuple[str, int], str]:
    names: dict[tuple[str, int], str] = {}
    for session in store.sessions.recent(None, 1000):
        ref = session.ref[:8]
        for observation in store.observations.for_session(session.id):
            names[OBSERVATION, observation.id] = f"{ref}/{observation.prompt_number}"
        for summary in store.summaries.for_session(session.id):
            names[SUMMARY, summary.id] = f"{ref}/{summary.prompt_number}"
    for key in range(1, MOST_PROMPTS):
        if prompt := store.sessions.prompt_by_id(key):
            owner = store.sessions.get(prompt.session_id)
            names[PROMPT, key] = f"{owner.ref[:8] if owner else ''}/{prompt.number}"
    return names


def _names(store: Store, memory: Memory) -> dict[tuple[str, int], str]:
    """Rows of a session are numbered in the order in which they came."""
    names: dict[tuple[str, int], str] = {}
    told = iter(memory.observations)
    for block in memory.sessions:
        session = next(part for part in block if isinstance(part, SessionRecord))
        row = store.sessions.find(AGENT, session.ref)
        assert row is not None
        for key in sorted(each.id for each in store.observations.for_session(row.id)):
            names[OBSERVATION, key] = next(told).observation
    assert next(told, None) is None, "some observations were not stored"
    return names
