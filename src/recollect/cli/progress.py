"""A bar for what takes a while: on a terminal only."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from recollect.cli.output import console


class Show(Protocol):
    """`note`: a few words behind the bar, such as how fast it goes."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


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
        TextColumn("{task.fields[note]}"),
        console=view,
        transient=True,
        disable=quiet or not view.is_terminal,
    )
    with shown:
        task = shown.add_task(what, total=None, note="")

        def show(done: int, total: int, note: str = "") -> None:
            shown.update(task, completed=done, total=total, note=note)

        yield show


def megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size:,} bytes"
