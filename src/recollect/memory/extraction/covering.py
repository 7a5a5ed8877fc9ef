"""Whether a memory says what another one does."""

from recollect.memory.facts import Said, Text, said
from recollect.model.memories import Memory
from recollect.statements import contradict, likeness

SAME_SUBJECT = 0.4  # likeness of a memory and of what is to take its place


def covers(memory: Memory, new: Memory) -> bool:
    """The memory says all that the new one does: no other number, name or denial, hardly another word."""
    text = Text(memory.description, memory.body)
    return all(_known(each, text) for each in said(new.description))


def covers_all(memory: Memory, other: Memory) -> bool:
    """The memory says all that the other's whole text does."""
    text = Text(memory.description, memory.body)
    return all(_known(each, text) for each in said(f"{other.description}\n{other.body}"))


def _known(one: Said, text: Text) -> bool:
    missing = [word for word in one.about if not text.knows(word)]
    if len(missing) > len(one.about) // 5 or not all(map(text.has, one.hard)):
        return False
    near = max(text.pieces, key=lambda each: likeness(one.words, each.words), default=None)
    return near is not None and not contradict(one.statement, near.statement)


def may_replace(old: Memory, new: Memory) -> bool:
    """About the same, and not the same."""
    return likeness(about(old), about(new)) >= SAME_SUBJECT and not covers(old, new)


def about(memory: Memory) -> frozenset[str]:
    return frozenset(word for sentence in said(memory.description) for word in sentence.about)
