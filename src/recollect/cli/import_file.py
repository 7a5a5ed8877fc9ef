"""`recollect import file`: an export of recollect's own."""

from pathlib import Path

import click

from recollect.cli import importing
from recollect.cli.output import json_option


@click.command("file")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only check the file, and count what would be new.")
@json_option
def file(path: Path, dry_run: bool, as_json: bool) -> None:
    """Take in PATH, which `recollect export` wrote; packed or not.

    Sessions, events and observations that are here already stay as they are. A session is taken whole or not
    at all; in a broken file, those before the fault are taken.
    """
    order = {"what": "file", "path": str(path.absolute()), "dry_run": dry_run}
    importing.report(importing.run(order, quiet=as_json), dry_run=dry_run, as_json=as_json)
