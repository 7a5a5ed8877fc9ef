"""`recollect install` and `recollect uninstall` share what they need here; one file per direction."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

import recollect
from recollect import wiring
from recollect.agents import claude_code_install as claude_code
from recollect.agents import claude_code_server
from recollect.agents.settings_file import Change
from recollect.cli.output import json_option, print_json, say, styled
from recollect.paths import Paths, write_private

SCOPE = click.Choice(("user", "project"))


def settings_file(scope: str) -> Path:
    return claude_code.settings_path(
        "project" if scope == "project" else "user",
        home=Path.home(),
        project=Path.cwd(),
        config_dir=os.environ.get("CLAUDE_CONFIG_DIR"),
    )


def config_file(scope: str) -> Path:
    """Where the client keeps its MCP servers."""
    return claude_code_server.config_path(
        "project" if scope == "project" else "user",
        home=Path.home(),
        project=Path.cwd(),
        config_dir=os.environ.get("CLAUDE_CONFIG_DIR"),
    )


def hook_dir() -> Path:
    return Path(recollect.__file__).parent / "hook"


def report(
    changes: Sequence[Change], *, dry_run: bool, as_json: bool, done: str, same: str
) -> None:
    """Of the hooks, then of the MCP server."""
    changed = [change for change in changes if change.changed]
    if as_json:
        hooks, server = (
            {"file": str(change.path), "changed": change.changed, "diff": change.diff()}
            for change in changes
        )
        print_json(hooks | {"dry_run": dry_run, "server": server})
        return
    for change in changed:
        for line in change.diff().splitlines():
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            say(styled(line, fg=colour))
    if not changed:
        say(same)
    elif dry_run:
        files = " and ".join(str(change.path) for change in changed)
        say(f"\nNothing was written. Without --dry-run this changes {files}.")
    else:
        say(f"\n{done}")


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Whose settings.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@json_option
def install(scope: str, dry_run: bool, as_json: bool) -> None:
    """Connect Claude Code: our hooks into its settings, our MCP server into its configuration.

    Running it twice equals once. Scope `user` watches every session of yours; `project` only those in this
    directory, and its files are usually shared through git while the paths in them are this machine's.
    """
    paths = wiring.home().paths
    changes = _installed(scope, paths, dry_run=True)
    if not dry_run:
        changes = _installed(scope, paths, dry_run=False)
        _prepare(paths)
    hooks, server = changes
    report(
        changes,
        dry_run=dry_run,
        as_json=as_json,
        done=f"Installed in {hooks.path} and {server.path}.\n"
        "Start a new Claude Code session and work as usual; `recollect status` shows what arrives,\n"
        f"`recollect uninstall --scope {scope}` undoes this exactly.",
        same=f"{hooks.path} has the hooks already, and {server.path} the MCP server.",
    )


def _installed(scope: str, paths: Paths, *, dry_run: bool) -> tuple[Change, Change]:
    """Tried without writing first: a file that cannot be understood keeps the other one as it is too."""
    python = Path(sys.executable)
    hooks = claude_code.install(
        settings_file(scope), hook_dir(), python, paths.installs, dry_run=dry_run
    )
    server = claude_code_server.install(config_file(scope), python, paths.installs, dry_run=dry_run)
    return hooks, server


def _prepare(paths: Paths) -> None:
    paths.make()
    write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
