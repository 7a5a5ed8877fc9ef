"""`recollect sessions`."""

from dataclasses import asdict
from pathlib import Path

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import json_option, print_json, say, table
from recollect.recall.shown import short_id
from recollect.text import one_line


@click.command()
@click.option(
    "--all", "everywhere", is_flag=True, help="Of all projects, not only this directory's."
)
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many."
)
@json_option
def sessions(everywhere: bool, limit: int, as_json: bool) -> None:
    """List sessions, newest first. Where nothing was recorded, those of all projects.

    Notes that you took outside of a session are in none: `recollect search` finds them.
    """
    store = places.store()
    project = places.scope(store, everywhere=everywhere)
    found = store.sessions(project, limit)
    if as_json:
        print_json([asdict(s) | {"project": store.project(s.project_id).name} for s in found])
        return
    if not found:
        say(
            "No sessions yet. `recollect import claude-code` brings in the past; `recollect install` "
            "connects Claude Code, then just work."
        )
        return
    rows = [
        (
            short_id(store, s.ref),
            clock.day_and_time(s.last_event_at),
            store.project(s.project_id).name,
            s.status,
            str(s.prompts),
            one_line(s.title or "", 80),
        )
        for s in found
    ]
    columns = ("session", "when", "project", "state", "prompts", "title")
    table(columns, rows, numbers=("prompts",))
    if project is not None:
        say(f"Of project {store.project(project).name}; --all lists those of all projects.")
    elif not everywhere:
        say(f"Nothing was recorded in {Path.cwd()}; these are of all projects.")
    say("Show one with: recollect show <session>")
