"""Which project a directory belongs to, cached as long as the same repository is there."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from aforesaid.clock import MINUTE, Clock
from aforesaid.hook.capture import repository_mark
from aforesaid.repository import Repository, identify
from aforesaid.store.store import Store

Signature = tuple[str, tuple[int, int, int] | None]


@dataclass(frozen=True, slots=True)
class _Known:
    project_id: int | None  # None: it has not been looked up, or there is none
    resolved: bool  # the store has noted the directory and the repository
    repository: Repository
    signature: Signature
    until: int | None  # a repository without commits may get one unseen


class ProjectFinder:
    """Git may take seconds for a repository. Only callers for the same directory wait for it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()  # of the following; nothing slow happens under it
        self._known: dict[str, _Known] = {}
        self._directory_locks: dict[str, threading.RLock] = defaultdict(threading.RLock)
        self._version = 0  # another one once something was forgotten

    def of(self, directory: str) -> int:
        """Returns the project, which is created if it is new."""
        with self._directory(directory) as version:
            known = self._look(directory, version)
            project_id = known.project_id if known.resolved else None
            if project_id is None and not Path(directory).is_dir():
                project_id = self._store.projects.find_by_dir(directory)
            if project_id is None:
                now = self._clock()
                project_id = self._store.projects.resolve(known.repository, directory, now)
            self._keep(directory, replace(known, project_id=project_id, resolved=True), version)
            return project_id

    def find(self, directory: str) -> int | None:
        with self._directory(directory) as version:
            known = self._look(directory, version)
            if known.project_id is not None:
                return known.project_id
            found = self._store.projects.find_at(directory, known.repository)
            self._keep(directory, replace(known, project_id=found), version)
            return found

    def repository(self, directory: str) -> Repository:
        """With the identities of the project that it belongs to. Nothing is stored: a search for memories is
        no work there."""
        with self._directory(directory) as version:
            found = self.find(directory)
            repository = self._look(directory, version).repository
        return self._store.projects.owning_repository(repository, found)

    def unproven_remote(self, directory: str) -> str | None:
        """A remote of the repository that other projects have too, whose first commit it does not contain."""
        with self._directory(directory) as version:
            project_id = self.of(directory)
            repository = self._look(directory, version).repository
        found = self._store.projects.unproven_remote(repository, project_id)
        return found[0] if found else None

    def forget(self, directory: str) -> None:
        with self._lock:
            self._known.pop(directory, None)
            self._version += 1

    def forget_all(self) -> None:
        """After projects were linked, imported or purged."""
        with self._lock:
            self._known.clear()
            self._version += 1

    @contextmanager
    def _directory(self, directory: str) -> Iterator[int]:
        """Locks a directory. Yields the version of the cache."""
        with self._lock:
            lock = self._directory_locks[directory]
        with lock:
            with self._lock:
                version = self._version
            yield version

    def _keep(self, directory: str, known: _Known, version: int) -> None:
        with self._lock:
            if version == self._version:
                self._known[directory] = known

    def _look(self, directory: str, version: int) -> _Known:
        with self._lock:
            known = self._known.get(directory)
        if known is None or not self._holds(known, directory):
            known = self._read(directory)
            self._keep(directory, known, version)
        return known

    def _holds(self, known: _Known, directory: str) -> bool:
        fresh = known.until is None or self._clock() < known.until
        return fresh and _signature(directory, known.repository.root) == known.signature

    def _read(self, directory: str) -> _Known:
        repository = identify(directory)
        weak = all(each.kind != "commit" for each in repository.identities)
        until = self._clock() + MINUTE if weak else None
        signature = _signature(directory, repository.root)
        return _Known(None, False, repository, signature, until)


def _signature(directory: str, root: str) -> Signature:
    """It changes when another repository takes the place, and when the remote does. The change time of a file
    cannot be set, so a replaced configuration is noticed even under the same inode number."""
    try:
        found = Path(root, ".git", "config").stat()
        config = found.st_ino, found.st_ctime_ns, found.st_size
    except (OSError, ValueError):
        config = None
    return repository_mark(directory), config
