"""`recollect pin`."""

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
def pin(number: str, off: bool, as_json: bool) -> None:
    """Put observation ID first in every brief of its project."""
    key = things.observation(number)
    if not off:
        asker.must_be_the_user(f"pin {key}")
    answer = contact.order(Paths.of(os.environ), "pin", id=key, pinned=not off)
    if not answer["found"]:
        raise things.missing(places.store(), OBSERVATION, key)
    if as_json:
        print_json({"id": key, "pinned": not off})
    else:
        say(f"#{key} is {'no longer pinned' if off else 'pinned'}.")
