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
    from rich.console import Console
    from rich.text import Text

F = TypeVar("F", bound=Callable[..., Any])
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
    title: str | None,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Collection[str] = (),
) -> None:
    """A table that fits the terminal. Cells are captured text: cleaned, and never taken as markup. The
    columns of `numbers` stand at the right and are never broken."""
    from rich import box
    from rich.table import Table

    view = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        view.add_column(
            column,
            overflow="fold",
            no_wrap=column in ("id", "when", "session", "type", *numbers),
            justify="right" if column in numbers else "left",
        )
    for row in rows:
        view.add_row(*(_cell(column, cell) for column, cell in zip(columns, row, strict=True)))
    console().print(view)


def _cell(column: str, cell: str) -> "Text":
    from rich.text import Text

    style = TYPE_COLOURS.get(cell, "") if column == "type" else "bold" if column == "id" else ""
    return Text(clean(cell), style=style)


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
