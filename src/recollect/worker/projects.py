"""Which project a directory belongs to, remembered as long as its repository has not changed."""

import threading
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.clock import MINUTE, Clock
from recollect.repository import Repository, identify
from recollect.store.protocol import Store

Signature = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class _Known:
    project_id: int | None  # None: nobody has worked there, as far as we have been asked
    repository: Repository
    config: Path
    signature: Signature
    until: int | None  # a directory without commit and remote may get a stronger identity unseen


class ProjectFinder:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}

    def of(self, directory: str) -> int:
        """Git is asked once per directory; a new remote, or another repository in the same place,
        changes the configuration file and so asks again."""
        with self._lock:
            known = self._of(directory)
            if known.project_id is not None:
                return known.project_id
            found = self._store.resolve_project(known.repository, directory, self._clock())
            self._known[directory] = replace(known, project_id=found)
            return found

    def repository(self, directory: str) -> Repository:
        """Without a note of it in the store: whoever looks for memories has not worked there."""
        with self._lock:
            return self._of(directory).repository

    def _of(self, directory: str) -> _Known:
        known = self._known.get(directory)
        if known is None or not self._holds(known):
            known = self._known[directory] = self._ask(directory)
        return known

    def forget(self, directory: str) -> None:
        with self._lock:
            self._known.pop(directory, None)

    def forget_all(self) -> None:
        """Projects are no longer what they were."""
        with self._lock:
            self._known.clear()

    def _holds(self, known: _Known) -> bool:
        fresh = known.until is None or self._clock() < known.until
        return fresh and _signature(known.config) == known.signature

    def _ask(self, directory: str) -> _Known:
        repository = identify(directory)
        config = Path(repository.root, ".git", "config")
        weak = repository.identities[0].kind == "path"
        until = self._clock() + MINUTE if weak else None
        return _Known(None, repository, config, _signature(config), until)


def _signature(config: Path) -> Signature:
    try:
        found = config.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns
