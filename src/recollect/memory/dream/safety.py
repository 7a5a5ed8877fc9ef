"""Which of a model's proposals are carried out. A model may be wrong, lazy, or misled by what it reads. The
code decides, and refuses with a reason:

- the whole proposal, if it takes away more than a set share of the memories;
- whatever drops a pinned memory or changes a byte of it;
- whatever puts an agent's words into the user's memory, or one project's into one that is told in all;
- whatever loses a fact without saying so: every number, path, address and name, and every sentence that says
  something, is found again in what stays, or is listed as dropped with a reason;
- whatever adds a fact that none of its sources has;
- of two that contradict each other, the retirement of the newer and better evidenced one, and of the user's
  word for an agent's.

What is refused does not take the rest with it. Sources are data: no sentence in a memory is obeyed here.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.memory.dream.duplicates import (
    better,
    joined,
    may_replace,
    normal,
    unrepeated,
    why_not_gain,
    why_not_replace,
)
from recollect.memory.dream.fact_checks import (
    SHOWN,
    Told,
    Unsafe,
    given_up,
    missing,
    refuse_both_of_a_contradiction,
    refuse_invented,
    told_by,
)
from recollect.memory.dream.plan import REWRITE, Dropped, Plan
from recollect.memory.dream.proposals import Merge, Proposal, Proposed, Retire, Rewrite
from recollect.memory.dream.stale import unmarked
from recollect.model.memories import StoredMemory
from recollect.text import one_line

SHARE = 0.3  # of the memories: more do not go in one dream


def judge(plan: Plan, proposal: Proposal) -> None:
    """Puts what is safe into the plan, and the reasons why the rest is not."""
    for ignored in proposal.ignored:
        plan.refuse(ignored.what, ignored.why)
    total, going = len(plan.standing), _going(proposal)
    if going and len(going) > SHARE * total:
        plan.refuse(
            f"all {len(proposal.operations)} proposals",
            f"they would take away {len(going)} of {total} memories, and {SHARE:.0%} may go at once",
        )
        return
    judged = _Judge(plan)
    for proposed in proposal.operations:
        try:
            judged.carry_out(proposed)
        except Unsafe as unsafe:
            plan.refuse(_named(proposed), str(unsafe))


def _going(proposal: Proposal) -> set[str]:
    """Counted over everything that was proposed, also what would be refused."""
    going: set[str] = set()
    for proposed in proposal.operations:
        match proposed:
            case Merge(names=names):
                going |= set(names[1:])
            case Retire(name=name):
                going.add(name)
            case Rewrite():
                pass
    return going


class _Judge:
    """`changed`: memories that a proposal has dealt with already. `needed`: those that replace another."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stored = plan.stored
        self._changed: dict[str, str] = {}
        self._needed: set[str] = set()

    def carry_out(self, proposed: Proposed) -> None:
        match proposed:
            case Merge():
                self._merge(proposed)
            case Retire():
                self._retire(proposed)
            case Rewrite():
                self._rewrite(proposed)

    def _merge(self, merge: Merge) -> None:
        sources = [self._untouched(name) for name in merge.names]
        if apart := _kept_apart(sources):
            self._stand_in(merge, _ordered(sources), apart)
            return
        body = unrepeated(unmarked(merge.body))
        new = Told.of(merge.description, body)
        refuse_invented(merge.description, body, sources)
        refuse_both_of_a_contradiction(sources, new.all)
        kept = _keeper(sources, new)
        dropped = {
            source.memory.name: given_up(
                source,
                new,
                merge.dropped,
                [
                    *(other for other in sources if other is not source),
                    *self._notes_against(source),
                ],
            )
            for source in sources
            if source is not kept
        }
        # What was said for a fact that is dropped does not speak for the one that stays.
        agreed = [each.memory for each in sources if dropped.get(each.memory.name) == []]
        memory = joined(kept.memory, [replace(each, body="") for each in agreed])
        memory = replace(
            memory,
            description=merge.description or kept.memory.description,
            body=body,
            replaces=tuple(dict.fromkeys((*kept.memory.replaces, *dropped))),
        )
        facts = tuple(fact for each in dropped.values() for fact in each)
        self._plan.merge(memory, dropped, merge.why, facts)
        self._note(_named(merge), *merge.names)

    def _stand_in(self, merge: Merge, sources: Sequence[StoredMemory], apart: str) -> None:
        """The best stays as it is, whatever text was proposed; the others go if it says all that they say."""
        kept, *others = sources
        dropped: list[Dropped] = []
        for other in others:
            if why := why_not_replace(kept, other):
                raise Unsafe(why)
            try:
                dropped += given_up(other, told_by(kept), (), [kept])
            except Unsafe as unsafe:
                raise Unsafe(f"{apart}, so {kept.memory.name} stays as it is: {unsafe}") from None
        gone = [other.memory.name for other in others]
        self._plan.merge(kept.memory, gone, merge.why, tuple(dropped))
        self._note(_named(merge), *merge.names)

    def _retire(self, retire: Retire) -> None:
        gone = self._untouched(retire.name)
        if gone.memory.pinned:
            raise Unsafe("it is pinned")
        if retire.name in self._needed:
            raise Unsafe("it replaces another one in this dream")
        by = self._successor(retire, gone)
        others = [by] if by else []
        rivals = [*others, *self._notes_against(gone)]
        dropped = given_up(gone, told_by(*others), retire.dropped, rivals)
        name = by.memory.name if by else None
        self._plan.retire(retire.name, retire.why, name, tuple(dropped))
        self._note(_named(retire), retire.name)
        self._needed |= {name} if name else set()

    def _notes_against(self, gone: StoredMemory) -> list[StoredMemory]:
        """What agents noted: none of it makes the user's word untrue, also where nobody names it."""
        if gone.memory.by_agent:
            return []
        return [each for each in self._stored.values() if each.memory.by_agent]

    def _successor(self, retire: Retire, gone: StoredMemory) -> StoredMemory | None:
        """What was named, or else the one that says all that this one says."""
        if retire.replaced_by is None:
            others = (each for name, each in self._plan.stored.items() if name != retire.name)
            return next(
                (
                    o
                    for o in others
                    if may_replace(o, gone) and not missing(gone.memory, told_by(o))
                ),
                None,
            )
        name = self._plan.successor(retire.replaced_by)
        if name is None or name == retire.name:
            raise Unsafe(f"{retire.replaced_by}, which should replace it, goes as well")
        by = self._plan.stored[name]
        if why := why_not_replace(by, gone):
            raise Unsafe(why)
        return by

    def _rewrite(self, rewrite: Rewrite) -> None:
        source = self._untouched(rewrite.name)
        old = source.memory
        if old.pinned:
            raise Unsafe("it is pinned")
        description = rewrite.description or old.description
        body = unrepeated(unmarked(rewrite.body))
        new = Told.of(description, body)
        if normal(f"{description} {body}") == normal(f"{old.description} {old.body}"):
            raise Unsafe("it says the same as before")
        refuse_invented(description, body, [source])
        if gone := missing(old, new):
            raise Unsafe(f"it loses “{one_line(gone[0].text, SHOWN)}”")
        memory = replace(old, description=description, body=body)
        self._plan.rewrite(memory, REWRITE, rewrite.why)
        self._note(_named(rewrite), rewrite.name)

    def _untouched(self, name: str) -> StoredMemory:
        if before := self._changed.get(name):
            raise Unsafe(f"{name} is in “{before}” already")
        return self._stored[name]

    def _note(self, what: str, *names: str) -> None:
        self._changed |= dict.fromkeys(names, what)


def _kept_apart(sources: Sequence[StoredMemory]) -> str | None:
    """Why these cannot be told as one."""
    pairs = ((one, other) for one in sources for other in sources if one is not other)
    return next(filter(None, (why_not_gain(*pair) for pair in pairs)), None)


def _ordered(sources: Sequence[StoredMemory]) -> list[StoredMemory]:
    """The best first."""
    return sorted(
        sources, key=lambda one: sum(better(one, other) for other in sources), reverse=True
    )


def _keeper(sources: Sequence[StoredMemory], new: Told) -> StoredMemory:
    """The best whose own text is kept whole: the others can be restored, its old text cannot."""
    ordered = _ordered(sources)
    for source in ordered:
        if not missing(source.memory, new):
            return source
    first = missing(ordered[0].memory, new)[0].text
    raise Unsafe(f"it loses “{one_line(first, SHOWN)}”")


def _named(proposed: Proposed) -> str:
    match proposed:
        case Merge(names=names):
            return f"merge {', '.join(names)}"
        case Retire(name=name, replaced_by=by):
            return f"retire {name}" + (f" for {by}" if by else "")
        case Rewrite(name=name):
            return f"rewrite {name}"
