"""The changes that a dream plans, and those that a model proposes.

A reply is read leniently; `checks.py` judges the content.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from aforesaid.memory.replies import Unusable, json_values
from aforesaid.model.memories import Memory, StoredMemory
from aforesaid.text import clean, one_line

MERGE, RETIRE, REWRITE = "merge", "retire", "rewrite"
MAX_OPERATIONS = 200
MAX_WHY, MAX_FACT, MAX_DESCRIPTION, MAX_BODY = 300, 400, 200, 20_000
NO_REASON = "no reason given"

Entry = dict[str, Any]


class DroppedFact(NamedTuple):
    """A fact that no memory will state any more."""

    fact: str
    why: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`names`: the memories it touches. `into`: the one that stays, or replaces the retired one. A proposal
    also has the new text; an empty `description` stays as it is."""

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
        return f"{self.names[0]} rewritten"


class Refusal(NamedTuple):
    """A proposal that is not carried out."""

    what: str
    why: str


class Proposal(NamedTuple):
    operations: tuple[Operation, ...] = ()
    ignored: tuple[Refusal, ...] = ()


class Retirement(NamedTuple):
    why: str
    replaced_by: str | None


@dataclass(slots=True)
class Plan:
    """`read`: the memories as found. `standing`: as they will be. `gone`: those that will be retired.
    `noticed`: problems that are left to the user."""

    read: Mapping[str, StoredMemory]
    standing: dict[str, Memory] = field(init=False)
    gone: dict[str, Retirement] = field(default_factory=dict)
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
        """The memory that takes its place: itself, or the end of the chain of replacements."""
        seen = set()
        while name in self.gone and name not in seen:
            seen.add(name)
            name = self.gone[name].replaced_by or ""
        return name if name in self.standing else None

    def merge(
        self, kept: Memory, gone: Iterable[str], why: str, dropped: tuple[DroppedFact, ...] = ()
    ) -> None:
        names = tuple(gone)
        self.standing[kept.name] = kept
        for name in names:
            self._remove(name, why, kept.name)
        self.operations.append(Operation(MERGE, names, why, kept.name, dropped))

    def retire(
        self, name: str, why: str, replaced_by: str | None, dropped: tuple[DroppedFact, ...] = ()
    ) -> None:
        self._remove(name, why, replaced_by)
        self.operations.append(Operation(RETIRE, (name,), why, replaced_by, dropped))

    def rewrite(self, memory: Memory, why: str) -> None:
        if memory != self.standing[memory.name]:
            self.standing[memory.name] = memory
            self.operations.append(Operation(REWRITE, (memory.name,), why))

    def notice(self, pinned: Memory, what: str) -> None:
        self.noticed.append(f"{pinned.name} is pinned and stays as it is: {what}")

    def _remove(self, name: str, why: str, replaced_by: str | None) -> None:
        """An earlier rewrite of a retired memory is no longer reported."""
        self.operations = [
            one for one in self.operations if (one.kind, one.names[0]) != (REWRITE, name)
        ]
        del self.standing[name]
        self.gone[name] = Retirement(why, replaced_by)


def describe_operations(operations: Iterable[Operation]) -> Iterator[str]:
    for one in operations:
        yield f"{one}: {one.why}"
        yield from (f"  dropped: {each.fact} ({each.why})" for each in one.dropped)


def read_proposal(reply: str, names: Collection[str]) -> Proposal | Unusable:
    """`names`: the memories that the model was shown."""
    values = list(json_values(clean(reply)))
    if not values:
        return Unusable("the model's reply holds no JSON")
    operations: dict[Operation, None] = {}
    ignored: list[Refusal] = []
    for kind, entry in (each for value in values for each in _entries(value)):
        read = _read_operation(kind, entry)
        if unknown := [name for name in read.names if name not in names]:
            ignored.append(Refusal(str(read), f"there is no memory called {', '.join(unknown)}"))
        read = replace(read, names=tuple(name for name in read.names if name in names))
        why = ""
        if kind == MERGE and len(read.names) < 2:
            why = "it names fewer than two memories"
        elif not read.names:
            continue
        elif read.into and read.into not in names:
            why = f"there is no memory called {read.into} to replace it"
        elif kind != RETIRE and not read.body:
            why = "it has no new text"
        if why:
            ignored.append(Refusal(str(read), why))
        else:
            operations[read] = None
    return Proposal(tuple(operations)[:MAX_OPERATIONS], tuple(ignored[:MAX_OPERATIONS]))


def _entries(value: Any) -> Iterator[tuple[str, Entry]]:
    for each in _as_list(value):
        if isinstance(each, dict) and {"name", "names"} & each.keys():  # the reply was cut off
            yield MERGE if "names" in each else REWRITE if each.get("body") else RETIRE, each
    for kind in (MERGE, RETIRE, REWRITE):
        for entry in _as_list(value.get(kind)) if isinstance(value, dict) else ():
            if isinstance(entry, dict):
                yield kind, entry
            elif isinstance(entry, str) and kind == RETIRE:
                yield RETIRE, {"name": entry}


def _read_operation(kind: str, entry: Entry) -> Operation:
    """Only a merge may have several names."""
    listed = _as_list(entry.get("names") or entry.get("name"))
    names = [_get_name(each) for each in listed] or [""]
    dropped = [each for each in _as_list(entry.get("dropped")) if isinstance(each, dict)]
    facts = [
        DroppedFact(
            one_line(_get_text(each, "fact"), MAX_FACT),
            one_line(_get_text(each, "why"), MAX_WHY),
        )
        for each in dropped[:MAX_OPERATIONS]
    ]
    return Operation(
        kind,
        tuple(dict.fromkeys(names if kind == MERGE else names[:1])),
        one_line(_get_text(entry, "why"), MAX_WHY) or NO_REASON,
        into=(_get_name(entry.get("replaced_by")) or None) if kind == RETIRE else None,
        # One without a reason counts as lost silently.
        dropped=tuple(each for each in facts if each.fact and each.why),
        description=one_line(_get_text(entry, "description"), MAX_DESCRIPTION),
        body=_get_text(entry, "body"),
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _get_name(value: Any) -> str:
    """As a model may write it: with its suffix, in brackets."""
    if not isinstance(value, str) or value.strip().lower() in ("null", "none"):
        return ""
    return one_line(value, 200).strip("[]`\"' ").removesuffix(".md")


def _get_text(entry: Entry, key: str) -> str:
    found = entry.get(key)
    return clean(found[:MAX_BODY]).strip() if isinstance(found, str) else ""
