"""The changes that a dream plans."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from aforesaid.model.memories import Memory, StoredMemory

MERGE, RETIRE, REWRITE = "merge", "retire", "rewrite"


class DroppedFact(NamedTuple):
    """A fact that no memory will state any more."""

    fact: str
    why: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`names`: the memories it touches. `into`: the one that stays, or replaces the retired one.
    `description` and `body`: what a model proposes for a merge; an empty description stays as it is."""

    kind: str
    names: tuple[str, ...]
    why: str
    into: str | None = None
    dropped: tuple[DroppedFact, ...] = ()
    description: str = ""
    body: str = ""

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(filter(None, (*self.names, self.into)))

    def __str__(self) -> str:
        names = ", ".join(self.names)
        if self.kind == MERGE:
            return f"{names} → {self.into}" if self.into else f"merge {names}"
        if self.kind == RETIRE:
            return f"{names} retired" + (f", replaced by {self.into}" if self.into else "")
        return f"{names} rewritten"


class Refusal(NamedTuple):
    """A proposal that is not carried out."""

    what: str
    why: str


@dataclass(slots=True)
class Plan:
    """`read`: the memories as found. `retired_before`: by name, what replaced those that were retired
    earlier. `standing`: as they will be. `gone`: what retires the others. `noticed`: problems left to the
    user."""

    read: Mapping[str, StoredMemory]
    retired_before: Mapping[str, str | None] = field(default_factory=dict)
    standing: dict[str, Memory] = field(init=False)
    gone: dict[str, Operation] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    noticed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.standing = {name: stored.memory for name, stored in self.read.items()}

    @property
    def changed(self) -> dict[str, Memory]:
        """The memories that stay with another content."""
        return {n: m for n, m in self.standing.items() if m != self.read[n].memory}

    @property
    def stored(self) -> dict[str, StoredMemory]:
        """The memories that stay, where they are."""
        return {name: replace(self.read[name], memory=m) for name, m in self.standing.items()}

    def successor(self, name: str) -> str | None:
        """The memory that takes its place: itself, or the end of the chain of replacements, also of
        `retired_before`."""
        replaced = {**self.retired_before, **{gone: one.into for gone, one in self.gone.items()}}
        seen = set()
        while name not in self.standing and name not in seen:
            seen.add(name)
            name = replaced.get(name) or ""
        return name if name in self.standing else None

    def merge(
        self, kept: Memory, gone: Iterable[str], why: str, dropped: tuple[DroppedFact, ...] = ()
    ) -> None:
        self.standing[kept.name] = kept
        self._retire(Operation(MERGE, tuple(gone), why, kept.name, dropped))

    def retire(
        self, name: str, why: str, replaced_by: str | None, dropped: tuple[DroppedFact, ...] = ()
    ) -> None:
        self._retire(Operation(RETIRE, (name,), why, replaced_by, dropped))

    def rewrite(self, memory: Memory, why: str) -> None:
        if memory != self.standing[memory.name]:
            self.standing[memory.name] = memory
            self.operations.append(Operation(REWRITE, (memory.name,), why))

    def notice(self, pinned: Memory, what: str) -> None:
        self.noticed.append(f"{pinned.name} is pinned and stays as it is: {what}")

    def _retire(self, operation: Operation) -> None:
        """An earlier rewrite of a retired memory is no longer reported."""
        for name in operation.names:
            del self.standing[name]
            self.gone[name] = operation
        self.operations = [
            one for one in self.operations if one.kind != REWRITE or one.names[0] in self.standing
        ]
        self.operations.append(operation)


def describe_operations(operations: Iterable[Operation]) -> Iterator[str]:
    for one in operations:
        yield f"{one}: {one.why}"
        yield from (f"  dropped: {each.fact} ({each.why})" for each in one.dropped)
