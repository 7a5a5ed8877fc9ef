"""A bar for what takes a while: on a terminal only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.cli.output import console

Show = Callable[[int, int], None]  # done, total


@contextmanager
def bar(what: str, *, quiet: bool) -> Iterator[Show]:
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    view = console()
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=view,
        transient=True,
        disable=quiet or not view.is_terminal,
    )
    with shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size:,} bytes"
