"""What a tool call works on: the store, the search over it, and the agent's project; and the call itself.

The server lives as long as the agent's session, while the database may appear, be replaced or be repaired. A
call uses one store from beginning to end, whatever happens to the database meanwhile.
"""

import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aforesaid import clock as clocks
from aforesaid import log, switches, wiring
from aforesaid.agents.registry import DEFAULT, current_session, project_directory
from aforesaid.clock import Clock
from aforesaid.errors import AforesaidError, NotFound, StoreError, StoreMissing
from aforesaid.freshness import Freshness
from aforesaid.mcp.tools import BY_NAME
from aforesaid.memory.changes import Memories
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.model.observations import Observation
from aforesaid.model.sessions import COMMAND, Where, place_of
from aforesaid.parameters import Misused, read
from aforesaid.paths import Paths
from aforesaid.recall import resolve
from aforesaid.recall.results import HitDetails
from aforesaid.recall.search import Searcher
from aforesaid.repository import identify
from aforesaid.store.store import Store
from aforesaid.text import fenced, one_line, sqlite_safe

ALL = "all"
LOOK_IN_ALL = f" Pass project='{ALL}' to look in other projects."
LOOK_IN_ONE = " Pass the name of another project to look there."
AGENT = DEFAULT.name
PAUSED = "(aforesaid is paused here: {why}. Nothing of this session is recorded.)"
FAILED = "aforesaid could not do this ({why}). Run `aforesaid doctor` to find out why."


@dataclass(frozen=True, slots=True)
class Reply:
    """`is_error`: the text says what to do about it."""

    text: str
    is_error: bool = False


@cache
def process_context() -> "Context":
    return Context(os.environ, clocks.now)


def call(context: "Context", name: str, arguments: Mapping[str, object] | None) -> Reply:
    """Always returns a reply: a server that died would take all tools with it."""
    tool = BY_NAME.get(name)
    if tool is None:
        return Reply(f"There is no such tool. There are: {', '.join(BY_NAME)}.", is_error=True)
    try:
        values = read(tool.parameters, arguments)
        with context.open() as opened:
            text = tool.run(opened, values)
            if why := opened.paused():
                text = f"{text}\n{PAUSED.format(why=why)}"
            return Reply(sqlite_safe(text))
    except (Misused, AforesaidError) as error:
        why = str(error)
    except Exception as error:  # a bug, a damaged file
        log.warning("tool.failed", tool=tool.name, error=log.cause(error))
        why = FAILED.format(why=type(error).__name__)
    return Reply(sqlite_safe(fenced(why)), is_error=True)


class OpenStore:
    """Closed when its last user drops it: SQLite crashes if a connection is closed while in use."""

    def __init__(self, home: wiring.Home, clock: Clock) -> None:
        self.store = wiring.open_for_reading(home.paths)
        self.searcher = wiring.searcher(self.store, home.settings, clock)
        self.ranker = MemoryRanker(self.searcher.encoder)
        # Not at the end of the process, when calls may still be running.
        weakref.finalize(self, self.store.close).atexit = False


