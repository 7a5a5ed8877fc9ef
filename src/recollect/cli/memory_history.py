"""`recollect memory log`, `diff` and `undo`: what changed, when and why, and taking it back."""

from typing import TYPE_CHECKING

import click

from recollect.cli import memory_places
from recollect.cli.output import json_option, print_json, say, table
from recollect.clock import day_and_time
from recollect.errors import Edited
from recollect.text import clean, one_line

if TYPE_CHECKING:
    from recollect.memory.storage.undoing import Undone

SHOWN_ID, NAMED = 12, 5


@click.command()
@click.option("-n", "--limit", default=20, show_default=True, help="How many.")
@json_option
def log(limit: int, as_json: bool) -> None:
    """Every change of the memories here, newest first, hand edits too."""
    memories = memory_places.here()
    history = memories.history
    found = history.log(limit, memories.folders)
    if as_json:
        print_json([{"id": e.id, "at": e.at, "reason": e.reason, "files": e.paths} for e in found])
        return
    if found:
        rows = ((e.id[:SHOWN_ID], day_and_time(e.at), one_line(e.reason, 100)) for e in found)
        table(("id", "when", "what"), rows)
    else:
        say("Nothing has been changed yet.")
    if unseen := history.cannot_show():
        click.echo(unseen, err=True)


@click.command()
@click.argument("change", required=False)
def diff(change: str | None) -> None:
    """What CHANGE, an id from `log`, has changed; the last one unless it is named."""
    memories = memory_places.here()
    if change is None:
        for entry in memories.history.log(1, memories.folders):
            change = entry.id
    say(clean(memories.history.diff(change)) if change else "Nothing has been changed yet.")


@click.command()
@click.argument("change", required=False)
@click.option("--force", is_flag=True, help="Also where a file was changed since.")
@json_option
def undo(change: str | None, force: bool, as_json: bool) -> None:
    """Take CHANGE back, the last one unless it is named. Undo the undo to have it again."""
    from recollect.memory.storage.undoing import undo as undo_change

    told(undo_change(memory_places.here(), change, force=force), as_json)


def told(undone: "Undone", as_json: bool) -> None:
    if undone.kept_by_hand and undone.entry is None:
        names = ", ".join(map(str, undone.kept_by_hand[:NAMED]))
        raise Edited(
            f"Nothing was taken back, because somebody edits a file of it just now: {names}. Try again."
        )
    memory_places.changed()
    if as_json:
        print_json({"undone": undone.undone.id, "by": undone.entry, "files": undone.paths})
        return
    say(f"Taken back: {one_line(undone.undone.reason, 100)}")
    for path in undone.paths:
        say(f"  {path}")
    for kept in undone.kept_by_hand:
        click.echo(f"Left alone, because it was edited just now: {kept}", err=True)
