"""`recollect confirm`."""

import os

import click

from recollect.cli import asker, places, things
from recollect.cli.output import json_option, print_json, say
from recollect.model.search import OBSERVATION
from recollect.paths import Paths
from recollect.worker import contact


@click.command()
@click.argument(
    "number", metavar="ID", shell_complete=places.completing(places.observation_numbers)
)
@click.option("--off", is_flag=True, help="No longer.")
@json_option
def confirm(number: str, off: bool, as_json: bool) -> None:
    """Say that observation ID holds, though only the web or an MCP server says so.

    It is then told unasked like any other. Pinning it or editing it says the same.
    """
    key = things.observation(number)
    if not off:
        asker.must_be_the_user(f"confirm {key}")
    answer = contact.order(Paths.of(os.environ), "confirm", id=key, confirmed=not off)
    bearer = answer["id"]
    if bearer is None:
        raise things.missing(places.store(), OBSERVATION, key)
    if as_json:
        print_json({"id": bearer, "confirmed": not off})
    else:
        where = "" if bearer == key else f" (#{key} is folded into it)"
        say(f"#{bearer}{where} is {'no longer confirmed' if off else 'confirmed'}.")
