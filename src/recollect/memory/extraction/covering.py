"""Whether a memory says what another one does."""

from recollect.english import stem
from recollect.memory.extraction.clauses import FUTURE
from recollect.memory.facts import Said, Text, said
from recollect.model.memories import Memory
from recollect.model.prose import sentences
from recollect.statements import contradict, likeness
from recollect.text import words

SMALL = frozenset(
    words(
        "a an the is are be been to of please that this we i me my you your our it its user users always "
        "also should must will and so"
    )
)
# What stands behind one of these means the opposite, or something else.
TURNING = frozenset(
    map(
        stem,
        words(
            "not no never none without instead over rather than but except only unless nor don t n"
        ),
    )
)
SAME_SUBJECT = 0.4  # likeness of a memory and of what is to take its place


def covers(memory: Memory, new: Memory) -> bool:
    """The memory says all that the new one does: no other number, name or denial, and in the same order:
    `tabs, not spaces` is not `spaces, not tabs`. Where that is not plain, both are kept; a dream sees."""
    return _says(memory, new.description)


def covers_all(memory: Memory, other: Memory) -> bool:
    """The memory says all that the other's whole text does."""
    return _says(memory, f"{other.description}\n{other.body}")


def _says(memory: Memory, text: str) -> bool:
    found, known = said(text), Text(memory.description, memory.body)
    if not words(text):  # signs alone
        return text.strip() in (memory.description.strip(), memory.body.strip())
    plain = all(_known(each, known) for each in found)
    return plain and _in_order(text, f"{memory.description}\n{memory.body}")


def _in_order(text: str, within: str) -> bool:
    """Every sentence of the text stands in a sentence of the other, with hardly more around it."""
    there = [_sequence(each) for each in sentences(within)]
    return all(any(_stands(each, one) for one in there) for each in map(_sequence, sentences(text)))


def _sequence(sentence: str) -> tuple[str, ...]:
    plain = FUTURE.sub(" ", sentence).lower()
    return tuple(stem(word) for word in words(plain) if word not in SMALL)


def _stands(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    rest = iter(whole)
    return TURNING & {*part} == TURNING & {*whole} and all(word in rest for word in part)


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
