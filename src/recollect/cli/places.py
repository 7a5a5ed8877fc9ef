"""What a command works on: the store, and the project of the directory it was called in."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from recollect import wiring
from recollect.errors import NotFound, RecollectError
from recollect.model.sessions import Project, Session
from recollect.paths import Paths
from recollect.recall.shown import short_id
from recollect.repository import identify
from recollect.store.protocol import Reading
from recollect.text import one_line

COMPLETED = 40  # as many as a shell shows on one screen
Command = TypeVar("Command", bound=Callable[..., object])
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def store() -> Reading:
    return wiring.open_for_reading(Paths.of(os.environ))


def current_project(store: Reading) -> int | None:
    """None when nothing was ever recorded here."""
    return _project_of(store, Path.cwd())


def scope(store: Reading, *, everywhere: bool) -> int | None:
    """The project to look in; None for all of them. An unknown directory looks everywhere."""
    return None if everywhere else current_project(store)


def here(store: Reading, fix: str) -> int:
    """For a command that has nothing to say of other projects. `fix`: what to do instead."""
    project = current_project(store)
    if project is None:
        raise NotFound(f"Nothing was ever recorded in {Path.cwd()}. {fix}")
    return project


def session_named(store: Reading, name: str) -> Session:
    """By the agent's id or the beginning of it."""
    found = store.sessions_by_prefix(name) if name else []
    exact = [session for session in found if session.ref == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(f"{name!r} fits several sessions. Give more of the id.")
    raise NotFound(f"There is no session {name!r}. List them with `recollect sessions`.")


def project_named(store: Reading, name: str) -> Project:
    """By its name, or by a folder of it, such as `.` for the one we are in."""
    projects = store.projects()
    called = [project for project in projects if project.name == name]
    if len(called) == 1:
        return called[0]
    folder = Path.cwd() / Path(name).expanduser()
    path = os.path.normpath(folder)
    if folder.is_dir() and (there := _project_of(store, folder)) is not None:
        return store.project(there)
    # A folder that is no more, or is another repository's by now, is known by its path.
    found = called or [project for project in projects if project.root == path]
    if len(found) == 1:
        return found[0]
    if found:
        roots = ", ".join(project.root for project in found)
        raise NotFound(f"Several projects are called {name!r}. Give the folder: {roots}.")
    if folder.is_dir():
        raise NotFound(f"Nothing was ever recorded in {path}. {_known(store)}")
    raise NotFound(f"There is no project {name!r}. {_known(store)}")


def _project_of(store: Reading, folder: Path) -> int | None:
    """As the agent named the folder, as it is without links, or by what git says of it."""
    real = str(folder.resolve())
    known = store.project_of_dir(os.path.normpath(folder)) or store.project_of_dir(real)
    return known or store.find_project(identify(real))


def _known(store: Reading) -> str:
    names = ", ".join(sorted({project.name for project in store.projects()}))
    return f"The projects are: {names}." if names else "No project is known yet."


def completing(list_items: Callable[[Reading], Iterable[tuple[str, str]]]) -> Completer:
    """For a shell: the items that begin as typed, each with a few words. An error completes nothing."""

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        with suppress(RecollectError, OSError):
            found = list_items(store())
            return [CompletionItem(v, help=h or None) for v, h in found if v.startswith(typed)]
        return []

    return complete


def project_names(store: Reading) -> list[tuple[str, str]]:
    return [(project.name, project.root) for project in store.projects()]


def not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A variable of a script that is not set would else mean everything."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty. Name one, or leave it out.")
    return value


def project_option(what: str = "Only this project") -> Callable[[Command], Command]:
    """`--project`, completed by the shell, for `project_named`."""
    return click.option(
        "--project",
        metavar="NAME",
        callback=not_empty,
        shell_complete=completing(project_names),
        help=f"{what}: its name, a folder of it, or `.` for the one you are in.",
    )


def session_names(store: Reading) -> list[tuple[str, str]]:
    found = store.sessions(None, COMPLETED)
    return [(short_id(store, each.ref), one_line(each.title or "", 60)) for each in found]


def anything(store: Reading) -> list[tuple[str, str]]:
    return observation_numbers(store) + session_names(store)


def observation_numbers(store: Reading) -> list[tuple[str, str]]:
    project = current_project(store)
    found = store.recent_observations(project, COMPLETED) if project is not None else []
    return [(str(o.id), one_line(o.draft.title or "", 60)) for o in found]
