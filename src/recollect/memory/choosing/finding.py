"""Memories that a text is about, found without a model.

Three things speak for a memory: words that it shares with the text, or nearly shares, by how rare they are;
how near it is in meaning; and that it is a rule for the kind of work that is asked for (`activities.py`). The
nearest is not told for being the nearest: `sure` keeps what is near enough, and that is mostly nothing.
Weights were chosen on the `tune` half of `memory_set/` alone.
"""

import threading
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.encoders.protocol import Encoder
from recollect.memory.choosing import activities
from recollect.memory.choosing.vocabulary import Shared, Vectors, Vocabulary, Words
from recollect.model.memories import FEEDBACK, USER, Memory, StoredMemory

LONGEST = 4_000  # characters of a text that are looked at
MOST = 5
KEPT = 1_000  # memories that stay prepared
COLLECTIONS = 8  # sets of them: a project has one
SHOWN_WORDS = 4

BY_WORDS = 0.5
BY_SECOND = 1.0  # the word after the best: one alone is chance more often than not
BY_MEANING = 0.15
BY_LEAD, MEANING_OF_LEAD = 0.3, 0.18
BY_RULE = 1.6
PERHAPS = 0.3  # of a rule for one language, where the text does not tell its own
# Off, where the text only wants to know something: for a rule, and for anything.
NO_WORK, NO_ORDER = 0.3, 0.2
# With vectors of words and texts, of texts alone, and with none.
SURE, SURE_BY_TEXTS, SURE_BY_WORDS = 1.1, 1.25, 0.78
MANY = 16  # memories
LIKELY = 0.33  # of what is needed to be told unasked; chance stays below it


@dataclass(frozen=True, slots=True)
class Near:
    """`score`: from one on it is near enough to be told. `why`: for people."""

    memory: StoredMemory
    score: float
    why: str


@dataclass(frozen=True, slots=True)
class _Prepared:
    words: Words
    rules: frozenset[str]
    languages: frozenset[str]

    @classmethod
    def of(cls, memory: Memory) -> "_Prepared":
        told = f"{memory.name.replace('-', ' ')}\n{memory.description}"
        rules = activities.ruled(told) if memory.type in (USER, FEEDBACK) else frozenset()
        if memory.type == USER:
            rules |= {activities.RECALLED}
        return cls(Words.of(memory), rules, activities.languages(told))


class Finder:
    """Keeps what it has read, so that the next question is quick. For any thread."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._vectors = Vectors(encoder)
        self._known: dict[tuple[str, str], _Prepared] = {}
        self._collections: dict[tuple[tuple[str, str], ...], Vocabulary] = {}
        self._lock = threading.Lock()

    def near(self, memories: Sequence[StoredMemory], text: str) -> list[Near]:
        """All of them, best first."""
        text = text[:LONGEST]
        with self._lock:
            known, vocabulary = self._prepared(memories)
            found = vocabulary.match(text)
        work = _Work(text)
        enough = SURE if self._vectors.of_words else SURE_BY_TEXTS
        needed = _needed(0 if found.meaning is None else len(memories), enough)
        meaning = found.meaning or [0.0] * len(memories)
        leads = _leads(found.shared, meaning)
        near = []
        for n, each in enumerate(memories):
            rules = work.rules(known[n])
            score = (
                _by_words(found.shared[n])
                + BY_MEANING * meaning[n]
                + BY_LEAD * (max(leads[n], 0.0) if rules else leads[n])
                + work.points(each.memory, known[n])
            )
            near.append(Near(each, score / needed, _why(rules, found.shared[n])))
        return sorted(near, key=lambda each: (-each.score, each.memory.memory.name))

    def prepare(self, memories: Sequence[StoredMemory]) -> None:
        """Before anybody waits for it."""
        with self._lock:
            self._prepared(memories)

    def _prepared(self, memories: Sequence[StoredMemory]) -> tuple[list[_Prepared], Vocabulary]:
        keys = tuple((each.checksum, each.memory.name) for each in memories)
        for key, each in zip(keys, memories, strict=True):
            known = self._known.pop(key, None)
            self._known[key] = known or _Prepared.of(each.memory)
        all_known = [self._known[key] for key in keys]
        vocabulary = self._collections.pop(keys, None)
        if vocabulary is None:
            vocabulary = Vocabulary([each.words for each in all_known], self._vectors)
        self._collections[keys] = vocabulary
        _forget_oldest(self._known, KEPT)
        _forget_oldest(self._collections, COLLECTIONS)
        return all_known, vocabulary


def near(memories: Sequence[StoredMemory], text: str, encoder: Encoder | None = None) -> list[Near]:
    """For who asks once. Who asks again keeps a `Finder`."""
    return Finder(encoder).near(memories, text)


def sure(found: Sequence[Near], most: int = MOST) -> list[Near]:
    """What may be told unasked, best first."""
    return [each for each in found if each.score >= 1.0][:most]


def among(found: Sequence[Near], most: int = MOST) -> list[Near]:
    """What a search may show, best first: somebody asks, so what is only likely is worth a line."""
    return [each for each in found if each.score >= LIKELY][:most]


class _Work:
    """What a text asks to be done."""

    def __init__(self, text: str) -> None:
        self._asked = activities.asked_for(text)
        self._languages = activities.languages(text)
        self._only_asks = activities.is_question(text)

    def rules(self, prepared: _Prepared) -> frozenset[str]:
        """The kinds of work that it asks for and that the memory is a rule for."""
        other = self._languages and not prepared.languages & self._languages
        return frozenset() if prepared.languages and other else self._asked & prepared.rules

    def points(self, memory: Memory, prepared: _Prepared) -> float:
        if self.rules(prepared):
            return BY_RULE * (1.0 if self._languages or not prepared.languages else PERHAPS)
        if not self._only_asks:
            return 0.0
        return -NO_ORDER - (NO_WORK if memory.type == FEEDBACK else 0.0)


def _needed(compared: int, enough: float) -> float:
    """Among few memories none can be much nearer in meaning than the others: then words must do."""
    return SURE_BY_WORDS + (enough - SURE_BY_WORDS) * min(1.0, max(0, compared - 1) / MANY)


def _by_words(shared: Sequence[Shared]) -> float:
    second = shared[1].points if len(shared) > 1 else 0.0
    return BY_WORDS * sum(each.points for each in shared) + BY_SECOND * second


def _leads(shared: Sequence[Sequence[Shared]], meaning: Sequence[float]) -> list[float]:
    """How far each is ahead of all others, or behind the first: of two that are equally near, neither is
    sure."""
    own = [
        sum(word.points for word in words) + MEANING_OF_LEAD * distance
        for words, distance in zip(shared, meaning, strict=True)
    ]
    first, second = sorted([*own, 0.0, 0.0], reverse=True)[:2]
    return [max(-1.0, min(1.0, each - (second if each == first else first))) for each in own]


def _why(rules: frozenset[str], shared: Sequence[Shared]) -> str:
    reasons = [f"a rule for {', '.join(sorted(rules))}"] if rules else []
    if shared:
        reasons.append(", ".join(each.word.replace("_", " ") for each in shared[:SHOWN_WORDS]))
    return "; ".join(reasons) or "near in meaning"


def _forget_oldest(kept: MutableMapping[Any, Any], most: int) -> None:
    for key in list(kept)[: max(0, len(kept) - most)]:
        del kept[key]
