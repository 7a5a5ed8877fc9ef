"""Whether memories can still be found after a dream. A fixed set of questions, made from the memories before,
is asked before and after: whatever was found by one must be found by it again, or what stands in its place.

The questions of a memory are its description, the words that its text is about, and its rarest terms. A fact
that was dropped with a reason is not asked for any more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.memory.dream.stale import unmarked
from recollect.model.memories import StoredMemory
from recollect.terms import asked

TOP = 5
KEY_WORDS, RAREST = 8, 4
LEAST_TERMS = 2  # fewer are no question

# The memories that a question is about, best first.
Find = Callable[[Sequence[StoredMemory], str], Sequence[StoredMemory]]
Where = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Question:
    """`about`: the memory that it was made from."""

    about: str
    text: str


def questions(memories: Sequence[StoredMemory]) -> tuple[Question, ...]:
    terms = {each.memory.name: asked(_text(each)) for each in memories}
    spread = Counter(term for each in terms.values() for term in each)
    found: dict[Question, None] = {}
    for stored in memories:
        name = stored.memory.name
        own = Counter(_often(unmarked(stored.memory.body)))
        rarest = sorted(terms[name], key=lambda term: (spread[term], -len(term), term))[:RAREST]
        keys = sorted(own, key=lambda term: (-own[term] / spread[term], term))[:KEY_WORDS]
        for text in (stored.memory.description, " ".join(keys), " ".join(rarest)):
            if len(asked(text)) >= LEAST_TERMS:
                found[Question(name, text)] = None
    return tuple(found)


def worse(
    fixed: Iterable[Question],
    before: Sequence[StoredMemory],
    after: Sequence[StoredMemory],
    successor: Where,
    dropped: Mapping[str, str],
    find: Find,
) -> list[Question]:
    """The questions that were answered before and are not now. `successor`: what stands in the place of a
    memory, itself as a rule; None where it was dropped with all its facts. `dropped`: by the memory that they
    were of, the facts that are told no more."""
    lost = []
    for question in fixed:
        heir = successor(question.about)
        if heir is None or not _is_found(before, question.text, question.about, find):
            continue
        text = _without(question.text, dropped.get(question.about, ""))
        if len(asked(text)) >= LEAST_TERMS and not _is_found(after, text, heir, find):
            lost.append(question)
    return lost


def _is_found(memories: Sequence[StoredMemory], text: str, name: str, find: Find) -> bool:
    return any(found.memory.name == name for found in find(memories, text)[:TOP])


def _without(text: str, dropped: str) -> str:
    if not dropped:
        return text
    forgotten = frozenset(asked(dropped))
    return " ".join(term for term in asked(text) if term not in forgotten)


def _text(stored: StoredMemory) -> str:
    return f"{stored.memory.description}\n{unmarked(stored.memory.body)}"


def _often(text: str) -> list[str]:
    """The terms of a text, as often as a line has them."""
    return [term for line in text.splitlines() for term in asked(line)]
