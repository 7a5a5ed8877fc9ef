"""How commands speak: tables for people, JSON for programs, colour where it is wanted."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.english import count as count  # noqa: PLC0414 - commands speak through this module
from recollect.text import clean

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod
    from rich.text import Text

F = TypeVar("F", bound=Callable[..., Any])
GAP = 2  # between the columns of a table
TYPE_COLOURS = {
    "decision": "magenta",
    "bugfix": "red",
    "feature": "green",
    "refactor": "cyan",
    "discovery": "yellow",
    "change": "blue",
}


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def print_json(value: object) -> None:
    """On a terminal in ASCII alone: captured text may hold characters that steer it."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=sys.stdout.isatty()))


def console() -> "Console":
    """Rich honours NO_COLOR, a dumb terminal and a pipe by itself. Piped text is not cut to a width."""
    from rich.console import Console

    found = Console(highlight=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = 120
    return found


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Collection[str] = (),
) -> None:
    """A table that fits the terminal; in one that is too narrow for any, a line for each cell. Cells are
    captured text: cleaned, and never taken as markup. The columns of `numbers` stand at the right and are
    never broken."""
    from rich import box
    from rich.table import Table

    from recollect.cli.columns import fitted

    screen = console()
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = fitted(columns, cells, screen.width - GAP * len(columns), numbers)
    if widths is None:
        _print_stacked(screen, columns, cells)
        return
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for column, width in zip(columns, widths, strict=True):
        justify: JustifyMethod = "right" if column in numbers else "left"
        view.add_column(column, overflow="fold", width=width, justify=justify)
    for row in cells:
        view.add_row(*map(_cell, columns, row))
    screen.print(view)


def _print_stacked(
    screen: "Console", columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    from rich.table import Table

    screen.print()
    for row in rows:
        view = Table.grid(padding=(0, GAP, 0, 0))
        view.add_column(no_wrap=True, style="dim")
        view.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell:
                view.add_row(column, _cell(column, cell))
        screen.print(view, "")


def _cell(column: str, cell: str) -> "Text":
    from rich.text import Text

    style = TYPE_COLOURS.get(cell, "") if column == "type" else "bold" if column == "id" else ""
    return Text(cell, style=style)


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def wrapped(text: str, *, first: str = "", rest: str = "") -> str:
    """Broken at words for the terminal's width, with the indent kept; whole for a pipe."""
    if not sys.stdout.isatty():
        return first + text
    width = max(30, min(console().width, 110))
    paragraphs = text.split("\n")
    filled = [
        textwrap.fill(part, width, initial_indent=rest if number else first, subsequent_indent=rest)
        for number, part in enumerate(paragraphs)
    ]
    return "\n".join(filled)


def heading(text: str) -> str:
    return click.style(clean(text), bold=True)


def styled(text: str, **style: Any) -> str:
    return click.style(clean(text), **style)


def say(text: str = "") -> None:
    """click strips the colours for a pipe; NO_COLOR asks for the same."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    click.echo(text, color=False if plain else None)
