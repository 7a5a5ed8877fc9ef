"""`recollect uninstall`."""

import os

import click

from recollect.agents import claude_code_install as claude_code
from recollect.agents import claude_code_server
from recollect.agents.settings_file import Change
from recollect.cli.install import SCOPE, config_file, report, settings_file
from recollect.cli.output import json_option
from recollect.memory.claude_code.client import withdraw
from recollect.paths import Paths


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Whose settings.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@json_option
def uninstall(scope: str, dry_run: bool, as_json: bool) -> None:
    """Undo install exactly: the files become, byte for byte, what they were.

    Edits made since are kept; then only our hooks and our server are taken out. Memories that were put beside
    the client's own (`memory.client`) are taken away there. What was remembered stays.
    """
    paths = Paths.of(os.environ)
    changes = _uninstalled(scope, paths, dry_run=True)
    if not dry_run:
        changes = _uninstalled(scope, paths, dry_run=False)
        withdraw(paths.memory)
    hooks, server = changes
    report(
        changes,
        dry_run=dry_run,
        as_json=as_json,
        done=f"Uninstalled from {hooks.path} and {server.path}. What was remembered is kept in {paths.data}.",
        same=f"{hooks.path} has no hooks of ours, and {server.path} no server.",
    )


def _uninstalled(scope: str, paths: Paths, *, dry_run: bool) -> tuple[Change, Change]:
    hooks = claude_code.uninstall(settings_file(scope), paths.installs, dry_run=dry_run)
    server = claude_code_server.uninstall(config_file(scope), paths.installs, dry_run=dry_run)
    return hooks, server
