"""What the tools work on: the store, the search over it, and the project that the agent is in.

The server lives as long as the agent's session, and every call is a visit: it works with one store from its
first look to its end, whatever becomes of the database meanwhile. Nothing here writes: see `memories`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from recollect import freshness, switches, wiring
from recollect.clock import Clock
from recollect.errors import NotFound, RecollectError, StoreError, StoreMissing
from recollect.freshness import Freshness
from recollect.memory.choosing.finding import Finder
from recollect.memory.storage.changes import Memories
from recollect.model.observations import Observation
from recollect.model.pauses import COMMAND, Where, place_of
from recollect.model.sessions import Project
from recollect.parameters import Misused
from recollect.paths import Paths
from recollect.recall.search import Searcher
from recollect.repository import identify, project_directory
from recollect.server.open_store import Opened, OpenStore
from recollect.store.protocol import Reading
from recollect.text import fenced, one_line

ALL = "all"
LOOK_IN_ALL = f" Pass project='{ALL}' to look in other projects."
LOOK_IN_ONE = " Pass the name of another project to look there."
AGENT = "claude-code"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a call may look. `project_id` is None for all projects."""

    project_id: int | None
    label: str

    def holds(self, project_id: int) -> bool:
        return self.project_id is None or self.project_id == project_id


class Place:
    """Of the server, or of one call: see `visit`."""

    def __init__(
        self, env: Mapping[str, str], clock: Clock, lender: OpenStore | None = None
    ) -> None:
        self.clock = clock
        self.directory = _directory(env)
        self.session = env.get("CLAUDE_CODE_SESSION_ID") or None
        self._env = env
        self._lender = lender or OpenStore(env, clock)
        self._borrowed: Opened | None = None

    @contextmanager
    def visit(self) -> Iterator["Place"]:
        """The place, for one call in one thread. Trouble with the database, or trouble that nobody knows, has
        the next call open it anew; a worker or a setting that failed has not."""
        visit = Place(self._env, self.clock, self._lender)
        broken = False
        try:
            yield visit
        except Exception as error:
            known = isinstance(error, (Misused, RecollectError))
            broken = not known or isinstance(error, StoreError)
            raise
        finally:
            visit._leave(broken=broken)

    @property
    def paths(self) -> Paths:
        return Paths.of(self._env)

    @property
    def finder(self) -> Finder:
        return self._open().finder

    @property
    def store(self) -> Reading:
        return self._open().store

    @property
    def searcher(self) -> Searcher:
        return self._open().searcher

    def close(self) -> None:
        self._leave()
        self._lender.close()

    def scope(self, project: str | None, *, elsewhere: str = LOOK_IN_ALL) -> Scope:
        """This project, another one by its name or folder, or all of them. NotFound says what there is, and
        what the tool can do instead (`elsewhere`)."""
        store = self.store
        if project == ALL:
            return Scope(None, "all projects")
        found = self._named(project) if project else self._here()
        if found is None:
            here = fenced(one_line(self.directory, 200))
            raise NotFound(f"Nothing is remembered of {here} yet.{elsewhere}")
        return Scope(found, store.project(found).name)

    def memories(self, project_id: int | None = None) -> Memories:
        """The curated ones that hold in a project; None: in the one that the agent is in."""
        root = self.directory if project_id is None else self.store.project(project_id).root
        return wiring.memories(wiring.home(self._env), root, self.clock, self._env)

    def own_session(self) -> int | None:
        """The session that asks, if it is known."""
        found = self.store.session_by_ref(AGENT, self.session) if self.session else None
        return found.id if found else None

    def freshness(self, observation: Observation) -> Freshness:
        """What has become of the files that it speaks of, where its session worked."""
        root = self.store.project(observation.project_id).root
        session = self.store.session(observation.session_id)
        where = freshness.directory(session.project_dir if session else root, root)
        return freshness.of(observation, where)

    def paused(self) -> str | None:
        """Why nothing of this session is recorded; None where it is."""
        skipped = wiring.home(self._env).settings.names("capture.skip_dirs")
        if why := switches.told_off(self._env) or switches.off(self.directory, skipped):
            return why
        try:
            store, where = self.store, self._where()
        except StoreMissing:
            return None
        session = (AGENT, self.session) if self.session else None
        now = self.clock()
        held = (each for each in store.pauses() if each.origin == COMMAND and each.holds(now))
        return "the user has paused it" if any(p.covers(where, session) for p in held) else None

    def path(self, name: str) -> str:
        """As observations name their files: seen from the project's directory."""
        return name.removeprefix(self.directory.rstrip("/") + "/").removeprefix("./")

    def _here(self) -> int | None:
        store = self.store
        return store.project_of_dir(self.directory) or store.find_project(identify(self.directory))

    def _where(self) -> Where:
        """By the place too: a project may have been erased while it was paused."""
        project = self._here()
        root = (
            identify(self.directory).root if project is None else self.store.project(project).root
        )
        return Where(project, place_of(root))

    def _named(self, name: str) -> int:
        projects = self.store.projects()
        found = [p for p in projects if p.root == name] or [p for p in projects if p.name == name]
        if len(found) == 1:
            return found[0].id
        if found:
            folders = ", ".join(fenced(one_line(p.root, 120)) for p in found[:10])
            raise NotFound(f"Several projects are called that. Give the folder: {folders}.")
        raise NotFound(f"There is no such project. There are: {_names(projects)}.")

    def _open(self) -> Opened:
        if self._borrowed is None:
            self._borrowed = self._lender.borrow()
        return self._borrowed

    def _leave(self, *, broken: bool = False) -> None:
        if self._borrowed is not None:
            self._lender.give_back(self._borrowed, broken=broken)
            self._borrowed = None


def _directory(env: Mapping[str, str]) -> str:
    try:
        return project_directory(env)
    except OSError:  # it was removed under us
        return os.sep


def _names(projects: list[Project]) -> str:
    names = sorted({fenced(one_line(project.name, 60)) for project in projects})
    return ", ".join(names[:30]) or "none yet"
