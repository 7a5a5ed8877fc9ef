"""`benchmarks recall`: reads a data set, asks its questions, and makes the tables."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from aforesaid.errors import NotFound
from aforesaid.recall.inject import MOST, choose
from aforesaid.recall.search import Searcher
from aforesaid.text import one_line
from benchmarks import table
from benchmarks.recall import asking, beam, coding, locomo, prompts, sessions
from benchmarks.recall.asking import Moment, Result, Run
from benchmarks.recall.loading import Loaded, Show
from benchmarks.recall.metrics import CUT, Figures
from benchmarks.recall.sets import DataSet, Prompt

READERS = {
    "locomo": locomo.read,
    "beam": beam.read,
    "sessions": sessions.read,
    "pieces": sessions.read_pieces,
}
EXPLAINED = 4  # findings, and of each the best reasons
COLUMNS = ("", "questions", "all@10", "mean@10", "NDCG@10")


def read(name: str, file: Path | None = None) -> DataSet:
    """`coding` ships with the product; what is not known by name is a file of our own format."""
    if name == "coding" and file is None:
        return coding.shipped()
    reader = READERS.get(name)
    if reader is None:
        reader, file = coding.read, file or Path(name)
    if file is None:
        raise NotFound(f"{name} does not ship with aforesaid. Name your copy of it with --file.")
    if not file.exists():
        raise NotFound(
            f"There is no data set and no file {file}. Give coding, {', '.join(READERS)}, or a JSONL file."
        )
    return reader(file)


def measure(
    data: DataSet,
    show: Show,
    *,
    encoder: str = "static",
    plain: bool = False,
    half: str = "report",
    every_kind: bool = False,
    most: int | None = None,
) -> Run:
    data = data.half(half)
    if every_kind:
        data = replace(data, kinds=())
    return asking.run(data.first(most) if most else data, encoder, show, plain=plain)


def tables(run: Run, how: str) -> list[table.Table]:
    return [_quality(run, how), _speed(run, how)]


def _quality(run: Run, how: str) -> table.Table:
    made = table.Table(f"Recall on {run.data.name}, {how}", COLUMNS)
    names = run.categories()
    if len(names) > 1:
        for name in names:
            _add(made, name, run.figures(frozenset((name,))))
    for name, categories in run.data.groups:
        _add(made, name, run.figures(categories))
    _add(made, "all", run.figures())
    if run.without:
        made.notes.append(run.without)
    return made


def _add(made: table.Table, name: str, found: Figures) -> None:
    shares = (f"{value:.1f}" for value in (found.all, found.mean, found.ndcg))
    made.add(name, f"{found.questions:,}", *shares)


def _speed(run: Run, how: str) -> table.Table:
    columns = ("", "items", "p50 ms", "p95 ms", "items/s stored and indexed")
    made = table.Table(f"Speed on {run.data.name}, {how}", columns)
    times = [each.milliseconds for each in run.results] or [0.0]
    rate = f"{run.items / run.seconds:,.0f}" if run.seconds else ""
    cells = (f"{run.items:,}", table.ms(table.median(times)), table.ms(table.p95(times)), rate)
    made.add("a question", *cells)
    stores = len(run.data.memories)
    made.notes.append(f"In {stores} stores." if stores > 1 else "In one store.")
    return made


def prompt_table(data: DataSet, encoder: str, show: Show) -> table.Table:
    """What is injected at prompts."""
    if not any(memory.prompts for memory in data.memories):
        raise NotFound(f"There are no prompts in {data.name}.")
    found = prompts.run(data, encoder, _chooser, show)
    return found.table(f"Injected at prompts, {data.name}, encoder {encoder}")


def _chooser(_known: Loaded, searcher: Searcher, _moment: Moment) -> prompts.Choose:
    """The product's own choice for a prompt."""

    def chosen(prompt: Prompt, project_id: int) -> list[int]:
        found = choose(searcher, project_id, prompt.text)
        return [each.document.source for each, _ in found][:MOST]

    return chosen


def explained(run: Run) -> Iterator[str]:
    """Every question that was not answered in full: what was wanted, what was found, and why."""
    for result in run.results:
        if result.score.all < 1:
            yield from _explained(result)


def _explained(result: Result) -> Iterator[str]:
    question = result.question
    yield f"{question.id} [{question.category}] {question.text}"
    missing = [name for name in question.answers if name not in result.found]
    yield f"  {result.score.mean:.0%} found; missing: {', '.join(missing)}"
    for place, name in enumerate(result.found[:CUT]):
        mark = "*" if name in question.answers else " "
        hit = result.hits[place] if result.hits else None
        title = one_line(hit.title, 70) if hit else ""
        yield f"  {mark} {name}  {title}"
        if hit is not None:
            best = sorted(hit.reasons, key=lambda reason: -abs(reason.points))[:EXPLAINED]
            why = ", ".join(f"{reason.name} {reason.points:+.2f}" for reason in best)
            yield f"      {hit.score:.2f}: {why}"
    yield ""
