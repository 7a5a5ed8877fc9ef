"""`recollect dream`: puts the memories in order, now."""

import os
from pathlib import Path

import click

from recollect.cli import memory_history, memory_places
from recollect.cli.output import json_option, print_json, say
from recollect.errors import MemoryRefused
from recollect.paths import Paths
from recollect.text import clean
from recollect.worker import contact

LONGEST = 900.0  # seconds: a model thinks it over


@click.group(invoke_without_command=True)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@json_option
@click.pass_context
def dream(context: click.Context, dry_run: bool, as_json: bool) -> None:
    """Put the memories of this project in order: duplicates, contradictions, dead links, relative dates.

    Happens by itself once a day where there was work. Nothing is erased: what goes is retired, and `recollect
    dream undo` brings everything back as it was. A model, if there is one, is asked once.
    """
    if context.invoked_subcommand is not None:
        return
    paths = Paths.of(os.environ)
    answer = contact.order_patiently(paths, "dream", LONGEST, dir=str(Path.cwd()), dry_run=dry_run)
    if refused := answer.get("refused"):
        raise MemoryRefused(refused)
    if as_json:
        print_json(answer)
        return
    for line in answer["lines"]:
        say(clean(line))
    if answer["diff"]:
        say("")
        say(clean(answer["diff"]))
    if dry_run:
        say("Nothing was changed: this was a dry run.")
    elif answer["entry"]:
        say("`recollect dream undo` takes all of it back.")


@dream.command()
@click.option("--force", is_flag=True, help="Also where a file was changed since.")
@json_option
def undo(force: bool, as_json: bool) -> None:
    """Take the last dream back: every file as it was before."""
    from recollect.memory.dream.dreaming import undo_last

    memory_history.told(undo_last(memory_places.here(), force=force), as_json)
