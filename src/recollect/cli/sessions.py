"""`recollect sessions`."""

from dataclasses import asdict

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import json_option, print_json, say, table
from recollect.text import one_line


@click.command()
@click.option(
    "--all", "everywhere", is_flag=True, help="Of all projects, not only this directory's."
)
@click.option("-n", "--limit", default=20, show_default=True, help="How many.")
@json_option
def sessions(everywhere: bool, limit: int, as_json: bool) -> None:
    """List sessions, newest first."""
    store = places.store()
    found = store.sessions(places.scope(store, everywhere=everywhere), limit)
    if as_json:
        print_json([asdict(s) | {"project": store.project(s.project_id).name} for s in found])
        return
    if not found:
        say("No sessions yet. `recollect install` connects Claude Code; then just work.")
        return
    table(
        None,
        ("session", "when", "project", "state", "prompts", "title"),
        (
            (
                s.ref[:8],
                clock.day_and_time(s.last_event_at),
                store.project(s.project_id).name,
                s.status,
                str(s.prompts),
                one_line(s.title or "", 80),
            )
            for s in found
        ),
    )
    say("Show one with: recollect show <session>")
