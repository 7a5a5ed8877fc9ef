"""A plan that is checked and carried out, as one change; and what came of it.

Whatever was edited by hand since it was read is taken out of the plan, with everything that belongs to it,
and the rest is checked again. Memories that were merged change together or not at all, even if somebody edits
one of them in the last moment.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from recollect.english import count
from recollect.errors import Edited, MemoryRefused
from recollect.memory.dream import recall_check
from recollect.memory.dream.dream_lock import Held
from recollect.memory.dream.plan import MERGE, RETIRE, Operation, Plan, Refusal, deed, told
from recollect.memory.history.entries import unified
from recollect.memory.storage.changes import Change, Memories
from recollect.memory.storage.folders import Folder
from recollect.memory.storage.format import render
from recollect.model.memories import StoredMemory
from recollect.text import one_line

REASON = "dream"
TRIES = 3  # to write, while somebody edits
SHOWN = 3  # questions, in a reason


@dataclass(frozen=True, slots=True)
class Dream:
    """What a dream did, or would do. `before` and `after`: the texts of files below the folder of all
    memories, None for one that goes. `given_up`: why nothing was changed though something was planned.
    `unanswered`: why the model said nothing. `noticed`: what the user may want to mend. `entry`: in the
    history."""

    operations: tuple[Operation, ...] = ()
    refused: tuple[Refusal, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str | None] = field(default_factory=dict)
    given_up: str | None = None
    unanswered: str | None = None
    noticed: tuple[str, ...] = ()
    entry: str | None = None
    kept_by_hand: tuple[str, ...] = ()
    completed: bool = True

    @property
    def diff(self) -> str:
        """Of the files, as git shows it."""
        after = {path: None if text is None else text.encode() for path, text in self.after.items()}
        return unified({path: text.encode() for path, text in self.before.items()}, after)

    @property
    def told(self) -> list[str]:
        """What it did, what was refused and what is left to the user, in lines for people."""
        refused = [f"refused: {each.what}: {each.why}" for each in self.refused]
        return [*told(self.operations), *refused, *self.noticed]


def settle(
    plan: Plan, memories: Memories, find: recall_check.Find, *, dry_run: bool, held: Held
) -> Dream:
    shown = Dream()
    for _ in range(TRIES):
        plan = plan.without(_edited(plan, memories))
        shown = _shown(plan, memories)
        if not plan.operations:
            return shown
        if lost := _not_found(plan, find):
            return _given_up(shown, lost)
        if dry_run:
            return shown
        try:
            return _write(plan, memories, shown, held)
        except Edited:
            continue
        except MemoryRefused as refused:
            return replace(_given_up(shown, str(refused)), completed=False)
    return replace(_given_up(shown, "memories were edited again and again"), completed=False)


def _given_up(shown: Dream, why: str) -> Dream:
    """All of it: nothing was done."""
    refused = (Refusal(deed(one), "the whole dream was given up") for one in shown.operations)
    return Dream(refused=(*shown.refused, *refused), given_up=why)


def _edited(plan: Plan, memories: Memories) -> list[str]:
    """Memories that take part and are no longer what was read; also one that only replaces another."""
    names = {name for one in plan.operations for name in one.touched}
    now = {name: memories.get(name, plan.read[name].scope) for name in names}
    return [
        name
        for name, stored in now.items()
        if stored is None or stored.checksum != plan.read[name].checksum
    ]


def _not_found(plan: Plan, find: recall_check.Find) -> str | None:
    """Why the plan must not be carried out: questions that were answered before it and are not after."""
    before, after = list(plan.read.values()), list(plan.stored.values())
    dropped = {
        name: "\n".join(each.fact for each in one.dropped)
        for one in plan.operations
        for name in one.names
    }
    lost = recall_check.worse(
        recall_check.questions(before), before, after, plan.successor, dropped, find
    )
    if not lost:
        return None
    shown = "; ".join(f"{each.about} by “{one_line(each.text, 80)}”" for each in lost[:SHOWN])
    return f"{count(len({each.about for each in lost}), 'memory')} would not be found as before: {shown}"


def _write(plan: Plan, memories: Memories, shown: Dream, held: Held) -> Dream:
    with memories.change(_reason(plan), forgiving=True) as change:
        if not held.is_mine():
            raise MemoryRefused("another dream has taken over")
        for group in plan.tied():
            _tie(change, memories, [plan.read[name] for name in sorted(group)])
        for name, memory in plan.changed.items():
            change.write(memory, expected=plan.read[name].checksum)
        for name, gone in plan.gone.items():
            expected = plan.read[name].checksum
            change.retire(name, gone.why, plan.successor(name), expected=expected)
    names = tuple(n for n, stored in plan.read.items() if stored.path in change.kept_by_hand)
    done = plan.without(names)
    paths = {_below(done.read[name], memories) for name in {*done.changed, *done.gone}}
    return replace(
        shown,
        operations=tuple(done.operations),
        refused=tuple(done.refused),
        before={path: text for path, text in shown.before.items() if path in paths},
        after={path: text for path, text in shown.after.items() if path in paths},
        entry=change.entry,
        kept_by_hand=names,
    )


def _tie(change: Change, memories: Memories, group: list[StoredMemory]) -> None:
    """Whatever is put into these files later goes in together. For a merge that is made by half is a loss."""
    word = f"{REASON} {group[0].memory.name}"
    for stored in group:
        change.put(stored.path, change.content(stored.path), together=word)
        folder = memories.places.retired_of(Folder(stored.path.parent, stored.scope))
        place, number = folder.file(stored.memory.name), 1
        while change.content(place) is not None:
            number += 1
            place = folder.file(f"{stored.memory.name}-{number}")
        change.put(place, None, together=word)


def _shown(plan: Plan, memories: Memories) -> Dream:
    changed = plan.changed
    before: dict[str, str] = {}
    after: dict[str, str | None] = {}
    for name in sorted({*changed, *plan.gone}):
        stored = plan.read[name]
        below = _below(stored, memories)
        with suppress(OSError):  # edited in this moment: that will be seen
            before[below] = stored.path.read_text("utf-8", "replace")
            after[below] = render(changed[name]) if name in changed else None
    return Dream(
        *(tuple(plan.operations), tuple(plan.refused), before, after), noticed=tuple(plan.noticed)
    )


def _below(stored: StoredMemory, memories: Memories) -> str:
    return stored.path.relative_to(memories.places.root).as_posix()


def _reason(plan: Plan) -> str:
    merged = sum(len(one.names) for one in plan.operations if one.kind == MERGE)
    retired = sum(one.kind == RETIRE for one in plan.operations)
    rewritten = len({one.names[0] for one in plan.operations if one.kind not in (MERGE, RETIRE)})
    head = f"{REASON}: {merged} merged, {retired} retired, {rewritten} rewritten"
    return "\n".join([head, "", *told(plan.operations)])
