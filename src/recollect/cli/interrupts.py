"""Ctrl-C: one line that says what became of it, and the exit code that a shell expects."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

INTERRUPTED = 130


def leave(told: str) -> NoReturn:
    click.echo(f"\n{told}", err=True)
    raise SystemExit(INTERRUPTED) from None


@contextmanager
def interruptible(told: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        leave(told)
