"""`recollect uninstall`."""

import os

import click

from recollect.agents import claude_code_install as claude_code
from recollect.cli.install import SCOPE, report, settings_file
from recollect.cli.output import json_option
from recollect.paths import Paths


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Whose settings.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@json_option
def uninstall(scope: str, dry_run: bool, as_json: bool) -> None:
    """Undo install exactly: the settings become, byte for byte, what they were.

    Edits made since are kept; then only our hooks are taken out. What was remembered stays.
    """
    paths = Paths.of(os.environ)
    change = claude_code.uninstall(settings_file(scope), paths.installs, dry_run=dry_run)
    report(
        change,
        dry_run=dry_run,
        as_json=as_json,
        done=f"Uninstalled from {change.path}. What was remembered is kept in {paths.data}.",
        same=f"{change.path} has no hooks of ours.",
    )
