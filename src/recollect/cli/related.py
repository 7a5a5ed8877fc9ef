"""`recollect related`: what hangs together with an observation, and why."""

import click

from recollect import clock, wiring
from recollect.cli import places, things
from recollect.cli.hits import print_hit, print_reasons
from recollect.cli.output import json_option, print_json, say, styled
from recollect.model.search import OBSERVATION
from recollect.recall import lookup
from recollect.recall.shown import Shown, said


@click.command()
@click.argument("what", metavar="ID", shell_complete=places.completing(places.observation_numbers))
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many."
)
@click.option("--explain", is_flag=True, help="Show the points of each reason.")
@json_option
def related(what: str, limit: int, explain: bool, as_json: bool) -> None:
    """Show what hangs together with observation ID, in whichever session: its story, its files, its concepts,
    and what speaks of the same."""
    number = things.observation(what)
    store = places.store()
    if store.observation(number) is None:
        raise things.missing(store, OBSERVATION, number)
    searcher = wiring.searcher(store, wiring.home().settings, clock.now)
    hits = lookup.related(searcher, store, number, limit)
    shown = Shown(store)
    if as_json:
        print_json([shown.json(hit) for hit in hits])
        return
    if not hits:
        say(f"Nothing hangs together with #{number}.")
        return
    for hit in hits:
        print_hit(shown, hit, excerpt=False)
        if explain:
            print_reasons(hit.reasons, hit.score)
        else:
            say(styled(f"   {said(hit.reasons)}", dim=True))
    say(styled("Show one in full: recollect show <id>", dim=True))
