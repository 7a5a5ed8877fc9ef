"""Where a command looks: in this directory's project, in a named one, or in all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from recollect.cli import places
from recollect.store.protocol import Reading

Command = TypeVar("Command", bound=Callable[..., object])


def scope_options(command: Command) -> Command:
    """`--project` and `--all`, for `chosen`."""
    everywhere = click.option(
        "--all", "everywhere", is_flag=True, help="In all projects, not only this directory's."
    )
    return places.project_option()(everywhere(command))


def chosen(store: Reading, project: str | None, *, everywhere: bool) -> int | None:
    """The project to look in; None for all of them."""
    if project and everywhere:
        raise click.UsageError("Give either --project or --all.")
    if project:
        return places.project_named(store, project).id
    return places.scope(store, everywhere=everywhere)


def one_project(store: Reading, project: str | None) -> int:
    """The named one, or this directory's."""
    if project:
        return places.project_named(store, project).id
    return places.here(store, "Name a project with --project.")


def file_name(store: Reading, project_id: int | None, path: str) -> str:
    """As observations name a file: from the project's directory, if it is below that. What is no file here
    is taken as it was written."""
    if project_id is None or not path:
        return path
    place = Path(path).expanduser()
    whole = Path.cwd() / place
    roots = (store.project(project_id).root, *store.dirs_of_project(project_id))
    for root in roots:
        if whole.is_relative_to(root) and (place.is_absolute() or whole.exists()):
            return str(whole.relative_to(root))
    return path
