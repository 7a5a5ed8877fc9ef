"""`recollect merge`."""

import os

import click

from recollect.cli import places, things
from recollect.cli.output import json_option, print_json, say
from recollect.errors import NotFound
from recollect.model.search import OBSERVATION
from recollect.paths import Paths
from recollect.store.protocol import Reading
from recollect.worker import contact

numbers = places.completing(places.observation_numbers)


@click.command()
@click.argument("what", metavar="ID", shell_complete=numbers)
@click.argument("into", metavar="[INTO]", required=False, shell_complete=numbers)
@click.option("--undo", is_flag=True, help="As if nobody had merged it.")
@json_option
def merge(what: str, into: str | None, undo: bool, as_json: bool) -> None:
    """Fold observation ID into INTO, which stands for both from now on, in search and in briefs.

    ID is kept, with what it came from: `recollect show` has it, and `--undo` takes the merge back.
    """
    if undo == bool(into):
        raise click.UsageError("Name the observation to merge it INTO, or --undo.")
    if into:
        _merge(things.observation(what), things.observation(into), as_json)
    else:
        _unmerge(things.observation(what), as_json)


def _merge(key: int, into: int, as_json: bool) -> None:
    store = places.store()
    for number in (key, into):
        _must_be_there(store, number)
    answer = contact.order(Paths.of(os.environ), "merge", id=key, into=into)
    if refused := answer.get("refused"):
        raise click.UsageError(refused)
    if as_json:
        print_json({"id": key, "into": answer["into"], "moved": answer["moved"]})
    else:
        say(
            f"#{key} is folded into #{answer['into']}.\n`recollect merge {key} --undo` undoes that."
        )


def _unmerge(key: int, as_json: bool) -> None:
    _must_be_there(places.store(), key)
    answer = contact.order(Paths.of(os.environ), "unmerge", id=key)
    if not answer["found"]:
        raise NotFound(f"Nobody has merged #{key} into another one. See `recollect show {key}`.")
    if as_json:
        print_json({"id": key, "into": None, "was_in": answer["into"]})
    else:
        say(f"#{key} is out of #{answer['into']} again, as if nobody had merged it.")


def _must_be_there(store: Reading, number: int) -> None:
    if store.observation(number) is None:
        raise things.missing(store, OBSERVATION, number)
