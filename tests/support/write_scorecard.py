"""Measures recall again and writes docs/scorecard.md.

Run: python -m tests.support.write_scorecard --locomo FILE
"""

import argparse
from pathlib import Path

from aforesaid import clock
from benchmarks import machine
from benchmarks.recall import run
from benchmarks.recall.sets import DataSet
from benchmarks.search import run as growth
from benchmarks.table import Table

PAGE = Path(__file__).parents[2] / "docs" / "scorecard.md"
LEAD = """<!-- Generated: python -m tests.support.write_scorecard --locomo FILE -->
# Scorecard

How well recall works, measured through the product's own store and search. `make bench ARGS=recall` repeats
each table: add `--encoder none|minilm`, `--plain` (FTS5 by itself) or `--prompts`. What the figures mean is
in [the reference](reference/recall-benchmark.md); how weights were chosen is in
[the ranking](explanation/ranking.md).
"""
WAYS = (
    ("FTS5 by itself", {"plain": True}),
    ("words only", {"encoder": "none"}),
    ("the default encoder", {"encoder": "static"}),
    ("minilm", {"encoder": "minilm"}),
)
ENCODERS = ("none", "static", "minilm")
SIZES = (1_000, 10_000)
COLUMNS = ("", "questions", "all@10", "mean@10", "NDCG@10", "p50 ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="a copy of LoCoMo")
    given = parser.parse_args()
    coding = run.read("coding")
    parts = [LEAD, f"{clock.day_and_time(clock.now())[:10]}. {machine.described(first=False)}.\n"]
    parts += _quality("Coding work, the half that nothing was tuned on", coding, "")
    locomo = run.read("locomo", given.locomo)
    parts += _quality("LoCoMo, categories 1 to 4", locomo, locomo.groups[0][0])
    for encoder in ENCODERS:
        made = run.prompt_table(coding.half("report"), encoder, _silent)
        parts += _markdown(made.title, made)
    for made in growth.tables([growth.measure(n, "static", 200, _silent) for n in SIZES]):
        parts += _markdown(made.title, made)
    PAGE.write_text("\n".join(parts))


def _quality(title: str, data: DataSet, group: str) -> list[str]:
    """A row for each way to look: `group` of the questions, or all of them."""
    made = Table(title, COLUMNS)
    for name, how in WAYS:
        figures, speed = run.tables(run.measure(data, _silent, **how), name)
        row = next(row for row in figures.rows if row[0] == (group or "all"))
        made.add(name, *row[1:], speed.rows[0][2])
    return _markdown(title, made)


def _markdown(title: str, made: Table) -> list[str]:
    rule = "|---|" + "--:|" * (len(made.columns) - 1)
    lines = ["| " + " | ".join(cells) + " |" for cells in (made.columns, *made.rows)]
    return [f"## {title}", "", lines[0], rule, *lines[1:], "", *made.notes, ""]


def _silent(_done: int, _of: int) -> None:
    """Nobody watches."""


if __name__ == "__main__":
    main()
