"""Ranks memories for a prompt or a query without a model: by shared words and meaning.

Unlike `recall/`, which orders documents of the store relative to each other, it needs no database and an
absolute score: mostly, no memory may be injected.
"""

import math
import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from aforesaid.encoders.base import Encoder
from aforesaid.encoders.static_table import VOCABULARY
from aforesaid.english import load_list, stem
from aforesaid.model.memories import FEEDBACK, USER, Memory, StoredMemory
from aforesaid.terms import query_terms

if TYPE_CHECKING:
    from aforesaid.encoders.base import Matrix


# Words that say little about the subject.
GENERIC_STEMS = frozenset(map(stem, load_list("generic")))
RECALL_REQUEST = re.compile(
    r"\bmy (?:own )?preferences\b|\b(?:remember|know|recall) about (?:me|my)\b|"
    r"\bwhat (?:did|have) I (?:tell|told|ask|asked) you (?:to|about)\b|\bhow I (?:like|prefer|want)\b",
    re.IGNORECASE,
)
# A prompt that asks for code needs the user's rules of style, with which it shares no word.
CODE_REQUEST = re.compile(
    r"\b(?:write|create|add|implement|build|make|extend|refactor|rewrite|port)\b[^?!]*?"
    r"\b(?:functions?|methods?|class(?:es)?|modules?|components?|helpers?|scripts?|parsers?|handlers?"
    r"|(?:python|typescript|javascript|rust|java|go|ruby) (?:files?|code)|[\w./-]+\.[a-z]{1,4})(?!\w)",
    re.IGNORECASE,
)
STYLE_RULE = re.compile(
    r"\bindent|\b(?:tabs|spaces|quotes)\b|semicolon|type hints?|\bnaming\b|docstring|(?:code|coding) style",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"^\W*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|do|did|has|have|may|am|should)\b",
    re.IGNORECASE,
)


MAX_TERMS = 48
# The line of the vocabulary at which words begin, by frequency; before it are marks and letters.
FIRST_WORD = 1_996
FREQUENT_WORDS, FREQUENT_WEIGHT = 1_500, 0.6
COMMON_WEIGHT = 0.2
BODY_WEIGHT = 0.7
MIN_WORD_COSINE, WORD_COSINE_WEIGHT = 0.55, 0.8
SMOOTH = 30  # added to the number of memories
LEAST_SPREAD = 0.03  # of cosines
MAX_CACHED_VECTORS = 20_000
USUAL_TERMS = 12  # a longer text matches more words by chance

MAX_QUERY = 4_000  # characters of a text that are read
MAX_MATCHES = 5
MAX_COLLECTIONS = 8  # that stay prepared: a project has one
SHOWN_WORDS = 4

WORDS_WEIGHT = 0.5
SECOND_WORD_WEIGHT = 1.3  # the word after the best: one alone is mostly chance
MEANING_WEIGHT = 0.11
LEAD_WEIGHT, LEAD_MEANING_WEIGHT = 0.45, 0.12
RECALL_WEIGHT = 1.5
QUESTION_PENALTY = 0.4
# With vectors of words and texts, of texts alone, and with none.
THRESHOLD, THRESHOLD_TEXT_VECTORS, THRESHOLD_WORDS = 1.08, 1.25, 0.84
MANY = 16  # memories
LIKELY_SCORE = 0.33  # of what is needed to be injected; chance stays below it


class RankedMemory(NamedTuple):
    """`score`: from 1 on it may be injected. `why`: for people."""

    memory: StoredMemory
    score: float
    why: str


class VectorCache:
    """A broken encoder counts as none."""

    def __init__(self, encoder: Encoder | None) -> None:
        self._encoder = encoder
        self._rows: dict[str, Matrix] = {}
        # Whether single words may be encoded: there are thousands.
        self.has_words = encoder is not None and encoder.instant

    def encode(self, texts: Sequence[str]) -> "Matrix | None":
        """A row for each text."""
        if self._encoder is None or not texts:
            return None
        try:
            if len(self._rows) + len(texts) > MAX_CACHED_VECTORS:
                self._rows.clear()
            if missing := [text for text in dict.fromkeys(texts) if text not in self._rows]:
                self._rows.update(zip(missing, self._encoder.encode(missing), strict=True))
            import numpy as np

            return np.stack([self._rows[text] for text in texts])
        except Exception:  # words are compared without it
            return None


