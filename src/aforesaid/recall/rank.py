"""The one scoring function: pure, and every point it gives has a name.

All parts are scaled to about one for the best candidate, so a weight says how much a part can decide. The
weights were chosen on the tuning halves of several sets at once; `docs/explanation/ranking.md` shows what
each is worth. Points order results; `relevance` says whether they answer at all.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aforesaid.clock import DAY
from aforesaid.english import SHORTEST_STEM, stem
from aforesaid.model.search import PROMPT, Document, Reason
from aforesaid.recall.excerpts import stems
from aforesaid.recall.question import Question

HALF_YEAR = 180 * DAY
USUAL_TERMS = 12  # more words than that match more by chance
BY_MEANING = 0.4
Turn = tuple[int, int | None]  # a session, and the number of the prompt


@dataclass(frozen=True, slots=True)
class Weights:
    words: float = 1.0
    previous: float = 0.4
    session: float = 0.6
    prompt: float = 0.2
    said: float = 0.6
    meaning: float = 0.3
    own: float = 0.4
    names: float = 0.7
    times: float = 0.9
    answers: float = 0.6  # the question asks when or how many, and it says so
    recent: float = 0.1
    pinned: float = 0.2
    asks: float = -0.5
    is_prompt: float = -0.4
    doubted: float = -0.3
    superseded: float = -0.4


DEFAULT = Weights()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the candidates: BM25 by document, and the best of it by session; of turns BM25 of the
    prompt, and of what the agent wrote (its events); nearness in meaning with the neighbours, in standard
    deviations, and of the document alone, as a cosine."""

    words: Mapping[int, float]
    sessions: Mapping[int, float]
    meaning: Mapping[int, float] = field(default_factory=dict)
    now: int = 0
    cosines: Mapping[int, float] = field(default_factory=dict)
    prompts: Mapping[Turn, float] = field(default_factory=dict)
    said: Mapping[Turn, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        return _most(self.words)


def _most(values: Mapping[object, float] | Mapping[int, float] | Mapping[Turn, float]) -> float:
    return max(values.values(), default=0.0) or 1.0


def score(
    documents: Iterable[Document],
    question: Question,
    evidence: Evidence,
    weights: Weights = DEFAULT,
) -> list["Found"]:
    """With what speaks for each document and against it, by name. The sum is its score."""
    words, best = evidence.words, evidence.best
    best_said, best_cosine = _most(evidence.said), _most(evidence.cosines)

    def score_one(document: Document) -> Found:
        own, near = words.get(document.id, 0.0), evidence.meaning.get(document.id, 0.0)
        turn = document.session_id, document.turn
        named = document.labels & question.names if question.names else ()
        age = max(0, evidence.now - document.at)
        cosine = max(0.0, evidence.cosines.get(document.id, 0.0))
        points = {
            "words": weights.words * own / best,
            "words before it": weights.previous * words.get(document.previous or 0, 0.0) / best,
            "its session": weights.session * evidence.sessions.get(turn[0], 0.0) / best,
            "its prompt": weights.prompt * evidence.prompts.get(turn, 0.0) / best,
            "its turn": weights.said * evidence.said.get(turn, 0.0) / best_said,
            "meaning": weights.meaning * near,
            "meaning by itself": weights.own * cosine / best_cosine,
            "names": weights.names * len(named) / len(question.names) if named else 0.0,
            "time": weights.times * in_named_time(document, question),
            "answers": weights.answers * _answers(document, question),
            "recent": weights.recent * 0.5 ** (age / HALF_YEAR),
            "pinned": weights.pinned * document.pinned,
            "a question": weights.asks * document.asks,
            "a prompt": weights.is_prompt * (document.kind == PROMPT),
            "unverified": weights.doubted * document.doubted,
            "superseded": weights.superseded * document.superseded,
        }
        return Found(document, points, sum(points.values()), own, near)

    return [score_one(each) for each in documents]


def reasons(
    given: Mapping[str, float], document: Document, question: Question
) -> tuple[Reason, ...]:
    because = {
        "names": ", ".join(sorted(document.labels & question.names)),
        "time": ", ".join(mention.phrase for mention in question.mentions),
    }
    found = [Reason(name, value, because.get(name, "")) for name, value in given.items() if value]
    return tuple(sorted(found, key=lambda reason: -abs(reason.points)))


def session_bests(documents: Iterable[Document], words: Mapping[int, float]) -> dict[int, float]:
    """A session is as near as the best thing in it, or as its own titles are."""
    best: dict[int, float] = defaultdict(float)
    for each in documents:
        best[each.session_id] = max(best[each.session_id], words.get(each.id, 0.0))
    return best


def in_named_time(document: Document, question: Question) -> bool:
    """In a time that the question names, such as a day or a month."""
    return any(
        (each.since or 0) <= document.at < (each.until or 2**62) for each in question.mentions
    )


def _answers(document: Document, question: Question) -> bool:
    counts = question.asks_how_many and document.says_number
    return counts or (question.asks_when and document.says_when)


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its points. `words`: BM25; `meaning`: in standard deviations, 0 without vectors."""

    document: Document
    points: Mapping[str, float]
    score: float
    words: float
    meaning: float


def relevance(
    found: Sequence[Found], question: Question, texts: Mapping[int, str], documents: int
) -> list[tuple[float, float]]:
    """How near each is to a question, comparable between questions and stores: BM25 as it would be in a store
    of any size (rare words count more in a large one), and meaning. And the share of the question's rare
    words that it has. `texts`: as they are indexed, by document."""
    size = math.log(2 + documents) * max(1.0, math.sqrt(len(question.weights) / USUAL_TERMS))
    return [
        (
            each.words / size + BY_MEANING * each.meaning,
            share(texts.get(each.document.id, "").split(), question),
        )
        for each in found
    ]


def share(words: Iterable[str], question: Question) -> float:
    """Of the question's words, by their weights, which of them are among these."""
    weights, wanted = question.weights, {term: stem(term) for term in question.weights}
    begins = {each[:SHORTEST_STEM] for each in wanted.values()}  # most other words need no stem
    have = stems(word for word in words if word[:SHORTEST_STEM] in begins)
    shared = sum(weights[term] for term, each in wanted.items() if each in have)
    return shared / (sum(weights.values()) or 1.0)


def nearness(found: Found, documents: int) -> float:
    """The same for a text whose words are not all wanted, such as the name of a branch."""
    return found.words / math.log(2 + documents) + BY_MEANING * found.meaning
