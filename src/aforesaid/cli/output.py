"""Output of the commands: text and tables for people, JSON for programs, progress bars on a terminal."""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
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
WHOLE = ("id", "session", "type")  # columns that are never broken
TIME = "when"
LEAST, EASY = 16, 28  # cells of a text column: readable, comfortable
LONGEST_WORD = 24  # a word up to this length is not broken in a table
COLOUR = re.compile(r"(\x1b\[(?:[0-4]|[39]\d|1?0)(?:;\d{1,3}){0,4}m)")  # as click.style writes them
WORDS = re.compile(r"( *)([^ ]+)")
PIECES = re.compile(r"[^/_.,:;=-]*[/_.,:;=-]+|[^/_.,:;=-]+")  # where a long word may be broken
ITEM = re.compile(r"(#|(prompt|summary|session|event):)\d+ |Prompt \d+: ")
UNVERIFIED = re.compile(r"Unverified: |.*\(unverified: ")
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


def terminal_width(piped: int = 120) -> int:
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return piped
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


def print_text(text: str) -> None:
    """Prints things as `recall/render.py` writes them."""
    for line in text.split("\n"):
        if ITEM.match(line):
            say(heading(line))
        else:
            say(styled(line, fg="yellow" if UNVERIFIED.match(line) else None))


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
    """Prints a table that fits the terminal; where it is too narrow for one, a line per cell; in a pipe no
    cell is broken. The columns of `numbers` are aligned to the right and never broken."""
    cells = [[clean(cell) for cell in row] for row in rows]
    width = terminal_width(piped=sys.maxsize)
    widths = fit_columns(columns, cells, width - GAP * (len(columns) - 1), numbers)
    if widths is None:
        label = max(map(len, columns)) + GAP
        for row in cells:
            for column, cell in zip(columns, row, strict=True):
                lines = break_words(cell, max(8, width - label)).split("\n")
                text = f"\n{' ' * label}".join(lines)
                say(styled(f"{column:<{label}}", dim=True) + text)
            say()
        return
    for number, texts in enumerate([columns, *cells]):
        broken = [break_words(*each).split("\n") for each in zip(texts, widths, strict=True)]
        for line in zip_longest(*broken, fillvalue=""):
            parts = []
            for column, text, size in zip(columns, line, widths, strict=True):
                padding = " " * (size - cell_width(text))
                is_head = number == 0
                colour = TYPE_COLOURS.get(text) if column == "type" else None
                bold = is_head or column == "id" or None
                shown = styled(text, bold=bold, fg=colour) if text else ""
                parts.append(padding + shown if column in numbers else shown + padding)
            say((" " * GAP).join(parts).rstrip())


def break_words(text: str, width: int) -> str:
    """Breaks text into lines between words; a word that is too long, after a slash, hyphen or the like."""
    lines: list[str] = []
    for word in text.split():
        pieces = [word] if cell_width(word) <= width else PIECES.findall(word)
        joint = " "
        for piece in pieces:
            if lines and cell_width(lines[-1] + joint + piece) <= width:
                lines[-1] += joint + piece
            else:
                lines += _chop(piece, width)
            joint = ""
    return "\n".join(lines)


def _chop(text: str, width: int) -> list[str]:
    if cell_width(text) <= width:
        return [text]
    from rich.cells import chop_cells

    return chop_cells(text, width)


def fit_columns(
    columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, numbers: Collection[str]
) -> list[int] | None:
    """Returns the width of each column, in all at most `room`; None if there is no room for a table.

    Long texts shrink first, then times (to a day above an hour), then short texts, none below its longest
    word. Ids and numbers are never broken, and their headings are between words."""
    widths, least = [], []
    for n, name in enumerate(columns):
        cells = [row[n] for row in rows]
        widths.append(max(map(cell_width, (name, *cells))))
        words = [*name.split(), *(word for cell in cells for word in cell.split())]
        if name in (*WHOLE, *numbers):
            least.append(max(map(cell_width, (*name.split(), *cells))))
        elif name == TIME:
            least.append(max(map(cell_width, words)))
        else:
            pieces = (piece for word in words for piece in PIECES.findall(word))
            longest = min(LONGEST_WORD, max(map(cell_width, pieces), default=0))
            least.append(min(widths[n], max(LEAST, longest)))
    if sum(least) > room:
        return None
    while sum(widths) > room:
        loose = [n for n, width in enumerate(widths) if width > least[n]]
        n = max(loose, key=lambda n: (widths[n] > EASY, columns[n] == TIME, widths[n]))
        widths[n] -= 1
    return widths
