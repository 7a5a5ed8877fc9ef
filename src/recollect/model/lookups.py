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
    """An observation has a file or a concept in common with another, as have `spread` in all."""

    id: int
    what: str
    name: str
    spread: int
