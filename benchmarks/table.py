"""Plain tables: medians, and their ratio to a baseline of the same run."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.rounds import Variant

TIMES = ("median ms", "p95 ms", "ratio", "aim")


@dataclass(slots=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        assert len(cells) == len(self.columns), cells
        self.rows.append(cells)

    def text(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        shown = [_aligned(line, widths) for line in lines]
        rule = "  ".join("-" * width for width in widths)
        notes = [f"  {note}" for note in self.notes]
        return "\n".join([self.title, "", shown[0], rule, *shown[1:], *notes, ""])


def of_times(title: str, variants: "Sequence[Variant]", baseline: "Variant") -> Table:
    table = Table(title, (f"x {baseline.name}", *TIMES))
    unit = median(baseline.times)
    for variant in variants:
        middle = median(variant.times)
        ratio = f"{middle / unit:.2f}"
        table.add(variant.name, ms(middle), ms(p95(variant.times)), ratio, variant.aim)
    return table


def as_json(machine: str, tables: Sequence[Table]) -> str:
    return json.dumps({"machine": machine, "tables": [asdict(t) for t in tables]}, indent=1)


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


def ms(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "none"


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Names to the left, figures to the right."""
    first = cells[0].ljust(widths[0])
    rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join([first, *rest]).rstrip()
