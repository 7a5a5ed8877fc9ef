"""One erasure on its way: what was asked for, and what has to be known of it after a kill.

It is noted in a file of its own until it is done: in the database it would be one more trace.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from recollect.errors import RecollectError
from recollect.memory.storage import files
from recollect.memory.storage.folders import is_memory_file
from recollect.memory.storage.projects import NOTE
from recollect.model.erasing import Changing, Erasure, Matching, read
from recollect.model.evidence import observations_in
from recollect.paths import Paths
from recollect.worker.erasing_names import Names

UNREADABLE = (
    "An erasure was not finished; its order cannot be read. Erase it again with `recollect purge`."
)
HEAD = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n.*?\n---", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Plan:
    """`observations`: those that go, since memories name them. `places`: files and folders of memories that
    go as a whole, below the folder of all memories. `names`: of memories that went. `at`: when it was
    asked for."""

    wanted: Erasure
    at: int
    observations: frozenset[int] = frozenset()
    places: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def save(self, paths: Paths) -> None:
        """From here on it will be done, whoever has to finish it."""
        said = {
            "wanted": asdict(self.wanted),
            "at": self.at,
            "observations": sorted(self.observations),
            "places": self.places,
            "names": sorted(self.names),
        }
        files.write(paths.erasing_file, json.dumps(said).encode())

    def knowing(
        self, observations: frozenset[int] = frozenset(), names: Iterable[str] = ()
    ) -> "Plan":
        seen = self.observations | observations
        return replace(self, observations=seen, names=self.names.union(names))


def load(paths: Paths) -> Plan | None:
    """What was left. One that cannot be read cannot be done: it goes, and RecollectError says so."""
    try:
        said: dict[str, Any] = json.loads(paths.erasing_file.read_bytes())
        seen = frozenset(map(int, said["observations"]))
        return Plan(
            read(said["wanted"]),
            int(said["at"]),
            seen,
            tuple(map(str, said["places"])),
            frozenset(map(str, said["names"])),
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        files.remove(paths.erasing_file)
        raise RecollectError(UNREADABLE) from None


@dataclass(frozen=True, slots=True)
class Sieve:
    """What may stay of a memory's file. `matching` and `changing` where a text or secrets are erased.
    `dropped`: the names of memories that went."""

    plan: Plan
    matching: Matching | None = None
    changing: Changing | None = None
    dropped: set[str] = field(default_factory=set)
    _names: Names = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", Names(self.plan.names))

    def __call__(self, path: str, data: bytes) -> bytes | None:
        """Its content from now on; None: it goes. Without a path it is what somebody gave as a reason."""
        kept = self._kept(path, data)
        if kept is not None and self._names:
            text = kept.decode("utf-8", "surrogateescape")
            return self._names.changed(text).encode("utf-8", "surrogateescape")
        file = PurePosixPath(path)
        if kept is None and is_memory_file(file.name) and not path.startswith("sessions/"):
            self.dropped.add(file.stem)
        return kept

    def _kept(self, path: str, data: bytes) -> bytes | None:
        name = PurePosixPath(path).stem
        places = (path == each or path.startswith(f"{each}/") for each in self.plan.places)
        if path and (self._names.has(name) or any(places)):
            return None
        text = data.decode("utf-8", "surrogateescape")
        if path and self._is_derived(text):
            return None
        if self.matching is None or self.changing is None:
            return data
        if not self.matching(text):
            return None if path and self.matching(name.replace("-", " ")) else data
        whole = path and self.plan.wanted.what == "text" and not path.endswith(NOTE)
        return None if whole else self.changing(text).encode("utf-8", "surrogateescape")

    def _is_derived(self, text: str) -> bool:
        head = HEAD.match(text) if self.plan.observations else None
        return head is not None and bool(self.plan.observations & observations_in(head[0]))
