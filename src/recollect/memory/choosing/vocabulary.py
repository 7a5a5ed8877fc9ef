"""The words and the meaning of some memories, prepared so that a text is compared with all of them at once.

How rare a word is, is judged by these memories and by English: among ten memories every word is rare. A word
also meets its kin, from a list of the trade's own words or, if there are vectors, by nearness.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from recollect.encoders.protocol import Encoder
from recollect.encoders.static_table import VOCABULARY
from recollect.english import stem
from recollect.memory.choosing import trade
from recollect.model.memories import Memory
from recollect.terms import asked

if TYPE_CHECKING:
    from recollect.encoders.protocol import Matrix

MOST_TERMS = 48
FIRST_WORD = (
    1_996  # line of the vocabulary; before it are marks and letters, from it on words by frequency
)
FREQUENT, LESS = 1_500, 0.6
EVERYDAY = 0.15
NAME = 1.5  # something of several parts, such as a path or a symbol
BODY = 0.6
KIN = 0.6
NEAR, BY_NEARNESS = 0.55, 0.8
SMOOTH = 30  # memories that might be there as well
LEAST_SPREAD = 0.03  # of cosines
CACHED = 20_000  # texts with vectors
USUAL_TERMS = 12  # more words than that match more by chance


@dataclass(frozen=True, slots=True)
class Words:
    """Of one memory: by stem, where it counts; `whole`, for its meaning."""

    places: Mapping[str, float]
    spelled: Mapping[str, str]
    whole: str

    @classmethod
    def of(cls, memory: Memory) -> "Words":
        head = terms(f"{memory.name.replace('-', ' ')}\n{memory.description}")
        body = terms(memory.body)
        places = dict.fromkeys(body, BODY) | dict.fromkeys(head, 1.0)
        return cls(places, {**body, **head}, memory.text)


class Shared(NamedTuple):
    points: float
    word: str


@dataclass(frozen=True, slots=True)
class Match:
    """Per memory: what it shares with the text, most telling first; and how far its meaning is from the
    usual, in standard deviations. None: nobody can say."""

    shared: tuple[tuple[Shared, ...], ...]
    meaning: tuple[float, ...] | None


@dataclass(slots=True)
class Vectors:
    """Of texts, kept. A broken encoder is none."""

    encoder: Encoder | None
    _rows: dict[str, "Matrix"] = field(default_factory=dict)

    def of(self, texts: Sequence[str]) -> "Matrix | None":
        """A row for each text."""
        if self.encoder is None or not texts:
            return None
        try:
            missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
            if len(self._rows) + len(missing) > CACHED:
                self._rows.clear()
                missing = list(dict.fromkeys(texts))
            if missing:
                self._rows.update(zip(missing, self.encoder.encode(missing), strict=True))
            import numpy as np

            return np.stack([self._rows[text] for text in texts])
        except Exception:  # whatever it is: words are there without it
            return None

    @property
    def of_words(self) -> bool:
        """Whether it may be asked for single words: there are thousands."""
        return self.encoder is not None and self.encoder.instant


class Vocabulary:
    def __init__(self, memories: Sequence[Words], vectors: Vectors) -> None:
        self._count = len(memories)
        self._vectors = vectors
        self._found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        spelled: dict[str, str] = {}
        for number, words in enumerate(memories):
            for word, place in words.places.items():
                self._found[word].append((number, place))
            spelled.update(words.spelled)
        self._wholes = vectors.of([words.whole for words in memories])
        self._stems = [word for word in self._found if _has_kin(word)]
        self._near = vectors.of([spelled[s] for s in self._stems]) if vectors.of_words else None

    def match(self, text: str) -> Match:
        asked_for = terms(text)
        shared: list[dict[str, Shared]] = [{} for _ in range(self._count)]
        near = self._nearby(asked_for)
        longer = max(1.0, math.sqrt(len(asked_for) / USUAL_TERMS))
        for word, spelled in asked_for.items():
            got = self._of_word(word, near.get(word, {}))
            spread = sum(max(met.values()) for met in got.values())
            weight = _general(spelled) * self._rarity(spread) / longer
            for number, met in got.items():
                # A memory that says `price` once has not met `tax`, `fee` and `invoice`.
                left = {share: other for other, share in met.items() if other not in shared[number]}
                if left:
                    share = max(left)
                    shared[number][left[share]] = Shared(weight * share, spelled)
        found = tuple(tuple(sorted(each.values(), reverse=True)) for each in shared)
        return Match(found, self._meaning(text))

    def _of_word(self, word: str, near: Mapping[str, float]) -> dict[int, dict[str, float]]:
        """By memory: its words that are this one or its kin, and how much so."""
        alike = {**near, **dict.fromkeys(trade.kin().get(word, ()), KIN), word: 1.0}
        got: dict[int, dict[str, float]] = defaultdict(dict)
        for other, nearness in alike.items():
            for number, place in self._found.get(other, ()):
                got[number][other] = place * nearness
        return got

    def _rarity(self, spread: float) -> float:
        """One for a word that none of the memories has, near zero for one that all have."""
        most = self._count + SMOOTH
        return float((math.log(most / (spread + 1)) / math.log(most)) ** 2)

    def _nearby(self, asked_for: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """By word: words of the memories that are near to it."""
        if self._near is None:
            return {}
        wanted = [
            word for word, spelled in asked_for.items() if _has_kin(word) and len(spelled) > 3
        ]
        rows = self._vectors.of([asked_for[word] for word in wanted]) if wanted else None
        if rows is None:
            return {}
        nearness = rows @ self._near.T
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for row, column in zip(*(nearness > NEAR).nonzero(), strict=True):
            found[wanted[row]][self._stems[column]] = BY_NEARNESS * float(nearness[row, column])
        return found

    def _meaning(self, text: str) -> tuple[float, ...] | None:
        asked_for = None if self._wholes is None else self._vectors.of([text])
        if self._wholes is None or asked_for is None or not asked_for.any():
            return None
        cosines = self._wholes @ asked_for[0]
        usual = (cosines - cosines.mean()) / max(float(cosines.std()), LEAST_SPREAD)
        return tuple(float(each) for each in usual)


def terms(text: str) -> dict[str, str]:
    """By stem, as it is written. A digit or a letter alone says nothing."""
    found: dict[str, str] = {}
    for term in asked(text):
        if len(term) > 2 or (len(term) == 2 and not term.isdigit()):
            found.setdefault(stem(term), term)
            if len(found) == MOST_TERMS:
                break
    return found


def _has_kin(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word not in trade.everyday()


def _general(word: str) -> float:
    """How much a word says, from what is known of English and of prompts."""
    if stem(word) in trade.everyday():
        return EVERYDAY
    place = _places().get(word, 0) - FIRST_WORD
    if place < 0:
        return NAME if "_" in word else 1.0  # not a common word
    weight = math.log(place + 2) / math.log(30_000)
    return weight * LESS if place < FREQUENT else weight


@cache
def _places() -> dict[str, int]:
    return {word: line for line, word in enumerate(VOCABULARY.read_text("utf-8").split("\n"))}