class StorePool:
    """Shares one open store between calls, and opens the file again when it was replaced."""

    def __init__(self, env: Mapping[str, str], clock: Clock) -> None:
        self._env, self._clock = env, clock
        self._lock = threading.Lock()
        self._file: tuple[int, int] | None = None  # device and inode
        self._current: OpenStore | None = None

    def get(self) -> OpenStore:
        with self._lock:
            home = wiring.home(self._env)
            file = None
            with suppress(OSError):
                found = home.paths.database.stat()
                file = found.st_dev, found.st_ino
            if self._current is None or self._file != file:
                self._current = None
                self._current, self._file = OpenStore(home, self._clock), file
            return self._current

    def drop(self, opened: OpenStore | None = None) -> None:
        """It, or whichever is current, is not used again; it may be repaired before the next call."""
        with self._lock:
            if opened in (None, self._current):
                self._current = None


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a call may look. `project_id` is None for all projects."""

    project_id: int | None
    label: str

    def holds(self, project_id: int) -> bool:
        return self.project_id is None or self.project_id == project_id


class Context:
    """Of the server, or of one call: see `open`. Opens the store when it is first needed."""

    def __init__(self, env: Mapping[str, str], clock: Clock, pool: StorePool | None = None) -> None:
        self.clock = clock
        try:
            self.directory = project_directory(env)
        except OSError:  # it was removed
            self.directory = os.sep
        self.session = current_session(env)
        self._env = env
        self._pool = pool or StorePool(env, clock)
        self._opened: OpenStore | None = None

    @contextmanager
    def open(self) -> Iterator["Context"]:
        """The context of one call in one thread. After an error of the database, or an unknown one, the next
        call opens the database again."""
        context = Context(self._env, self.clock, self._pool)
        try:
            yield context
        except Exception as error:
            expected = isinstance(error, Misused | AforesaidError)
            if context._opened and (not expected or isinstance(error, StoreError)):
                self._pool.drop(context._opened)
            raise
        finally:
            context._opened = None

    def close(self) -> None:
        self._opened = None
        self._pool.drop()

    def _open(self) -> OpenStore:
        self._opened = self._opened or self._pool.get()
        return self._opened

    @property
    def paths(self) -> Paths:
        return Paths.of(self._env)

    @property
    def store(self) -> Store:
        return self._open().store

    @property
    def searcher(self) -> Searcher:
        return self._open().searcher

    @property
    def ranker(self) -> MemoryRanker:
        return self._open().ranker

    def scope(self, project: str | None, *, hint: str = LOOK_IN_ALL) -> Scope:
        """This project, another one by its name or folder, or all of them. NotFound lists the projects, and
        says what else can be done (`hint`)."""
        store = self.store
        if project == ALL:
            return Scope(None, "all projects")
        if project:
            named = resolve.find_project(store, project, Path(self.directory))
            return Scope(named.id, named.name)
        found = self._current_project()
        if found is None:
            raise NotFound(f"Nothing is remembered of {one_line(self.directory, 200)} yet.{hint}")
        return Scope(found, store.projects.get(found).name)

    def memories(self, project_id: int | None = None) -> Memories:
        """Those of a project, or (None) of the agent's own, which there are without a store, too."""
        home = wiring.home(self._env)
        if project_id is None:
            repository, directory = identify(self.directory), self.directory
            with suppress(StoreMissing):
                repository = self.store.projects.owning_repository(
                    repository, self._current_project()
                )
        else:
            repository = self.store.projects.repository(project_id)
            directory = repository.root
        return wiring.memories(home, directory, self.clock, self._env, repository)

    def freshness(self, observation: Observation) -> Freshness:
        return HitDetails(self.store).freshness_of(observation)

    def paused(self) -> str | None:
        """Why nothing of this session is recorded; None where it is."""
        skipped = wiring.home(self._env).settings.names("capture.skip_dirs")
        off = switches.off_reason_in_env(self._env) or switches.off_reason(self.directory, skipped)
        if off:
            return off
        try:
            project = self._current_project()
        except StoreMissing:
            return None
        # By directory, too: a project may have been erased while it was paused.
        known = self.store.projects.get(project) if project is not None else None
        root = known.root if known else identify(self.directory).root
        where, now = Where(project, place_of(root)), self.clock()
        session = (AGENT, self.session) if self.session else None
        for pause in self.store.sessions.pauses():
            if pause.origin == COMMAND and pause.holds(now) and pause.covers(where, session):
                return "the user has paused it"
        return None

    def path(self, name: str) -> str:
        return name.removeprefix(self.directory.rstrip("/") + "/").removeprefix("./")

    def _current_project(self) -> int | None:
        return self.store.projects.find_at(self.directory)
