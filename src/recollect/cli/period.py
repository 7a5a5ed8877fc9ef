"""Since when, until when: `30d`, `2026-11-01`, `last week`, `5 October` and all else that `periods` reads."""

from collections.abc import Callable
from typing import TypeVar

import click

from recollect import clock
from recollect.periods import begin, end

Command = TypeVar("Command", bound=Callable[..., object])
SHORT_EXAMPLES = '30d, 12h, 2w, a day such as 2026-11-01, or "last week"'


def since_option(what: str, default: str | None = None) -> Callable[[Command], Command]:
    """`--since`, in milliseconds."""
    return click.option(
        "--since",
        metavar="WHEN",
        callback=_by(begin),
        default=default,
        show_default=default is not None,
        help=f"{what} since: {SHORT_EXAMPLES}.",
    )


def until_option(what: str, default: str | None = None) -> Callable[[Command], Command]:
    """`--until`, in milliseconds, exclusive: a day, a week, a month that is named is in it."""
    return click.option(
        "--until",
        metavar="WHEN",
        callback=_by(end),
        default=default,
        show_default=default is not None,
        help=f"{what} until the end of: {SHORT_EXAMPLES}.",
    )


def _by(
    read: Callable[[str, int], int],
) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    def callback(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
        try:
            return None if value is None else read(value.strip(), clock.now())
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback
