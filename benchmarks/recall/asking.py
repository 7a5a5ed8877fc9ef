"""Every question of a data set through the real search, timed, with what it found."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aforesaid.encoders.base import Encoder
from aforesaid.model.search import Filters, Hit, Query
from aforesaid.recall.search import Searcher
from benchmarks.recall.loading import Loaded, Show, encoder_named, loaded
from benchmarks.recall.metrics import CUT, Figures, Score, figures, score
from benchmarks.recall.plain import Plain
from benchmarks.recall.sets import DataSet, Memory, Question


@dataclass(frozen=True, slots=True)
class Result:
    """`found`: by the data set's names, best first; what is no observation takes its place unnamed."""

    question: Question
    found: tuple[str, ...]
    score: Score
    milliseconds: float
    hits: tuple[Hit, ...] = ()


@dataclass(slots=True)
class Run:
    data: DataSet
    results: list[Result] = field(default_factory=list)
    items: int = 0
    seconds: float = 0.0  # storing and indexing
    without: str | None = None

    def figures(self, categories: frozenset[str] | None = None) -> Figures:
        return figures(
            each.score
            for each in self.results
            if categories is None or each.question.category in categories
        )

    def categories(self) -> list[str]:
        return sorted({each.question.category for each in self.results})


class Moment:
    """A clock that is set to the time of the question."""

    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> int:
        return self.at


def filters_of(data: DataSet, question: Question, projects: dict[str, int]) -> Filters:
    project_id = projects.get(question.project) if question.project else None
    return Filters(project_id=project_id, kinds=data.kinds)


def run(data: DataSet, encoder: str, show: Show, *, plain: bool = False) -> Run:
    chosen = None if plain else encoder_named(encoder)
    made = Run(data)
    total = sum(len(memory.questions) for memory in data.memories)
    for memory in data.memories:
        asked = _plain(memory) if plain else _asked(made, memory, chosen)
        made.items += len(memory.observations)
        for result in asked:
            made.results.append(result)
            show(len(made.results), total)
    return made


def _asked(made: Run, memory: Memory, encoder: Encoder | None) -> Iterator[Result]:
    with loaded(memory, encoder) as known:
        made.seconds += known.seconds
        moment = Moment()
        searcher = Searcher(known.store, encoder, moment)
        searcher.warm()
        for question in memory.questions:
            moment.at = question.at
            filters = filters_of(made.data, question, known.projects)
            began = time.perf_counter()
            answer = searcher.search(Query(question.text, filters, limit=CUT))
            took = (time.perf_counter() - began) * 1000
            made.without = made.without or answer.without
            names = tuple(_name(known, hit) for hit in answer.hits)
            sure = () if answer.weak else answer.hits
            yield Result(question, names, _score(question, names, sure), took, answer.hits)


def _score(question: Question, names: Sequence[str], sure: Sequence[object]) -> Score:
    """A question without an answer should find nothing, or only what is marked as weak."""
    if question.answers:
        return score(names, question.answers)
    quiet = float(not sure)
    return Score(quiet, quiet, quiet)


def _name(known: Loaded, hit: Hit) -> str:
    return known.names.get((hit.kind, hit.id), f"{hit.kind} {hit.id}")


def _plain(memory: Memory) -> Iterator[Result]:
    with loaded(memory, None) as known:
        bare = Plain(known, memory)
    for question in memory.questions:
        began = time.perf_counter()
        names = tuple(bare.search(question, CUT))
        took = (time.perf_counter() - began) * 1000
        yield Result(question, names, _score(question, names, names), took)
    bare.close()
