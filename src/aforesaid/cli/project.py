"""`aforesaid project`: which repositories belong to which project."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from aforesaid import clock
from aforesaid.cli import arguments
from aforesaid.cli.output import json_option, report, report_table
from aforesaid.errors import NotFound
from aforesaid.model.sessions import Project
from aforesaid.recall import resolve
from aforesaid.repository import Identity, identify, is_at
from aforesaid.store.store import Store

name_argument = click.argument("name", required=False, shell_complete=arguments.complete_projects)


@click.group()
def project() -> None:
    """List projects, and link repositories to them.

    A repository belongs to a project if it has its remote and its history. A fork, a shallow clone and a
    mirror are projects of their own until you link them.
    """


@project.command("list")
@json_option
def list_projects() -> None:
    """List all projects."""
    store = arguments.open_store()
    found = [(each, _project_json(store, each)) for each in store.projects.all()]
    rows = []
    for each, value in found:
        latest = store.sessions.recent(each.id, 1)
        when = clock.day_and_time(latest[0].last_event_at) if latest else ""
        rows.append((each.name, when, each.root, ", ".join(value["remotes"])))
    report_table(
        [value for _, value in found],
        ("project", "when", "root", "remote"),
        rows,
        empty="No project is known yet.",
    )


@project.command()
@name_argument
@json_option
def show(name: str | None) -> None:
    """Show how a project is recognized. NAME: its name or a folder; default: this directory's."""
    store = arguments.open_store()
    found = resolve.find_project(store, name or ".", Path.cwd())
    value = _project_json(store, found)
    lines = [f"{found.name}: {found.root}"]
    lines += [f"  remote   {each}" for each in value["remotes"]]
    lines += [f"  commit   {each}" for each in value["commits"]]
    lines += [f"  folder   {each['path']} ({each['state']})" for each in value["folders"]]
    lines += [f"  linked   {each}" for each in value["linked"]]
    report(value, "\n".join(lines))


@project.command()
@name_argument
@json_option
def link(name: str | None) -> None:
    """Link this directory's repository to project NAME.

    Its sessions, and those of other clones of it, are then recorded there and get what is known there.
    Default: the project that had the same remote first. An earlier link of this repository ends.
    A shallow clone needs no link after `git fetch --unshallow`. `aforesaid project unlink` undoes a link.
    """
    arguments.require_user(f"project link{f' {name}' if name else ''}")
    store = arguments.open_store()
    here = identify(str(Path.cwd()))
    wanted = resolve.find_project(store, name, Path.cwd()) if name else _find_same_remote(store)
    text = f"{here.root} belongs to project {wanted.name} already."
    if store.projects.find(here) != wanted.id:
        arguments.call_worker("link", dir=str(Path.cwd()), project=wanted.id)
        text = (
            f"{here.root} belongs to project {wanted.name} ({wanted.root}) now. Its sessions are recorded "
            "there and get what is known there.\n`aforesaid project unlink` undoes that."
        )
    report({"root": here.root, "project": wanted.name}, text)


@project.command()
@click.argument("directory", required=False, type=click.Path(file_okay=False))
@json_option
def unlink(directory: str | None) -> None:
    """Undo `link` for the repository in DIRECTORY; default: this one."""
    path = str(Path.cwd() / directory) if directory else str(Path.cwd())
    answer = arguments.call_worker("link", dir=os.path.normpath(path), project=None)
    store = arguments.open_store()
    names = [store.projects.get(each).name for each in answer["ended"]]
    if not names:
        raise NotFound(f"{path} is not linked to a project. See `aforesaid project show`.")
    text = f"{path} is no longer linked to project {', '.join(names)}."
    report({"root": path, "unlinked": names}, text)


def _find_same_remote(store: Store) -> Project:
    here = identify(str(Path.cwd()))
    owner = store.projects.find(here)
    unproven = store.projects.unproven_remote(here, sys.maxsize if owner is None else owner)
    found = [store.projects.get(each) for each in unproven[1]] if unproven else []
    if len(found) == 1:
        return found[0]
    if found:
        roots = ", ".join(each.root for each in found)
        raise click.UsageError(
            f"Several projects have its remote. Name one by its folder, the oldest first: {roots}."
        )
    raise click.UsageError(
        "No older project has its remote. Name one; `aforesaid project list` lists them."
    )


def _project_json(store: Store, found: Project) -> dict[str, Any]:
    own = store.projects.identities(found.id)
    return {
        "name": found.name,
        "root": found.root,
        "remotes": _values(own, "remote"),
        "commits": _values(own, "commit"),
        "folders": [{"path": each, "state": _state(each, own)} for each in _values(own, "path")],
        "linked": [_values(each, "path")[0] for each in store.projects.links(found.id)],
    }


def _state(path: str, own: tuple[Identity, ...]) -> str:
    if not Path(path).is_dir():
        return "gone"
    return "present" if is_at(path, own) else "another repository"


def _values(identities: tuple[Identity, ...], kind: str) -> list[str]:
    return [each.identity.removeprefix(f"{kind}:") for each in identities if each.kind == kind]
