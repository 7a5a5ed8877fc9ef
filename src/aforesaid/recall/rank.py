"""The one scoring function: pure, and every point it gives has a name.

All parts are scaled to about one for the best candidate, so a weight says how much a part can decide. The
weights were chosen on development data only; `docs/explanation/ranking.md` shows what each is worth.

Near-duplicates are folded into the best of them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from operator import itemgetter

from aforesaid.clock import DAY
from aforesaid.model.search import PROMPT, Document, Reason
from aforesaid.recall.question import Question
from aforesaid.store.store import Store
from aforesaid.times import Mention

HALF_YEAR = 180 * DAY


@dataclass(frozen=True, slots=True)
class Weights:
    words: float = 1.0
    previous: float = 0.4
    next: float = 0.2
    session: float = 0.6
    meaning: float = 0.3
    names: float = 0.7
    times: float = 0.9
    answers: float = 0.3  # the question asks when or how many, and it says so
    recent: float = 0.1
    pinned: float = 0.2
    asks: float = -0.3
    prompt: float = -0.2
    doubted: float = -0.3
    superseded: float = -0.3
    by_user: float = 0.1  # a person's words are trusted more than a model's
    dead_end: float = -0.1


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the candidates: BM25 by document, the best of it by session, and nearness in meaning
    in standard deviations."""

    words: Mapping[int, float]
    sessions: Mapping[int, float]
    meaning: Mapping[int, float] = field(default_factory=dict)
    now: int = 0
    best: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "best", max(self.words.values(), default=0.0) or 1.0)


DEFAULT = Weights()
PARTS = (
    "words",
    "words before it",
    "words after it",
    "its session",
    "meaning",
    "names",
    "time",
    "answers",
    "recent",
    "pinned",
    "a question",
    "a prompt",
    "doubted",
    "superseded",
    "the user's words",
    "a dead end",
)


def points(
    document: Document, question: Question, evidence: Evidence, weights: Weights = DEFAULT
) -> tuple[float, ...]:
    """What speaks for a document and against it, in the order of `PARTS`. Their sum is its score."""
    words, best = evidence.words, evidence.best
    named = document.labels & question.names if question.names else ()
    return (
        weights.words * words.get(document.id, 0.0) / best,
        weights.previous * words.get(document.previous or 0, 0.0) / best,
        weights.next * words.get(document.next or 0, 0.0) / best,
        weights.session * evidence.sessions.get(document.session_id, 0.0) / best,
        weights.meaning * evidence.meaning.get(document.id, 0.0),
        weights.names * len(named) / len(question.names) if named else 0.0,
        weights.times * _time(document, question) if question.mentions else 0.0,
        weights.answers * _answers(document, question),
        weights.recent * 0.5 ** (max(0, evidence.now - document.at) / HALF_YEAR),
        weights.pinned * document.pinned,
        weights.asks * document.asks,
        weights.prompt * (document.kind == PROMPT),
        weights.doubted * document.doubted,
        weights.superseded * document.superseded,
        weights.by_user * document.by_user,
        weights.dead_end * document.dead_end,
    )


def reasons(given: tuple[float, ...], document: Document, question: Question) -> tuple[Reason, ...]:
    """The points in words, the largest first; what is nothing is left out."""
    because = {
        "names": ", ".join(sorted(document.labels & question.names)),
        "time": ", ".join(mention.phrase for mention in question.mentions),
    }
    found = [
        Reason(name, value, because.get(name, ""))
        for name, value in zip(PARTS, given, strict=True)
        if value
    ]
    return tuple(sorted(found, key=lambda reason: -abs(reason.points)))


def session_bests(documents: list[Document], words: Mapping[int, float]) -> dict[int, float]:
    """A session is as near as the best thing in it, or as its own titles are."""
    best: dict[int, float] = {}
    for document in documents:
        score = words.get(document.id, 0.0)
        best[document.session_id] = max(best.get(document.session_id, 0.0), score)
    return best


def in_named_time(document: Document, question: Question) -> bool:
    """On a day, or in a month, that the question names. `recently` names none."""
    return any(mention.exact and _within(document, mention) for mention in question.mentions)


def _time(document: Document, question: Question) -> float:
    """One for a mentioned day, or month; a part where the mention is vague."""
    mentions = (each for each in question.mentions if _within(document, each))
    return max((1.0 if mention.exact else 0.4 for mention in mentions), default=0.0)


def _within(document: Document, mention: Mention) -> bool:
    return (mention.since or 0) <= document.at < (mention.until or 2**62)


def _answers(document: Document, question: Question) -> float:
    return float(
        (question.asks_when and document.says_when)
        or (question.asks_how_many and document.says_number)
    )


SAME = 0.8  # Jaccard similarity of the words of two results
FEWEST_WORDS = 4  # shorter texts are not compared


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its points. `words`: BM25; `meaning`: in standard deviations, 0 without vectors."""

    document: Document
    points: tuple[float, ...]
    score: float
    words: float
    meaning: float


def fold(store: Store, found: Sequence[Found]) -> list[tuple[Found, tuple[int, ...]]]:
    """All of them, best first, each with the ids of the duplicates behind it.

    Two that are the same share a word among the rarest fifth of either's (prefix filtering): only those are
    compared."""
    texts = store.index.document_words(each.document.id for each in found)
    sets = [frozenset(texts.get(each.document.id, "").split()) for each in found]
    spread = Counter(chain.from_iterable(sets))
    order = {word: n for n, (word, _) in enumerate(sorted(spread.items(), key=itemgetter(1)))}
    kept: list[tuple[Found, frozenset[str], list[int]]] = []
    by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
    for each, words in zip(found, sets, strict=True):
        size = len(words) - ceil(SAME * len(words)) + 1
        rarest = sorted(words, key=order.__getitem__)[:size]
        keys = [(each.document.kind, word) for word in rarest if spread[word] > 1]
        others = sorted({number for key in keys for number in by_word[key]})
        same = next((kept[n][2] for n in others if _is_same(words, kept[n][1])), None)
        if same is not None:
            same.append(each.document.source)
            continue
        for key in keys:
            by_word[key].append(len(kept))
        kept.append((each, words, []))
    return [(each, tuple(same)) for each, _, same in kept]


def _is_same(words: frozenset[str], others: frozenset[str]) -> bool:
    small, large = sorted((len(words), len(others)))
    if small < FEWEST_WORDS or small < SAME * large:
        return False
    shared = len(words & others)
    return shared >= SAME * (small + large - shared)
