"""What the memory knows about files, and what observations have in common."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownFile:
    """`observations`: how many speak of it; `changes`: how many of them changed it."""

    path: str
    observations: int
    changes: int
    last_at: int


@dataclass(frozen=True, slots=True)
class Shared:
    """A file or a concept that observations have in common with another. `spread`: how many in all, up
    to a number from which on it tells nothing."""

    what: str
    name: str
    ids: tuple[int, ...]
    spread: int


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """The files that an observation speaks of, each with what git called its content then."""

    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    blobs: tuple[tuple[str, str], ...]

    @property
    def draft(self) -> "NamedFiles":
        """For `freshness.of`, which looks at nothing else of an observation."""
        return self
