"""What a model proposes: the request, its reply, and which of its proposals are carried out.

The request has all memories that fit, similar ones next to each other, and what was done lately. A reply is
read leniently and judged strictly, since a model may be wrong, lazy, or misled by what it reads. Refused,
with a reason:

- the whole proposal, if it retires more than a set share of the memories;
- whatever drops a pinned memory or changes a byte of it;
- whatever puts an agent's words into the user's memory, or one project's into one that applies in all;
- whatever loses a fact silently: every number, path, address and name, and every sentence that says
  something, is in what stays, or is listed as dropped with a reason;
- whatever adds a fact that none of its sources has;
- of two that contradict each other, the retirement of the newer and better evidenced one, and of the user's
  word for an agent's.

Memories are data: no sentence in one is obeyed here.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any, NamedTuple

from aforesaid import clock
from aforesaid.grounding import KnownText, invented_facts, lost_sentences
from aforesaid.memory.dream.plan import MERGE, RETIRE, DroppedFact, Operation, Plan, Refusal
from aforesaid.memory.dream.rules import (
    last_stated,
    merge_memories,
    merge_obstacle,
    normalize_text,
    quality,
    remove_stale_mark,
    replace_obstacle,
)
from aforesaid.memory.prompts import prompt_examples, prompt_text
from aforesaid.memory.replies import Unusable, json_values
from aforesaid.model.memories import NOTED_BY_AGENT, Memory, StoredMemory
from aforesaid.model.requests import Request
from aforesaid.similarity import Statement, contradict, parse_sentences, word_overlap
from aforesaid.text import clean, fenced, one_line, tokens

MAX_RETIRED_SHARE = 0.3  # of the memories, in one dream
MAX_OPERATIONS = 200
MAX_WHY, MAX_FACT, MAX_QUOTED, MAX_DESCRIPTION, MAX_REPLY_BODY = 300, 400, 120, 200, 20_000
NO_REASON = "no reason given"
MAX_PROMPT_TOKENS = 6_000  # for the memories, unless the settings say otherwise
MAX_SIGNALS, MAX_SIGNAL = 20, 120
MAX_BODY = 4_096  # characters; a longer one is left out, as half of it cannot be judged
REPLY_TOKENS = 3_000
QUESTION = "Which memories should be merged or retired?"


class Unsafe(Exception):
    """The message is the reason."""


class Proposal(NamedTuple):
    operations: tuple[Operation, ...] = ()
    ignored: tuple[Refusal, ...] = ()


class DreamRequest(NamedTuple):
    request: Request
    names: tuple[str, ...]


def build_dream_request(
    memories: Sequence[Memory],
    signals: Sequence[str] = (),
    stale: Mapping[str, str] | None = None,
    room: int = MAX_PROMPT_TOKENS,
) -> DreamRequest:
    """`stale`: by memory, the state of the files that it names."""
    blocks: dict[str, str] = {}
    for memory in _sort_by_similarity([each for each in memories if len(each.body) <= MAX_BODY]):
        about = [memory.type]
        if at := last_stated(memory):
            about.append(f"{clock.local(at):%Y-%m-%d}")
        if number := len(memory.evidence):
            about.append(f"{number} {'piece' if number == 1 else 'pieces'} of evidence")
        about += [NOTED_BY_AGENT] * memory.by_agent + ["pinned"] * memory.pinned
        about += filter(None, [(stale or {}).get(memory.name)])
        body = [f"  {line}" for line in memory.body.splitlines() if line.strip()]
        lines = [f"## {memory.name} ({', '.join(about)})", memory.description, *body]
        block = fenced("\n".join(lines)).rstrip()
        if (cost := tokens(block)) <= room:
            room -= cost
            blocks[memory.name] = block
    recent = list(dict.fromkeys(signals))[:MAX_SIGNALS]
    lately = [f"- {fenced(one_line(each, MAX_SIGNAL))}" for each in recent]
    done = "\n".join(["What was done lately:", *(lately or ["- nothing that is known"])])
    message = "\n\n".join(["Memories:", *blocks.values(), done, QUESTION])
    examples = prompt_examples("dream_example")
    request = Request(prompt_text("dream"), examples, message, REPLY_TOKENS)
    return DreamRequest(request, tuple(blocks))


def _sort_by_similarity(memories: Sequence[Memory]) -> list[Memory]:
    """Each followed by the one most similar to it: small models forget what they read a page ago, and what
    is not shown cannot be changed."""
    words = {
        memory.name: frozenset(w for each in parse_sentences(memory.text) for w in each.telling)
        for memory in memories
    }
    left = sorted(memories, key=lambda memory: memory.name)
    ordered: list[Memory] = []
    while left:
        last = words[ordered[-1].name] if ordered else frozenset()
        nearest = max(left, key=lambda memory: word_overlap(last, words[memory.name]))
        left.remove(nearest)
        ordered.append(nearest)
    return ordered


def read_proposal(reply: str, names: Collection[str]) -> Proposal | Unusable:
    """`names`: the memories that the model was shown."""
    values = list(json_values(clean(reply)))
    if not values:
        return Unusable("the model's reply holds no JSON")
    operations: dict[Operation, None] = {}
    ignored: list[Refusal] = []
    for kind, entry in (each for value in values for each in _entries(value)):
        read = _read_operation(kind, entry)
        if unknown := [name for name in read.touched if name not in names]:
            why = f"there is no memory called {', '.join(unknown)}"
        elif kind == MERGE and len(read.names) < 2:
            why = "it names fewer than two memories"
        elif kind == MERGE and not read.body:
            why = "it has no new text"
        else:
            operations[read] = None
            continue
        ignored.append(Refusal(str(read), why))
    return Proposal(tuple(operations)[:MAX_OPERATIONS], tuple(ignored[:MAX_OPERATIONS]))


def _entries(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in _as_list(value):
        if not isinstance(each, dict):
            continue
        if {"name", "names"} & each.keys():  # the reply was cut off
            yield MERGE if "names" in each else RETIRE, each
        for kind in (MERGE, RETIRE):
            for entry in _as_list(each.get(kind)):
                if isinstance(entry, dict):
                    yield kind, entry
                elif isinstance(entry, str) and kind == RETIRE:
                    yield RETIRE, {"name": entry}


def _read_operation(kind: str, entry: dict[str, Any]) -> Operation:
    names = map(_get_name, _as_list(entry.get("names") or entry.get("name")))
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
        tuple(dict.fromkeys(names))[: None if kind == MERGE else 1],
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


def _get_text(entry: dict[str, Any], key: str) -> str:
    found = entry.get(key)
    return clean(found[:MAX_REPLY_BODY]).strip() if isinstance(found, str) else ""


def apply_proposal(plan: Plan, proposal: Proposal) -> None:
    """Adds what is safe to the plan, and to its refusals the rest."""
    plan.refused += proposal.ignored
    # Counted over all proposals, including those that would be refused.
    going = {name for each in proposal.operations for name in each.names[each.kind == MERGE :]}
    total = len(plan.standing)
    if going and len(going) > MAX_RETIRED_SHARE * total:
        why = f"they would take away {len(going)} of {total} memories, and "
        why += f"{MAX_RETIRED_SHARE:.0%} may go at once"
        plan.refused.append(Refusal(f"all {len(proposal.operations)} proposals", why))
        return
    done: dict[str, str] = {}  # by memory, the proposal that was carried out
    for proposed in proposal.operations:
        try:
            for name in proposed.names:
                if before := done.get(name):
                    raise Unsafe(f"{name} is in “{before}” already")
            sources = [plan.stored[name] for name in proposed.names]
            if proposed.kind == MERGE:
                _merge(plan, proposed, sources)
            else:
                _retire(plan, proposed, sources[0])
            done |= dict.fromkeys(proposed.touched, str(proposed))
        except Unsafe as unsafe:
            plan.refused.append(Refusal(str(proposed), str(unsafe)))


def _merge(plan: Plan, merge: Operation, sources: list[StoredMemory]) -> None:
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
            rivals = [*(o for o in sources if o is not source), *_notes_against(plan, source)]
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
    plan.merge(memory, dropped, merge.why, facts)


def _retire(plan: Plan, retire: Operation, gone: StoredMemory) -> None:
    if gone.memory.pinned:
        raise Unsafe("it is pinned")
    name = plan.successor(retire.into) if retire.into else None
    if retire.into and name in (None, gone.memory.name):
        raise Unsafe(f"{retire.into}, which should replace it, goes as well")
    by = [plan.stored[name]] if name else []
    for each in by:
        if why := replace_obstacle(each, gone):
            raise Unsafe(why)
    stays = _KeptText("", "\n".join(map(_memory_text, by)))  # it does not matter where they say it
    dropped = _find_dropped(gone, stays, retire.dropped, [*by, *_notes_against(plan, gone)])
    plan.retire(gone.memory.name, retire.why, name, tuple(dropped))


def _notes_against(plan: Plan, gone: StoredMemory) -> list[StoredMemory]:
    """The agents' notes: none makes the user's word untrue, even if no proposal names it."""
    if gone.memory.by_agent:
        return []
    return [each for each in plan.stored.values() if each.memory.by_agent]


class _KeptText:
    """What will be injected. A description is only a line in a list: what a body says has to stay in one."""

    def __init__(self, description: str, body: str) -> None:
        self.all, self.body = KnownText(description, body), KnownText(body)

    def lost(self, memory: Memory) -> tuple[Statement, ...]:
        return (
            *lost_sentences(memory.description, self.all),
            *lost_sentences(remove_stale_mark(memory.body), self.body),
        )


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


def _contradiction_reason(gone: StoredMemory, rival: StoredMemory, sentence: Statement) -> str:
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
