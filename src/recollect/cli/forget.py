"""`recollect forget`."""

import os

import click

from recollect import clock
from recollect.cli import places, things
from recollect.cli.output import json_option, print_json, say, table
from recollect.errors import NotFound
from recollect.model.search import OBSERVATION
from recollect.paths import Paths
from recollect.text import one_line
from recollect.worker import contact


@click.command()
@click.argument(
    "number",
    metavar="[ID]",
    required=False,
    shell_complete=places.completing(places.observation_numbers),
)
@click.option("--undo", is_flag=True, help="Put it back as it was.")
@json_option
def forget(number: str | None, undo: bool, as_json: bool) -> None:
    """Take observation ID out of everything: search, briefs, recall. Without ID: what was forgotten here.

    What is folded into it goes along. The prompts and events that it was made of stay.
    """
    if number is None and undo:
        raise click.UsageError("--undo needs the ID. `recollect forget` lists what was forgotten.")
    if number is None:
        _list_forgotten(as_json)
        return
    key = things.observation(number)
    verb = "restore" if undo else "forget-observation"
    answer = contact.order(Paths.of(os.environ), verb, id=key)
    if not answer["found"] and undo:
        raise NotFound(f"#{key} was not forgotten. `recollect forget` lists what was.")
    if not answer["found"]:
        raise things.missing(places.store(), OBSERVATION, key)
    if as_json:
        print_json({"id": key, "forgotten": not undo, "title": answer["title"]})
        return
    title = one_line(answer["title"] or "Untitled", 80)
    if undo:
        say(f"#{key} is back: {title}")
    else:
        say(f"Forgotten: #{key} {title}\n`recollect forget {key} --undo` brings it back.")


def _list_forgotten(as_json: bool) -> None:
    store = places.store()
    project = places.current_project(store)
    found = store.forgotten(project) if project is not None else []
    if as_json:
        ids = [{"id": each.observation_id, "at": each.at, "title": each.title} for each in found]
        print_json(ids)
    elif not found:
        say("Nothing was forgotten in this project.")
    else:
        rows = [
            (f"#{each.observation_id}", clock.day_and_time(each.at), each.title or "Untitled")
            for each in found
        ]
        table(("id", "when", "title"), rows)
