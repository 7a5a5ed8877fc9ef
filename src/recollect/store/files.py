"""What can be done with a database as a file, while nobody has it open for writing or in spite of that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

Progress = Callable[[int, int], None]  # how much is done, and of how much


def nothing(_done: int, _total: int) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds, counted by table."""

    schema: int
    rows: dict[str, int]


@dataclass(slots=True)
class Salvaged:
    """By table. `lost`: ids that neither the file nor the backup can tell of; `at_least`: tables whose end
    cannot be read, so that there may have been more; `torn`: tables with any gap. `orphans`: rows that
    belonged to one that is lost."""

    read: dict[str, int] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    at_least: set[str] = field(default_factory=set)
    torn: set[str] = field(default_factory=set)
    orphans: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the write-ahead log reaches. `salt` is another one each time it begins anew; `frames`: pages
    that were committed to it."""

    salt: str
    frames: int


class Log(Protocol):
    def reach(self) -> Reach | None: ...

    def close(self) -> None:
        """When nothing of the database is open any more."""
        ...


class DatabaseFiles(Protocol):
    """Whatever says what is wrong says it in a few words, without content; None is well."""

    def copy(self, source: Path, target: Path, progress: Progress = nothing) -> Contents:
        """A snapshot, while others write, without what can be made again."""
        ...

    def check(self, path: Path) -> Contents:
        """Raises StoreDamaged."""
        ...

    def version(self, path: Path) -> int: ...

    def newest_version(self) -> int: ...

    def roll_back(self, path: Path) -> None:
        """What a writer that was killed had begun. Only for the holder of the worker's lock, before it looks:
        readers may not do it, so that the file seems damaged to them."""
        ...

    def glance(self, path: Path) -> str | None: ...

    def quick(self, path: Path, seconds: float) -> tuple[str | None, bool]:
        """And whether that was long enough to look at everything."""
        ...

    def certain(self, path: Path) -> str | None: ...

    def salvage(
        self, damaged: Path, backup: Path | None, target: Path, progress: Progress = nothing
    ) -> Salvaged | None: ...

    def ready(
        self, path: Path, since: int | None = None, *, passed_over: int | None = None
    ) -> None:
        """A copy is brought up to date and its index noted as missing. `since`: transcripts that were written
        to later will be read again. `passed_over`: those that were not written to after that will not."""
        ...

    def log_of(self, database: Path) -> Log:
        """Of a database that this process has open."""
        ...

    def log_lost(self, database: Path, known: Reach) -> bool: ...

    def newest_event(self, database: Path) -> int:
        """Its id; 0 if there is none."""
        ...

    def parts(self, database: Path) -> tuple[Path, ...]:
        """The file, its log, and what else belongs to it; in this order."""
        ...