Shared = list[list[tuple[float, str]]]  # per memory, points and words, the most telling first


class _Collection:
    """Memories, indexed by their words."""

    def __init__(self, memories: Sequence[Memory], vectors: VectorCache) -> None:
        self._vectors, self._size = vectors, len(memories)
        self._places: dict[str, dict[int, float]] = defaultdict(dict)  # weights by stem and memory
        spelled: dict[str, str] = {}
        for number, memory in enumerate(memories):
            for text, weight in ((memory.body, BODY_WEIGHT), (_head(memory), 1.0)):
                terms = stem_terms(text)
                spelled |= terms
                for word in terms:
                    self._places[word][number] = weight
        self._texts = vectors.encode([memory.text for memory in memories])
        self._stems = [word for word in self._places if _may_have_related(word)]
        words = [spelled[stem] for stem in self._stems]
        self._words = vectors.encode(words) if vectors.has_words else None

    def shared_words(self, text: str) -> Shared:
        terms = stem_terms(text)
        shared: list[dict[str, tuple[float, str]]] = [{} for _ in range(self._size)]
        near = self._nearby(terms)
        longer = max(1.0, math.sqrt(len(terms) / USUAL_TERMS))
        most = self._size + SMOOTH
        for word, spelled in terms.items():
            got: dict[int, dict[str, float]] = defaultdict(dict)
            for other, similarity in {**near.get(word, {}), word: 1.0}.items():
                for number, place in self._places.get(other, {}).items():
                    got[number][other] = place * similarity
            spread = sum(max(met.values()) for met in got.values())
            # 1 for a word that no memory has, near 0 for one that all have.
            rarity = (math.log(most / (spread + 1)) / math.log(most)) ** 2
            weight = _word_weight(spelled) * rarity / longer
            for number, met in got.items():
                # A memory that says `price` once has not met `tax`, `fee` and `invoice`.
                left = {share: other for other, share in met.items() if other not in shared[number]}
                if left:
                    share = max(left)
                    shared[number][left[share]] = weight * share, spelled
        return [sorted(each.values(), reverse=True) for each in shared]

    def _nearby(self, terms: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """By word, the words of the memories that are near in meaning."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        wanted = [word for word in terms if _may_have_related(word) and len(terms[word]) > 3]
        rows = self._vectors.encode([terms[word] for word in wanted])
        if self._words is not None and rows is not None:
            cosines = rows @ self._words.T
            for row, column in zip(*(cosines > MIN_WORD_COSINE).nonzero(), strict=True):
                share = WORD_COSINE_WEIGHT * float(cosines[row, column])
                found[wanted[row]][self._stems[column]] = share
        return found

    def meaning(self, text: str) -> list[float] | None:
        """Per memory, the distance of its cosine from the mean, in standard deviations. None if unknown."""
        rows = None if self._texts is None else self._vectors.encode([text])
        if self._texts is None or rows is None or not rows.any():
            return None
        cosines = self._texts @ rows[0]
        usual = (cosines - cosines.mean()) / max(float(cosines.std()), LEAST_SPREAD)
        return [float(each) for each in usual]


def stem_terms(text: str) -> dict[str, str]:
    """By stem, the word as written. A digit or a letter alone is no term."""
    found: dict[str, str] = {}
    for term in query_terms(text):
        if len(term) > 2 or (len(term) == 2 and not term.isdigit()):
            found.setdefault(stem(term), term)
    return dict(islice(found.items(), MAX_TERMS))


def _may_have_related(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word not in GENERIC_STEMS


def _word_weight(word: str) -> float:
    """How much a word says, by its frequency in English and in prompts."""
    if stem(word) in GENERIC_STEMS:
        return COMMON_WEIGHT
    place = _word_ranks().get(word, 0) - FIRST_WORD
    if place < 0:
        return 1.0  # not a common word
    weight = math.log(place + 2) / math.log(30_000)
    return weight * FREQUENT_WEIGHT if place < FREQUENT_WORDS else weight


@cache
def _word_ranks() -> dict[str, int]:
    return {word: line for line, word in enumerate(VOCABULARY.read_text("utf-8").split("\n"))}


class MemoryRanker:
    """Caches what it has read. Thread-safe."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._vectors = VectorCache(encoder)
        self._collections: dict[tuple[tuple[str, str], ...], _Collection] = {}
        self._lock = threading.Lock()

    def near(self, memories: Sequence[StoredMemory], text: str) -> list[RankedMemory]:
        """All of them, best first."""
        text = text[:MAX_QUERY]
        with self._lock:
            collection = self._collection(memories)
            shared, known_meaning = collection.shared_words(text), collection.meaning(text)
        meaning = known_meaning or [0.0] * len(memories)
        # Among few memories none can be much nearer in meaning than the others: then words decide.
        enough = THRESHOLD if self._vectors.has_words else THRESHOLD_TEXT_VECTORS
        compared = 0 if known_meaning is None else max(0, len(memories) - 1)
        needed = THRESHOLD_WORDS + (enough - THRESHOLD_WORDS) * min(1.0, compared / MANY)
        question, recalls = QUESTION.match(text) is not None, RECALL_REQUEST.search(text)
        codes = not question and CODE_REQUEST.search(text)
        near = []
        for each, own, distance, lead in zip(
            memories, shared, meaning, _leads(shared, meaning), strict=True
        ):
            asked = (recalls and each.memory.type == USER) or (codes and _is_style(each.memory))
            score = (
                WORDS_WEIGHT * sum(points for points, _ in own)
                + SECOND_WORD_WEIGHT * (own[1][0] if len(own) > 1 else 0.0)
                + MEANING_WEIGHT * distance
                + LEAD_WEIGHT * (max(lead, 0.0) if asked else lead)
                + (RECALL_WEIGHT if asked else -QUESTION_PENALTY * question)
            )
            words = ", ".join(word.replace("_", " ") for _, word in own[:SHOWN_WORDS])
            reasons = filter(None, ["a rule for it" if asked else "", words])
            why = "; ".join(reasons) or "near in meaning"
            near.append(RankedMemory(each, score / needed, why))
        return sorted(near, key=lambda each: (-each.score, each.memory.memory.name))

    def prepare(self, memories: Sequence[StoredMemory]) -> None:
        """Before anybody waits for it."""
        with self._lock:
            self._collection(memories)

    def _collection(self, memories: Sequence[StoredMemory]) -> _Collection:
        key = tuple((each.checksum, each.memory.name) for each in memories)
        found = self._collections.pop(key, None)
        found = found or _Collection([each.memory for each in memories], self._vectors)
        self._collections[key] = found
        if len(self._collections) > MAX_COLLECTIONS:
            del self._collections[next(iter(self._collections))]
        return found


def confident_matches(found: Sequence[RankedMemory]) -> list[RankedMemory]:
    """What may be injected, best first."""
    return [each for each in found if each.score >= 1.0][:MAX_MATCHES]


def likely_matches(found: Sequence[RankedMemory]) -> list[RankedMemory]:
    """What a search may show, best first: somebody asks, so what is only likely is worth a line."""
    return [each for each in found if each.score >= LIKELY_SCORE][:MAX_MATCHES]


def _leads(shared: Shared, meaning: Sequence[float]) -> list[float]:
    """How far each is ahead of all others, or behind the first: of two that are equally near, neither is
    certain."""
    own = [
        sum(points for points, _ in words) + LEAD_MEANING_WEIGHT * distance
        for words, distance in zip(shared, meaning, strict=True)
    ]
    first, second = sorted([*own, 0.0, 0.0], reverse=True)[:2]
    return [max(-1.0, min(1.0, each - (second if each == first else first))) for each in own]


def _head(memory: Memory) -> str:
    return f"{memory.name.replace('-', ' ')}\n{memory.description}"


def _is_style(memory: Memory) -> bool:
    return memory.type in (USER, FEEDBACK) and STYLE_RULE.search(_head(memory)) is not None
