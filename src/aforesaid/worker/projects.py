"""Which project a directory belongs to, cached as long as the same repository is there."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aforesaid.clock import MINUTE, Clock
from aforesaid.hook.capture import repository_mark
from aforesaid.repository import Repository, identify
from aforesaid.store.store import Store


class _Place:
    """What is known of a directory. `project_id`: None until it is looked up, or if there is none.
    `resolved`: the store has noted the directory and the repository. `until`: a repository without commits
    may get one unseen."""

    repository: Repository
    project_id: int | None = None
    resolved = False

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.signature: object = None
        self.until: int | None = None

    def look(self, directory: str, now: int) -> None:
        """Asks git, unless the same repository is there. That may take seconds."""
        fresh = self.signature is not None and (self.until is None or now < self.until)
        if fresh and self.signature == _signature(directory, self.repository.root):
            return
        self.repository = identify(directory)
        weak = all(each.kind != "commit" for each in self.repository.identities)
        self.until = now + MINUTE if weak else None
        self.signature = _signature(directory, self.repository.root)
        self.project_id, self.resolved = None, False


class ProjectFinder:
    """Only callers for the same directory wait for git."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._projects, self._clock = store.projects, clock
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}

    def of(self, directory: str) -> int:
        """Returns the project, which is created if it is new."""
        with self._at(directory) as place:
            if place.project_id is None or not place.resolved:
                there = Path(directory).is_dir()
                known = None if there else self._projects.find_by_dir(directory)
                if known is None:
                    known = self._projects.resolve(place.repository, directory, self._clock())
                place.project_id, place.resolved = known, True
            return place.project_id

    def find(self, directory: str) -> int | None:
        with self._at(directory) as place:
            if place.project_id is None:
                place.project_id = self._projects.find_at(directory, place.repository)
            return place.project_id

    def repository(self, directory: str) -> Repository:
        """With the identities of the project that it belongs to. Nothing is stored: a search for memories is
        no work there."""
        with self._at(directory) as place:
            return self._projects.owning_repository(place.repository, self.find(directory))

    def unproven_remote(self, directory: str) -> str | None:
        """A remote of the repository that other projects have too, whose first commit it does not contain."""
        with self._at(directory) as place:
            found = self._projects.unproven_remote(place.repository, self.of(directory))
        return found[0] if found else None

    def forget(self, directory: str) -> None:
        with self._lock:
            self._places.pop(directory, None)

    def forget_all(self) -> None:
        """After projects were linked, imported or purged. A lookup in progress is not cached."""
        with self._lock:
            self._places.clear()

    @contextmanager
    def _at(self, directory: str) -> Iterator[_Place]:
        with self._lock:
            place = self._places.setdefault(directory, _Place())
        with place.lock:
            place.look(directory, self._clock())
            yield place


def _signature(directory: str, root: str) -> tuple[str, tuple[int, int, int] | None]:
    """It changes when another repository takes the place, and when the remote does. The change time of a file
    cannot be set, so a replaced configuration is noticed even under the same inode number."""
    try:
        found = Path(root, ".git", "config").stat()
        config = found.st_ino, found.st_ctime_ns, found.st_size
    except (OSError, ValueError):
        config = None
    return repository_mark(directory), config
