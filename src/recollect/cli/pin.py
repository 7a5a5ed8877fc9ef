"""`recollect pin`."""

import os

import click

from recollect.cli.output import json_option, print_json, say
from recollect.errors import NotFound
from recollect.paths import Paths
from recollect.worker import contact


@click.command()
@click.argument("number", metavar="ID")
@click.option("--off", is_flag=True, help="No longer.")
@json_option
def pin(number: str, off: bool, as_json: bool) -> None:
    """Put observation ID first in every brief of its project."""
    digits = number.removeprefix("#")
    if not digits.isdecimal():
        raise NotFound(f"{number!r} is not the number of an observation, such as 12 or #12.")
    answer = contact.order(Paths.of(os.environ), "pin", id=int(digits), pinned=not off)
    if not answer["found"]:
        raise NotFound(f"There is no observation #{digits}. Find one with `recollect search`.")
    if as_json:
        print_json({"id": int(digits), "pinned": not off})
    else:
        say(f"#{digits} is {'no longer pinned' if off else 'pinned'}.")
