"""Output of the commands: text and tables for people, JSON for programs, progress bars on a terminal."""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import click

from aforesaid.text import clean

F = TypeVar("F", bound=Callable[..., Any])
Show = Callable[..., None]  # what is done, the total and a few words behind the bar
JSON = "aforesaid.json"  # in click's context
INTERRUPTED = 130  # exit code after Ctrl-C
NEEDS_ATTENTION = 4  # exit code when something is wrong that the user has to fix
SHOW_HINT = "Show one in full: aforesaid show <id>"
TYPE_COLOURS = {
    "decision": "magenta",
    "bugfix": "red",
    "feature": "green",
    "refactor": "cyan",
    "discovery": "yellow",
    "change": "blue",
}

GAP = 2  # between the columns of a table
WHOLE = ("id", "session", "type")  # columns that are copied from: never broken
TIME = "when"
LEAST, EASY = 16, 28  # characters of a text column: readable, comfortable
LONGEST_WORD = 24  # a word up to this length is not broken in a table
COLOUR = re.compile(r"(\x1b\[(?:[0-4]|[39]\d|1?0)(?:;\d{1,3}){0,4}m)")  # as click.style writes them
WORDS = re.compile(r"( *)([^ ]+)")
PIECES = re.compile(r"[^/_.,:;=-]*[/_.,:;=-]+|[^/_.,:;=-]+")  # where a long word may be broken
HANGING = re.compile(r" *(?:[-▶✓✗!] )?")


def json_option(function: F) -> F:
    """Adds `--json`, which `wants_json` reads."""

    def keep(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[JSON] = value

    option = click.option(
        "--json", is_flag=True, expose_value=False, callback=keep, help="Print JSON."
    )
    return option(function)


def wants_json() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(JSON))


def print_json(value: object) -> None:
    """Prints ASCII only on a terminal: captured text may contain characters that control it."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=sys.stdout.isatty()))


def print_if_json(value: object) -> bool:
    """Prints the value if `--json` was given; returns whether it was."""
    if wants_json():
        print_json(value)
    return wants_json()


def report(value: object, text: str) -> None:
    if not print_if_json(value):
        say(text)


def report_table(
    value: object,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    empty: str,
    numbers: Collection[str] = (),
) -> bool:
    """Prints a list; returns whether a table was printed, and not JSON or that there is nothing."""
    if print_if_json(value):
        return False
    listed = list(rows)
    if listed:
        table(columns, listed, numbers=numbers)
    else:
        say(empty)
    return bool(listed)


def terminal_width() -> int:
    """Text that goes to a pipe is not cut to a width."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return 120
    from shutil import get_terminal_size

    return get_terminal_size().columns


def say(text: str = "", *, indent: int | None = None, err: bool = False) -> None:
    """Prints text, on a terminal wrapped between words. `indent`: of the lines that follow the first.
    Control characters of names and contents are removed. click strips the colours for a pipe; NO_COLOR asks
    for the same."""
    text = "".join(part if COLOUR.fullmatch(part) else clean(part) for part in COLOUR.split(text))
    if (sys.stderr if err else sys.stdout).isatty():
        width = max(20, terminal_width())
        text = "\n".join(wrap(line, width, indent) for line in text.split("\n"))
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    click.echo(text, color=False if plain else None, err=err)


def wrap(line: str, width: int, indent: int | None = None) -> str:
    """Breaks a line, which may contain colours, between words. A word that is wider stays whole."""
    plain = click.unstyle(line)
    if cell_width(plain) <= width:
        return line
    if indent is None:
        found = HANGING.match(plain)
        indent = found.end() if found else 0
    lines, current, used = [], "", 0
    for spaces, word in WORDS.findall(line):
        size = cell_width(click.unstyle(word))
        if used > indent and used + len(spaces) + size > width:
            lines.append(current)
            current, used = " " * indent + word, indent + size
        else:
            current, used = current + spaces + word, used + len(spaces) + size
    return "\n".join([*lines, current])


def cell_width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def heading(text: str) -> str:
    return click.style(clean(text), bold=True)


