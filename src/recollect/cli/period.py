"""Since when: `30d`, `12h`, `2w`, or a day such as `2026-11-01`."""

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import TypeVar

import click

from recollect import clock
from recollect.clock import HOUR, SECOND

Command = TypeVar("Command", bound=Callable[..., object])
AGO = re.compile(r"([0-9]{1,5})\s*([hdw])", re.IGNORECASE)
EXAMPLES = "30d, 12h, 2w, or a day such as 2026-11-01"


def since_option(what: str, default: str | None = None) -> Callable[[Command], Command]:
    """`--since`, in milliseconds."""
    return click.option(
        "--since",
        metavar="WHEN",
        callback=_since,
        default=default,
        show_default=default is not None,
        help=f"{what} since: {EXAMPLES}.",
    )


def _since(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else begin(value.strip(), clock.now())
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is not a time. Write {EXAMPLES}.") from None


def begin(text: str, now: int) -> int:
    """In milliseconds. Days and weeks are whole: they begin at midnight, so that the first day of a table
    is not half a day."""
    if found := AGO.fullmatch(text):
        number, unit = int(found[1]), found[2].lower()
        if unit == "h":
            return now - number * HOUR
        day = clock.local(now).date() - timedelta(days=number * (7 if unit == "w" else 1))
    else:
        day = date.fromisoformat(text)
    return round(datetime.combine(day, time()).astimezone().timestamp() * SECOND)
