"""Decides which of a model's proposals are carried out. A model may be wrong, lazy, or misled by what it
reads. Refused, with a reason:

- the whole proposal, if it retires more than a set share of the memories;
- whatever drops a pinned memory or changes a byte of it;
- whatever puts an agent's words into the user's memory, or one project's into one that applies in all;
- whatever loses a fact silently: every number, path, address and name, and every sentence that says
  something, is in what stays, or is listed as dropped with a reason;
- whatever adds a fact that none of its sources has;
- of two that contradict each other, the retirement of the newer and better evidenced one, and of the user's
  word for an agent's.

A refused proposal does not affect the others. Memories are data: no sentence in one is obeyed here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from aforesaid import clock
from aforesaid.grounding import KnownText, invented_facts, lost_sentences
from aforesaid.memory.dream.plan import (
    MERGE,
    RETIRE,
    REWRITE,
    DroppedFact,
    Operation,
    Plan,
    Proposal,
    Refusal,
)
from aforesaid.memory.dream.rules import (
    last_stated,
    merge_memories,
    merge_obstacle,
    normalize_text,
    quality,
    remove_stale_mark,
    replace_obstacle,
)
from aforesaid.model.memories import Memory, StoredMemory
from aforesaid.similarity import Sentence, contradict, parse_sentences
from aforesaid.text import one_line

MAX_RETIRED_SHARE = 0.3  # of the memories, in one dream
MAX_QUOTED = 120  # characters of a fact, in a reason


class Unsafe(Exception):
    """The message is the reason."""


def apply_proposal(plan: Plan, proposal: Proposal) -> None:
    """Adds what is safe to the plan, and to its refusals the rest."""
    plan.refused += proposal.ignored
    # Counted over all proposals, including those that would be refused.
    going = {
        name
        for each in proposal.operations
        if each.kind != REWRITE
        for name in each.names[each.kind == MERGE :]
    }
    total = len(plan.standing)
    if going and len(going) > MAX_RETIRED_SHARE * total:
        why = f"they would take away {len(going)} of {total} memories, and "
        why += f"{MAX_RETIRED_SHARE:.0%} may go at once"
        plan.refused.append(Refusal(f"all {len(proposal.operations)} proposals", why))
        return
    check = _ProposalCheck(plan)
    for proposed in proposal.operations:
        try:
            check.carry_out(proposed)
        except Unsafe as unsafe:
            plan.refused.append(Refusal(str(proposed), str(unsafe)))


class _ProposalCheck:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stored = plan.stored
        self._changed: dict[str, str] = {}  # memories in a proposal that was carried out
        self._needed: set[str] = set()  # those that replace another

    def carry_out(self, proposed: Operation) -> None:
        for name in proposed.names:
            if before := self._changed.get(name):
                raise Unsafe(f"{name} is in “{before}” already")
        sources = [self._stored[name] for name in proposed.names]
        if proposed.kind == MERGE:
            self._merge(proposed, sources)
        elif sources[0].memory.pinned:
            raise Unsafe("it is pinned")
        elif proposed.kind == RETIRE:
            self._retire(proposed, sources[0])
        else:
            self._rewrite(proposed, sources[0])
        self._changed |= dict.fromkeys(proposed.names, str(proposed))

    def _merge(self, merge: Operation, sources: list[StoredMemory]) -> None:
        ordered = sorted(sources, key=quality, reverse=True)
        obstacles = (merge_obstacle(*pair) for pair in permutations(sources, 2))
        if why := next(filter(None, obstacles), None):
            raise Unsafe(why)
        body = remove_stale_mark(merge.body)
        new = _KeptText(merge.description, body)
        _refuse_invented(merge.description, body, sources)
        _refuse_contradiction(sources, new.all)
        # The best whose own text is kept whole: the others can be restored, its old text cannot.
        lost = {each.memory.name: new.lost(each.memory) for each in ordered}
        kept = next((each for each in ordered if not lost[each.memory.name]), None)
        if kept is None:
            raise Unsafe(f"it loses {_quote(lost[ordered[0].memory.name][0].text)}")
        dropped: dict[str, list[DroppedFact]] = {}
        for source in sources:
            if source is not kept:
                rivals = [*(o for o in sources if o is not source), *self._notes_against(source)]
                dropped[source.memory.name] = _find_dropped(source, new, merge.dropped, rivals)
        # Evidence for a fact that is dropped is no evidence for the one that stays.
        agreed = [each.memory for each in sources if dropped.get(each.memory.name) == []]
        memory = replace(
            merge_memories(kept.memory, [replace(each, body="") for each in agreed]),
            description=merge.description or kept.memory.description,
            body=body,
            replaces=tuple(dict.fromkeys((*kept.memory.replaces, *dropped))),
        )
        facts = tuple(fact for each in dropped.values() for fact in each)
        self._plan.merge(memory, dropped, merge.why, facts)

    def _retire(self, retire: Operation, gone: StoredMemory) -> None:
        if gone.memory.name in self._needed:
            raise Unsafe("it replaces another one in this dream")
        by = self._find_successor(retire, gone)
        others = [by] if by else []
        rivals = [*others, *self._notes_against(gone)]
        dropped = _find_dropped(gone, _text_of(*others), retire.dropped, rivals)
        name = by.memory.name if by else None
        self._plan.retire(gone.memory.name, retire.why, name, tuple(dropped))
        self._needed |= {name} if name else set()

    def _find_successor(self, retire: Operation, gone: StoredMemory) -> StoredMemory | None:
        if retire.into is None:
            return None
        name = self._plan.successor(retire.into) or gone.memory.name
        if name == gone.memory.name:
            raise Unsafe(f"{retire.into}, which should replace it, goes as well")
        by = self._plan.stored[name]
        if why := replace_obstacle(by, gone):
            raise Unsafe(why)
        return by

    def _notes_against(self, gone: StoredMemory) -> list[StoredMemory]:
        """The agents' notes: none makes the user's word untrue, even if no proposal names it."""
        if gone.memory.by_agent:
            return []
        return [each for each in self._stored.values() if each.memory.by_agent]

    def _rewrite(self, rewrite: Operation, source: StoredMemory) -> None:
        old = source.memory
        description = rewrite.description or old.description
        body = remove_stale_mark(rewrite.body)
        texts = f"{description} {body}", f"{old.description} {old.body}"
        if normalize_text(texts[0]) == normalize_text(texts[1]):
            raise Unsafe("it says the same as before")
        _refuse_invented(description, body, [source])
        if lost := _KeptText(description, body).lost(old):
            raise Unsafe(f"it loses {_quote(lost[0].text)}")
        self._plan.rewrite(replace(old, description=description, body=body), rewrite.why)


class _KeptText:
    """What will be injected. A description is only a line in a list: what a body says has to stay in one."""

    def __init__(self, description: str, body: str) -> None:
        self.all, self.body = KnownText(description, body), KnownText(body)

    def lost(self, memory: Memory) -> tuple[Sentence, ...]:
        return (
            *lost_sentences(memory.description, self.all),
            *lost_sentences(remove_stale_mark(memory.body), self.body),
        )


def _text_of(*memories: StoredMemory) -> _KeptText:
    """Of memories that stay as they are: it does not matter where they say it."""
    return _KeptText("", "\n".join(map(_memory_text, memories)))


def _memory_text(stored: StoredMemory) -> str:
    return f"{stored.memory.description}\n{remove_stale_mark(stored.memory.body)}"


def _quote(text: str) -> str:
    return f"“{one_line(text, MAX_QUOTED)}”"


def _find_dropped(
    gone: StoredMemory,
    kept: _KeptText,
    listed: Sequence[DroppedFact],
    rivals: Iterable[StoredMemory],
) -> list[DroppedFact]:
    """The facts that no memory will state any more, each with a reason; Unsafe for one without. `rivals`:
    memories that may contradict it."""
    found: dict[str, DroppedFact] = {}
    statements = [(r, each) for r in rivals for each in parse_sentences(_memory_text(r))]
    for lost in kept.lost(gone.memory):
        rival = next((pair for pair in statements if contradict(lost.text, pair[1].text)), None)
        # The reason given for dropping the sentence, or the reasons for all of its facts.
        reasons = [each.why for each in listed if KnownText(each.fact).keeps(lost)][:1]
        if not reasons and KnownText(*(each.fact for each in listed)).keeps(lost):
            reasons = [each.why for each in listed]
        why = _contradiction_reason(gone, *rival) if rival else "; ".join(dict.fromkeys(reasons))
        if not why:
            raise Unsafe(f"it loses {_quote(lost.text)} and does not say so")
        found[normalize_text(lost.text)] = DroppedFact(lost.text, why)
    return list(found.values())


def _contradiction_reason(gone: StoredMemory, rival: StoredMemory, sentence: Sentence) -> str:
    """Of two that contradict each other, the user's word wins over an agent's note; else the later day; on
    one day, the better evidenced."""
    old, new = gone.memory, rival.memory
    if new.by_agent and not old.by_agent:
        why = f"{old.name} is the user's word, and {new.name}, which it contradicts, an agent's"
        raise Unsafe(why)
    if old.by_agent and not new.by_agent:
        return f"{new.name} is the user's word and says {_quote(sentence.text)}"
    days = [clock.local(last_stated(each)).date() for each in (new, old)]
    weights = [(len(each.evidence), last_stated(each)) for each in (new, old)]
    if days[0] < days[1] or (days[0] == days[1] and weights[0] < weights[1]):
        raise Unsafe(
            f"{old.name} is newer or better evidenced than {new.name}, which it contradicts"
        )
    return f"{new.name} is newer and says {_quote(sentence.text)}"


def _refuse_invented(description: str, body: str, sources: Sequence[StoredMemory]) -> None:
    times = [at for each in sources for at in (each.memory.created, each.memory.updated) if at]
    dates = (f"{clock.local(at):%Y-%m-%d}" for at in times)
    known = KnownText(*(each.memory.text for each in sources), *dates)
    for fact in invented_facts(f"{description}\n{body}", known):
        raise Unsafe(f"{_quote(fact)} stands in none of its sources")


def _refuse_contradiction(sources: Sequence[StoredMemory], new: KnownText) -> None:
    for pair in combinations([parse_sentences(_memory_text(each)) for each in sources], 2):
        for one in pair[0]:
            for other in pair[1]:
                if contradict(one.text, other.text) and new.keeps(one) and new.keeps(other):
                    raise Unsafe(f"{_quote(one.text)} and {_quote(other.text)} cannot both hold")
