"""The checks of what a model proposes for single memories: what it would lose, invent or turn round. Each one
raises Unsafe with the reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect import clock
from recollect.memory.dream.duplicates import newest, normal
from recollect.memory.dream.plan import Dropped
from recollect.memory.dream.stale import unmarked
from recollect.memory.facts import Said, Text, conflict, invented, lost, said
from recollect.model.memories import Memory, StoredMemory
from recollect.text import one_line

SHOWN = 120  # characters of a fact, in a reason


class Unsafe(Exception):
    """The message is the reason."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a memory will tell. A description is but a line in a list: what a text said, the new text has to
    say."""

    all: Text
    body: Text

    @classmethod
    def of(cls, description: str, body: str) -> "Told":
        return cls(Text(description, unmarked(body)), Text(unmarked(body)))


def given_up(
    gone: StoredMemory, kept: Told, listed: Sequence[Dropped], others: Iterable[StoredMemory]
) -> list[Dropped]:
    """What will be told no more, with the reason. Raises Unsafe for a fact without one. `others`: memories
    that stand for it, and may contradict it if they are newer."""
    found: dict[str, Dropped] = {}
    rivals = [(other, each) for other in others for each in _said(other.memory)]
    for each in missing(gone.memory, kept):
        reason = _contradicted(gone, each, rivals) or _reason(each, listed)
        if reason is None:
            raise Unsafe(f"it loses “{one_line(each.text, SHOWN)}” and does not say so")
        found[normal(each.text)] = Dropped(each.text, reason)
    return list(found.values())


def _contradicted(
    gone: StoredMemory, one: Said, rivals: Iterable[tuple[StoredMemory, Said]]
) -> str | None:
    for rival, other in rivals:
        if not conflict(one, other):
            continue
        if not _wins(rival, gone):
            beaten, name = rival.memory.name, gone.memory.name
            if rival.memory.by_agent and not gone.memory.by_agent:
                raise Unsafe(
                    f"{name} is the user's word, and {beaten}, which it contradicts, an agent's"
                )
            raise Unsafe(f"{name} is newer or better evidenced than {beaten}, which it contradicts")
        by_user = gone.memory.by_agent and not rival.memory.by_agent
        how = "the user's word" if by_user else "newer"
        return f"{rival.memory.name} is {how} and says “{one_line(other.text, SHOWN)}”"
    return None


def _wins(one: StoredMemory, other: StoredMemory) -> bool:
    """Of two that contradict each other: the user's word over what an agent noted; else what was said on a
    later day; on one day, what has more evidence."""
    if one.memory.by_agent != other.memory.by_agent:
        return other.memory.by_agent
    mine, theirs = (newest(each.memory) for each in (one, other))
    days = [clock.local(at).date() for at in (mine, theirs)]
    if days[0] != days[1]:
        return mine > theirs
    return (len(one.memory.evidence), mine) >= (len(other.memory.evidence), theirs)


def _reason(one: Said, listed: Sequence[Dropped]) -> str | None:
    """The reason that was given for dropping a sentence, or each of its facts."""
    for each in listed:
        if Text(each.fact).keeps(one):
            return each.why
    if Text(*(each.fact for each in listed)).keeps(one):
        return "; ".join(dict.fromkeys(each.why for each in listed))
    return None


def refuse_invented(description: str, body: str, sources: Sequence[StoredMemory]) -> None:
    known = Text(*(f"{source.memory.text}\n{_days(source.memory)}" for source in sources))
    for fact in invented(f"{description}\n{unmarked(body)}", known):
        raise Unsafe(f"“{one_line(fact, SHOWN)}” stands in none of its sources")


def refuse_both_of_a_contradiction(sources: Sequence[StoredMemory], new: Text) -> None:
    told = [(source, each) for source in sources for each in _said(source.memory)]
    for n, (source, one) in enumerate(told):
        for other, rival in told[n + 1 :]:
            if other is not source and conflict(one, rival) and new.keeps(one) and new.keeps(rival):
                raise Unsafe(
                    f"“{one_line(one.text, SHOWN)}” and “{one_line(rival.text, SHOWN)}” cannot both hold"
                )


def missing(memory: Memory, kept: Told) -> tuple[Said, ...]:
    return (*lost(memory.description, kept.all), *lost(unmarked(memory.body), kept.body))


def _said(memory: Memory) -> tuple[Said, ...]:
    return said(f"{memory.description}\n{unmarked(memory.body)}")


def told_by(*memories: StoredMemory) -> Told:
    """Of memories that stay as they are: wherever they say it, they say it."""
    told = Text(*(f"{each.memory.description}\n{unmarked(each.memory.body)}" for each in memories))
    return Told(told, told)


def _days(memory: Memory) -> str:
    return " ".join(f"{clock.local(at):%Y-%m-%d}" for at in (memory.created, memory.updated) if at)
