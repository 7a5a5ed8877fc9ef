"""What a dream wants to do, before anything is done: memories as they will stand, and why.

Operations are noted as they are made, each with the names that it touches. Those that touch the same memory
belong together: if its file was edited meanwhile, all of them are left out, and the others are still good.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from recollect.memory.storage.format import checksum, render
from recollect.model.memories import Memory, StoredMemory

MERGE, RETIRE, REWRITE = "merge", "retire", "rewrite"
DATES, LINKS, STALE = "dates", "links", "stale"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A fact that no memory will tell any more, and why."""

    fact: str
    why: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`names`: what it touches. `into`: the memory that stays, or that replaces the one that goes."""

    kind: str
    names: tuple[str, ...]
    into: str | None
    why: str
    dropped: tuple[Dropped, ...] = ()

    @property
    def touched(self) -> frozenset[str]:
        return frozenset(filter(None, (*self.names, self.into)))


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was proposed and is not done."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Gone:
    why: str
    replaced_by: str | None


@dataclass(slots=True)
class Plan:
    """`read`: the memories as they were found. `standing`: as they will be. `gone`: those that will be
    retired. `noticed`: what is amiss and is left to the user, in words."""

    read: Mapping[str, StoredMemory]
    standing: dict[str, Memory] = field(init=False)
    gone: dict[str, Gone] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    noticed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.standing = {name: stored.memory for name, stored in self.read.items()}

    @property
    def stored(self) -> dict[str, StoredMemory]:
        """Those that will stand, in their places."""
        return {name: self._placed(name) for name in self.standing}

    @property
    def unpinned(self) -> dict[str, Memory]:
        return {name: memory for name, memory in self.standing.items() if not memory.pinned}

    @property
    def changed(self) -> dict[str, Memory]:
        """Those that will stand and say something else."""
        return {
            name: memory
            for name, memory in self.standing.items()
            if memory != self.read[name].memory
        }

    def _placed(self, name: str) -> StoredMemory:
        """Whoever remembers files by their checksum must not mistake the new text for the old one."""
        read, memory = self.read[name], self.standing[name]
        if memory == read.memory:
            return read
        return replace(read, memory=memory, checksum=checksum(render(memory).encode()))

    def successor(self, name: str) -> str | None:
        """What stands in its place: itself, or whatever replaces what replaces it."""
        seen = set()
        while name in self.gone and name not in seen:
            seen.add(name)
            name = self.gone[name].replaced_by or ""
        return name if name in self.standing else None

    def merge(
        self, kept: Memory, gone: Iterable[str], why: str, dropped: tuple[Dropped, ...] = ()
    ) -> None:
        names = tuple(gone)
        self.standing[kept.name] = kept
        for name in names:
            self._take(name, why, kept.name)
        self.operations.append(Operation(MERGE, names, kept.name, why, dropped))

    def retire(
        self, name: str, why: str, replaced_by: str | None, dropped: tuple[Dropped, ...] = ()
    ) -> None:
        self._take(name, why, replaced_by)
        self.operations.append(Operation(RETIRE, (name,), replaced_by, why, dropped))

    def rewrite(self, memory: Memory, kind: str, why: str, others: Iterable[str] = ()) -> None:
        """`others`: memories that it is rewritten for."""
        if memory != self.standing[memory.name]:
            self.standing[memory.name] = memory
            self.operations.append(Operation(kind, (memory.name, *others), None, why))

    def refuse(self, what: str, why: str) -> None:
        self.refused.append(Refusal(what, why))

    def notice(self, pinned: Memory, what: str) -> None:
        self.noticed.append(f"{pinned.name} is pinned and stays as it is: {what}")

    def tied(self) -> list[frozenset[str]]:
        """The memories that change together or not at all."""
        groups: list[frozenset[str]] = []
        for one in self.operations:
            near = [group for group in groups if group & one.touched]
            groups = [group for group in groups if group not in near]
            groups.append(one.touched.union(*near))
        return groups

    def without(self, names: Collection[str]) -> "Plan":
        """As if these had not been touched, nor anything that changes together with them."""
        left = {name for group in self.tied() if group & set(names) for name in group}
        kept = Plan(self.read, refused=list(self.refused), noticed=list(self.noticed))
        kept.operations = [one for one in self.operations if not one.touched & left]
        kept.gone = {name: gone for name, gone in self.gone.items() if name not in left}
        kept.standing = {
            name: stored.memory if name in left else self.standing[name]
            for name, stored in self.read.items()
            if name in left or name in self.standing
        }
        for one in self.operations:
            if one.touched & left:
                kept.refuse(deed(one), "a file was edited meanwhile")
        return kept

    def _take(self, name: str, why: str, replaced_by: str | None) -> None:
        """What was only rewritten for it is no news any more."""
        self.operations = [
            one for one in self.operations if one.kind in (MERGE, RETIRE) or one.names[0] != name
        ]
        del self.standing[name]
        self.gone[name] = Gone(why, replaced_by)


def told(operations: Iterable[Operation]) -> Iterator[str]:
    """The operations in words."""
    for one in operations:
        yield f"{deed(one)}: {one.why}"
        yield from (f"  dropped: {each.fact} ({each.why})" for each in one.dropped)


def deed(one: Operation) -> str:
    names = ", ".join(one.names)
    match one.kind:
        case "merge":
            return f"{names} → {one.into}"
        case "retire":
            return f"{names} retired" + (f", replaced by {one.into}" if one.into else "")
        case _:
            return f"{one.names[0]} rewritten"
