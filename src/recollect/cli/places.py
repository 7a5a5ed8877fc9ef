"""What a command works on: the store, and the project of the directory it was called in."""

import os
from pathlib import Path

from recollect import wiring
from recollect.errors import NotFound
from recollect.model.sessions import Session
from recollect.paths import Paths
from recollect.repository import identify
from recollect.store.protocol import Reading


def store() -> Reading:
    return wiring.open_for_reading(Paths.of(os.environ))


def current_project(store: Reading) -> int | None:
    """None when nothing was ever recorded here."""
    here = str(Path.cwd())
    return store.project_of_dir(here) or store.find_project(identify(here))


def scope(store: Reading, *, everywhere: bool) -> int | None:
    """The project to look in; None for all of them. An unknown directory looks everywhere."""
    return None if everywhere else current_project(store)


def session_named(store: Reading, name: str) -> Session:
    """By the agent's id or the beginning of it."""
    found = store.sessions_by_prefix(name) if name else []
    exact = [session for session in found if session.ref == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(f"{name!r} fits several sessions. Give more of the id.")
    raise NotFound(f"There is no session {name!r}. List them with `recollect sessions`.")
