"""all@10, mean@10 and NDCG@10: how much of what answers a question is among the first ten, and how high."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CUT = 10


@dataclass(frozen=True, slots=True)
class Score:
    """Of one question, each from 0 to 1."""

    all: float
    mean: float
    ndcg: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Over several questions, in per cent."""

    questions: int
    all: float
    mean: float
    ndcg: float


def score(found: Sequence[str], answers: Sequence[str]) -> Score:
    """`found`: best first. What is found twice counts once. `answers`: of those with commas between them any
    one is enough; `turn#2` is a piece of `turn`."""
    wanted = set(answers)
    groups = {name: answer for answer in answers for name in answer.split(",")}
    turns = (name.partition("#")[0] for name in found)
    first = list(dict.fromkeys(groups.get(name, name) for name in turns))[:CUT]
    hits = [place for place, name in enumerate(first) if name in wanted]
    gain = sum(1 / math.log2(place + 2) for place in hits)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(CUT, len(wanted))))
    return Score(float(len(hits) == len(wanted)), len(hits) / len(wanted), gain / ideal)


def figures(scores: Iterable[Score]) -> Figures:
    known = list(scores)
    if not known:
        return Figures(0, 0.0, 0.0, 0.0)
    return Figures(
        len(known),
        100 * statistics.fmean(each.all for each in known),
        100 * statistics.fmean(each.mean for each in known),
        100 * statistics.fmean(each.ndcg for each in known),
    )
