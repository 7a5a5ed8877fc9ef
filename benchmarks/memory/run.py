"""`benchmarks memory`: what is kept of talks, and what is injected at prompts; without a model, and
with one."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from aforesaid.memory.ranking import MemoryRanker
from aforesaid.providers.base import Model
from benchmarks import table
from benchmarks.memory import dialogues, extraction, selection
from benchmarks.memory.asked import Asked
from benchmarks.recall.loading import Show, encoder_named

EXTRACTION, SELECTION = "extraction", "selection"
PARTS = (EXTRACTION, SELECTION)
Bar = Callable[[str], AbstractContextManager[Show]]


@dataclass(frozen=True, slots=True)
class Measured:
    """`faults`: what went wrong, line by line."""

    table: table.Table
    faults: tuple[str, ...]


def measure(
    bar: Bar,
    *,
    half: str,
    encoder: str = "static",
    model: Model | None = None,
    parts: Sequence[str] = PARTS,
) -> list[Measured]:
    """Without a model first; then, if there is one, with it."""
    made = []
    for who in (None, model) if model else (None,):
        name = f" with {who.model}" if who else ""
        if EXTRACTION in parts:
            with bar(f"Dialogues{name}") as show:
                made.append(extracted(who, half, show))
        if SELECTION in parts:
            with bar(f"Prompts{name}") as show:
                made.append(selected(who, half, encoder, show))
    return made


def extracted(model: Model | None, half: str, show: Show) -> Measured:
    outcomes, asked = extraction.run(model, dialogues.half(half), show)
    how = f"rules and {model.model}" if model else "rules"
    title = f"Memories taken from dialogues by {how}, {_named(half)}"
    made = extraction.tabled(title, outcomes, asked)
    return Measured(made, tuple(extraction.explained(outcomes)))


def selected(model: Model | None, half: str, encoder: str, show: Show) -> Measured:
    asked = Asked()
    chooser = selection.product(MemoryRanker(encoder_named(encoder)), model, asked)
    told = selection.run(selection.half(half), chooser, show)
    how = model.model if model else "words" if encoder == "none" else f"words and {encoder}"
    title = f"Memories injected at prompts, chosen by {how}, {_named(half)}"
    return Measured(told.table(title, asked), tuple(told.explained()))


def _named(half: str) -> str:
    return "both halves" if half == "all" else f"{half} half"
