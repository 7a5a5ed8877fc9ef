"""Observations that a person has folded into another: they say the same, on somebody's word."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Merged:
    """`into`: the one that stands for both, which may be what the named one was folded into itself. `moved`:
    those that were folded into the first, and are now folded into the second."""

    id: int
    into: int
    moved: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unmergeable:
    """Why the two are left as they are, and what to do instead."""

    why: str


@dataclass(frozen=True, slots=True)
class Merge:
    """One that can be taken back."""

    id: int
    into: int
    at: int
