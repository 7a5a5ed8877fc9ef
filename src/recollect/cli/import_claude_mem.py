"""`recollect import claude-mem`: what that program remembers, from its database."""

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from recollect.cli import importing
from recollect.cli.output import json_option, say
from recollect.transfer.claude_mem import PLACEHOLDER
from recollect.transfer.claude_mem_database import default_path, project_names

LISTED = 20


def _project_names(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """A line that is not finished has the path among what is left of it."""
    path = next(iter(context.args), None) or default_path(os.environ)
    return [CompletionItem(n) for n in project_names(Path(path)) if n.startswith(typed)]


@click.command("claude-mem")
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=_project_names,
    help="Only this project of claude-mem's.",
)
@click.option(
    "--as",
    "folders",
    metavar="NAME=DIR",
    multiple=True,
    help="The project that claude-mem calls NAME is the one in DIR. May be given several times.",
)
@click.option("--dry-run", is_flag=True, help="Only count what would be new.")
@json_option
def claude_mem(
    path: Path | None, project: str | None, folders: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Take in sessions, prompts, observations and summaries of claude-mem, of any release.

    PATH is its database; without it, claude-mem.db in CLAUDE_MEM_DATA_DIR or ~/.claude-mem. It is only read,
    and claude-mem may be running.

    Claude-mem knows a project by the name of its folder. It becomes the project of that name if there is
    exactly one here, or the one you name with --as; else one of its own, until you import again with --as.
    """
    order = {
        "what": "claude-mem",
        "path": str((path or default_path(os.environ)).absolute()),
        "project": project,
        "folders": dict(_folder(given) for given in folders),
        "dry_run": dry_run,
    }
    result = importing.run(order, quiet=as_json)
    importing.report(result, dry_run=dry_run, as_json=as_json)
    if not as_json:
        _tell_homes(result["projects"])


def _folder(given: str) -> tuple[str, str]:
    name, mark, folder = given.rpartition("=")
    path = Path(folder).expanduser().absolute()
    if not mark or not name:
        raise click.BadParameter(f"{given!r} is not of the form NAME=DIR.", param_hint="--as")
    if not path.is_dir():
        raise click.BadParameter(f"{path} is not a directory.", param_hint="--as")
    return name, str(path)


def _tell_homes(homes: dict[str, str]) -> None:
    for name, root in sorted(homes.items())[:LISTED]:
        own = root.startswith(PLACEHOLDER)
        say(f"  {name}: {'a project of its own; --as says where it is' if own else root}")
    if len(homes) > LISTED:
        say(f"  and {len(homes) - LISTED} more projects")
