"""What a tool call works on: the store, the search over it, and the agent's project; and the call itself.

The server lives as long as the agent's session, while the database may appear, be replaced or be repaired.
Calls run one after the other, so each uses one store from beginning to end.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aforesaid import log, switches, wiring
from aforesaid.agents.registry import DEFAULT, current_session, project_directory
from aforesaid.clock import Clock
from aforesaid.errors import AforesaidError, NotFound, StoreError, StoreMissing
from aforesaid.mcp.tools import BY_NAME
from aforesaid.memory.changes import Memories
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.model.sessions import Where, place_of
from aforesaid.parameters import read
from aforesaid.paths import Paths
from aforesaid.recall import resolve
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


def call(context: "Context", name: str, arguments: Mapping[str, object] | None) -> Reply:
    """Always returns a reply: a server that died would take all tools with it."""
    tool = BY_NAME.get(name)
    if tool is None:
        return Reply(f"There is no such tool. There are: {', '.join(BY_NAME)}.", is_error=True)
    try:
        context.close_replaced()
        text = tool.run(context, read(tool.parameters, arguments))
        if why := context.paused():
            text = f"{text}\n{PAUSED.format(why=why)}"
        return Reply(sqlite_safe(text))
    except AforesaidError as error:
        if isinstance(error, StoreError):
            context.close()
        why = str(error)
    except Exception as error:  # a bug, a damaged file
        context.close()
        log.warning("tool.failed", tool=tool.name, error=log.cause(error))
        why = FAILED.format(why=type(error).__name__)
    return Reply(sqlite_safe(fenced(why)), is_error=True)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a call may look. `project_id` is None for all projects."""

    project_id: int | None
    label: str

    def holds(self, project_id: int) -> bool:
        return self.project_id is None or self.project_id == project_id


class Context:
    """Opens the store when it is first needed, and again after an error or when its file was replaced."""

    def __init__(self, env: Mapping[str, str], clock: Clock) -> None:
        self.clock = clock
        try:
            self.directory = project_directory(env)
        except OSError:  # it was removed
            self.directory = os.sep
        self.session = current_session(env)
        self.paths = Paths.of(env)
        self._env = env
        self._file: tuple[int, int] | None = None  # device and inode of the database

    def close_replaced(self) -> None:
        file = None
        with suppress(OSError):
            found = self.paths.database.stat()
            file = found.st_dev, found.st_ino
        if file != self._file:
            self.close()
            self._file = file

    def close(self) -> None:
        if store := self.__dict__.pop("store", None):
            store.close()
        for name in ("searcher", "ranker"):
            self.__dict__.pop(name, None)

    @cached_property
    def store(self) -> Store:
        return wiring.open_for_reading(self.paths)

    @cached_property
    def searcher(self) -> Searcher:
        return wiring.searcher(self.store, wiring.home(self._env).settings, self.clock)

    @cached_property
    def ranker(self) -> MemoryRanker:
        return MemoryRanker(self.searcher.encoder)

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
            if pause.is_requested(now) and pause.covers(where, session):
                return "the user has paused it"
        return None

    def path(self, name: str) -> str:
        return name.removeprefix(self.directory.rstrip("/") + "/").removeprefix("./")

    def _current_project(self) -> int | None:
        return self.store.projects.find_at(self.directory)
