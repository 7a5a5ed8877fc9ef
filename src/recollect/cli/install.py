"""`recollect install` and `recollect uninstall` share what they need here; one file per direction."""

import os
import sys
from pathlib import Path

import click

import recollect
from recollect import wiring
from recollect.agents import claude_code_install as claude_code
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


def hook_dir() -> Path:
    return Path(recollect.__file__).parent / "hook"


def report(
    change: claude_code.Change, *, dry_run: bool, as_json: bool, done: str, same: str
) -> None:
    if as_json:
        print_json(
            {
                "file": str(change.path),
                "changed": change.changed,
                "dry_run": dry_run,
                "diff": change.diff(),
            }
        )
        return
    for line in change.diff().splitlines():
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        say(styled(line, fg=colour))
    if not change.changed:
        say(same)
    elif dry_run:
        say(f"\nNothing was written. Without --dry-run this changes {change.path}.")
    else:
        say(f"\n{done}")


@click.command()
@click.option("--scope", type=SCOPE, default="user", show_default=True, help="Whose settings.")
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
@json_option
def install(scope: str, dry_run: bool, as_json: bool) -> None:
    """Connect Claude Code: merge our hooks into its settings. Running it twice equals once.

    Scope `user` watches every session of yours; `project` only those in this directory, and its file is
    usually shared through git while the paths in it are this machine's.
    """
    paths = wiring.home().paths
    python = Path(sys.executable)
    change = claude_code.install(
        settings_file(scope), hook_dir(), python, paths.installs, dry_run=dry_run
    )
    if not dry_run:
        _prepare(paths)
    report(
        change,
        dry_run=dry_run,
        as_json=as_json,
        done=f"Installed in {change.path}. Start a new Claude Code session and work as usual;\n"
        f"`recollect status` shows what arrives, `recollect uninstall --scope {scope}` undoes this exactly.",
        same=f"{change.path} has the hooks already.",
    )


def _prepare(paths: Paths) -> None:
    paths.make()
    write_private(paths.python_file, os.fsencode(sys.executable) + b"\n")
