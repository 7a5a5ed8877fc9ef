"""Other weights in a moment: what the search knew of each candidate is recorded once, and only counted again.

    from benchmarks.recall import run, tuning
    from aforesaid.recall.rank import Weights

    data = run.read("locomo", Path("locomo10.json"))
    tuning.evaluate(data, Weights(meaning=0.3), "static")

Every part of the ranking is a weight times what a candidate has of it: with all weights at one its points
say how much that is, and any other weights are a multiplication. A change of `rank.py` or of the search
needs a new recording: a new process.
"""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from aforesaid.encoders.base import Encoder
from aforesaid.model.search import Document
from aforesaid.recall import rank
from aforesaid.recall.search import SAME, Searcher
from benchmarks.recall.asking import Moment, filters_of
from benchmarks.recall.loading import Show, encoder_named, loaded, unseen
from benchmarks.recall.metrics import CUT, Figures, figures, score
from benchmarks.recall.sets import DataSet, Memory, Question

ONES = rank.Weights(*(1.0 for _ in fields(rank.Weights)))
_recordings: dict[tuple[int, str], "tuple[DataSet, list[Recorded]]"] = {}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A question with its candidates: of each what it has of every part, and what it says."""

    question: Question
    names: tuple[str, ...]
    parts: NDArray[np.float64]  # candidates by weights
    order: NDArray[np.int64]  # for those with equal points
    words: tuple[frozenset[str], ...]

    def found(self, weights: NDArray[np.float64]) -> list[str]:
        points = self.parts @ weights
        best = np.lexsort((self.order, -points))
        kept: list[int] = []
        for place in best:
            if not any(self._same(place, other) for other in kept):
                kept.append(place)
            if len(kept) == CUT:
                break
        return [self.names[place] for place in kept]

    def _same(self, one: int, other: int) -> bool:
        both = len(self.words[one] & self.words[other])
        return both > 3 and both >= SAME * len(self.words[one] | self.words[other])


def evaluate(
    data: DataSet,
    weights: rank.Weights,
    encoder: str = "static",
    *,
    categories: frozenset[str] | None = None,
    show: Show = unseen,
) -> Figures:
    """Over all questions, or over those of some categories. The first call records."""
    return evaluated(data, weights, encoder, {"": categories}, show=show)[""]


def evaluated(
    data: DataSet,
    weights: rank.Weights,
    encoder: str,
    groups: Mapping[str, frozenset[str] | None],
    *,
    show: Show = unseen,
) -> dict[str, Figures]:
    """Of several groups of categories at once; None stands for all."""
    known = recorded(data, encoder, show)
    array = np.array(astuple(weights))
    scores = [
        (each.question.category, score(each.found(array), each.question.answers)) for each in known
    ]
    return {
        name: figures(s for category, s in scores if wanted is None or category in wanted)
        for name, wanted in groups.items()
    }


def recorded(data: DataSet, encoder: str, show: Show) -> list[Recorded]:
    key = (id(data), encoder)  # with the data kept beside it, so that the id stays its own
    if key not in _recordings:
        total = sum(len(memory.questions) for memory in data.memories)
        found: list[Recorded] = []
        for memory in data.memories:
            for each in _record(data, memory, encoder_named(encoder)):
                found.append(each)
                show(len(found), total)
        _recordings[key] = (data, found)
    return _recordings[key][1]


def _record(data: DataSet, memory: Memory, encoder: Encoder | None) -> Iterator[Recorded]:
    with loaded(memory, encoder) as known:
        moment = Moment()
        searcher = Searcher(known.store, encoder, moment, ONES)
        for question in memory.questions:
            moment.at = question.at
            filters = filters_of(data, question, known.projects)
            _, found, _ = searcher.find(question.text, filters)
            documents = [each.document for each in found]
            words = known.store.index.document_words(document.id for document in documents)
            places = sorted(
                range(len(documents)), key=lambda n: (-documents[n].at, documents[n].id)
            )
            order = np.zeros(len(documents), np.int64)
            order[places] = np.arange(len(documents))
            yield Recorded(
                question,
                tuple(_named(known.names, document) for document in documents),
                np.array([[*each.points.values()] for each in found]).reshape(
                    -1, len(fields(rank.Weights))
                ),
                order,
                tuple(frozenset(words.get(d.id, "").split()) for d in documents),
            )


def _named(names: dict[tuple[str, int], str], document: Document) -> str:
    return names.get((document.kind, document.source), f"{document.kind} {document.source}")
