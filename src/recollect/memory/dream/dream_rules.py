"""What a dream does without a model: only what rules can be sure of, and nothing else. No rule touches a
pinned memory; what is amiss with one is told.
"""

from dataclasses import replace
from pathlib import Path

from recollect import clock
from recollect.memory.dream import dates, duplicates, links, stale
from recollect.memory.dream.plan import DATES, LINKS, STALE, Plan
from recollect.memory.storage import checking
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.format import ENDING, same_name, slug
from recollect.model.memories import OF_PROJECT


def merge_duplicates(plan: Plan) -> None:
    stored = plan.stored
    for group in duplicates.groups(list(stored.values())):
        kept, gone = stored[group.kept], [stored[name] for name, _ in group.gone]
        givers = [each.memory for each in gone if duplicates.may_gain(kept, each)]
        exact = all(how for _, how in group.gone)
        plan.merge(
            duplicates.joined(kept.memory, givers),
            [each.memory.name for each in gone],
            f"{'the same' if exact else 'nearly the same'} as {group.kept}",
        )


def date(plan: Plan) -> None:
    """Only where the text is of one day: of one that was changed since, nobody knows which words are new."""
    for name, memory in list(plan.unpinned.items()):
        told_on = clock.local(memory.created).date() if memory.created else None
        changed = clock.local(plan.read[name].memory.updated or memory.created).date()
        if told_on is None or changed != told_on:
            continue
        dated = replace(
            memory,
            description=dates.absolute(memory.description, memory.created),
            body=dates.absolute(memory.body, memory.created),
        )
        plan.rewrite(dated, DATES, f"dates in place of words that were true on {told_on}")


def mend_links(plan: Plan, memories: Memories) -> None:
    """A name is dead if no project has it, and it was a memory's: one was retired, or it is written like one
    and no such file is in the repository."""
    folders = [memories.places.all, memories.places.retired]
    there, retired = ({same_name(n) for each in fs for n in each.names()} for fs in folders)
    there |= {same_name(each.stem) for each in memories.places.root.glob(f"projects/*/*{ENDING}")}
    there -= {same_name(name) for name in plan.gone}
    heirs = {each.memory.name: each.memory.replaced_by for each in memories.retired().memories}
    repository = memories.places.repository

    def is_dead(name: str) -> bool:
        if same_name(name) in there:
            return False
        if name in plan.gone or same_name(name) in retired:
            return True
        in_project = repository and (Path(repository.root) / f"{name}.md").exists()
        return name == slug(name) and not in_project

    def heir(name: str) -> str | None:
        seen: set[str] = set()
        while name not in plan.standing and name not in seen:
            seen.add(name)
            name = (plan.gone[name].replaced_by if name in plan.gone else heirs.get(name)) or ""
        return name if name in plan.standing else None

    for memory in list(plan.standing.values()):
        dead = [name for name in checking.dead_links(memory, there) if is_dead(name)]
        if dead and memory.pinned:
            plan.notice(memory, f"it links to what is no longer there: {', '.join(dead)}")
        elif dead:
            tied = [each for each in dead if each in plan.gone]
            body = links.mended(memory.body, dead.__contains__, heir)
            plan.rewrite(
                replace(memory, body=body), LINKS, f"no longer there: {', '.join(dead)}", tied
            )


def mark_stale(plan: Plan, root: str, today: str) -> None:
    """Not for the user's own: their files may be in any project."""
    for name, memory in list(plan.standing.items()):
        if not root or plan.read[name].scope != OF_PROJECT or not memory.files:
            continue
        gone = checking.of(memory, root).gone
        all_gone = len(gone) == len(memory.files)
        if memory.pinned:
            if all_gone:
                plan.notice(memory, f"the files it speaks of are gone: {', '.join(gone)}")
        elif all_gone:
            body = stale.marked(memory.body, gone, today)
            plan.rewrite(replace(memory, body=body), STALE, "the files it speaks of are gone")
        else:
            body = stale.unmarked(memory.body)
            plan.rewrite(
                replace(memory, body=body), STALE, "the files it speaks of are there again"
            )


def stamp(plan: Plan, now: int) -> None:
    """`updated` is when a memory was last said, which decides between two that contradict each other. That
    its form has changed is one millisecond's worth."""
    for name, memory in plan.changed.items():
        before = plan.read[name].memory
        if memory.updated in (0, before.updated):
            said = duplicates.newest(memory)
            plan.standing[name] = replace(memory, updated=said + 1 if said else now)