def styled(text: str, **style: Any) -> str:
    return click.style(clean(text), **style)


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size:,} bytes"


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """Turns Ctrl-C into one line that says what state things are in."""
    try:
        yield
    except KeyboardInterrupt:
        exit_interrupted(message)


def exit_interrupted(message: str) -> NoReturn:
    say(f"\n{message}", err=True)
    raise SystemExit(INTERRUPTED) from None


@contextmanager
def bar(label: str) -> Iterator[Show]:
    """A progress bar; in a pipe or with `--json`, none."""
    if wants_json() or not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        yield lambda *_: None
        return
    from rich import progress as rich

    progress = rich.Progress(
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[note]}"),
        transient=True,
    )
    with progress:
        task = progress.add_task(label, total=None, note="")
        yield lambda done, total, note="": progress.update(
            task, completed=done, total=total, note=note
        )


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Collection[str] = ()
) -> None:
    """Prints a table that fits the terminal; where it is too narrow for one, a line per cell. Cells are
    captured text: cleaned, and never interpreted as markup. The columns of `numbers` are aligned to the right
    and never broken."""
    cells = [[clean(cell) for cell in row] for row in rows]
    width = terminal_width()
    widths = fit_columns(columns, cells, width - GAP * len(columns), numbers)
    if widths is None:
        from textwrap import indent

        label = max(map(len, columns)) + GAP
        say()
        for row in cells:
            for column, cell in zip(columns, row, strict=True):
                if cell:
                    text = indent(break_words(cell, max(8, width - label)), " " * label)
                    say(styled(f"{column:<{label}}", dim=True) + text[label:])
            say()
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for column, size in zip(columns, widths, strict=True):
        view.add_column(
            column, overflow="fold", width=size, justify="right" if column in numbers else "left"
        )
    for row in cells:
        styles = (
            {"type": TYPE_COLOURS.get(c, ""), "id": "bold"}.get(n, "")
            for n, c in zip(columns, row, strict=True)
        )
        view.add_row(*map(Text, map(break_words, row, widths), styles))
    # rich honours NO_COLOR, a dumb terminal and a pipe by itself.
    Console(highlight=False, width=width).print(view)


def break_words(text: str, width: int) -> str:
    """Breaks text into lines between words; a word that is too long, after a slash, hyphen or the like."""
    lines: list[str] = []
    for word in text.split():
        pieces = [word] if len(word) <= width else PIECES.findall(word)
        joint = " "
        for piece in pieces:
            if lines and len(lines[-1]) + len(joint) + len(piece) <= width:
                lines[-1] += joint + piece
            else:
                lines.append(piece)
            joint = ""
    return "\n".join(lines)


def fit_columns(
    columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, numbers: Collection[str]
) -> list[int] | None:
    """Returns the width of each column, in all at most `room`; None if there is no room for a table.

    Times shrink first (to a day above an hour) and headings to one word per line, then text columns, but
    never below their longest word. Ids and numbers are never broken."""
    widths, natural, texts = [], [], []
    for n, name in enumerate(columns):
        cells = [row[n] for row in rows]
        natural.append(max(map(cell_width, (name, *cells))))
        texts.append(name != TIME and name not in (*WHOLE, *numbers))
        if texts[n]:
            pieces = (part for cell in cells for w in cell.split() for part in PIECES.findall(w))
            longest = min(LONGEST_WORD, max(map(cell_width, pieces), default=0))
            widths.append(min(natural[n], max(LEAST, longest)))
        else:
            parts = (part for cell in cells for part in (cell.split() if name == TIME else [cell]))
            widths.append(max(map(cell_width, (*name.split(), *parts)), default=0))
    if sum(widths) > room:
        return None
    easy = [min(width, EASY) for width in natural]
    first = texts.index(True) if True in texts else 0  # what the row is about
    for wanted in (
        {first: easy[first]},
        {n: easy[n] for n, is_text in enumerate(texts) if is_text},
        {n: natural[n] for n, is_text in enumerate(texts) if not is_text},
        dict(enumerate(natural)),
    ):
        # Widened as far as there is room, the one that lacks most first.
        for _ in range(room - sum(widths)):
            lack, n = max(((width - widths[n], n) for n, width in wanted.items()), default=(0, 0))
            if lack <= 0:
                break
            widths[n] += 1
    return widths
