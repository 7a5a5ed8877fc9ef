"""Which project a directory belongs to, remembered as long as its repository has not changed."""

import threading
from pathlib import Path

from recollect.clock import Clock
from recollect.repository import identify
from recollect.store.protocol import Store

Signature = tuple[int, int]


class ProjectFinder:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, Signature, int]] = {}

    def of(self, directory: str) -> int:
        """Git is asked once per directory; a new remote, or another repository in the same place,
        changes the configuration file and so asks again."""
        with self._lock:
            if known := self._known.get(directory):
                config, signature, project_id = known
                if _signature(config) == signature:
                    return project_id
            repository = identify(directory)
            project_id = self._store.resolve_project(repository, directory, self._clock())
            config = str(Path(repository.root, ".git", "config"))
            found = _signature(config)
            # Without a commit or a remote the identity may still get stronger.
            if found is not None and repository.identities[0].kind != "path":
                self._known[directory] = (config, found, project_id)
            return project_id


def _signature(path: str) -> Signature | None:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns
