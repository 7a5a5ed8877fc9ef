"""What people and agents name: a project, a session, a thing by its id.

A thing is `12` or `#12` (always an observation), `summary:7`, `prompt:3`, `event:9`, or the first letters of
a session's id.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from aforesaid.errors import NotFound
from aforesaid.model.names import NAMED, NUMBER
from aforesaid.model.observations import Observation, Summary
from aforesaid.model.search import EVENT, OBSERVATION, SESSION, SUMMARY, FoundEvent
from aforesaid.model.sessions import Project, Prompt, Session
from aforesaid.store.store import Store

SEARCHES = {
    SUMMARY: "aforesaid search --level summaries",
    SESSION: "aforesaid sessions",
    EVENT: "aforesaid search --level events",
}


@dataclass(frozen=True, slots=True)
class Thing:
    project_id: int
    session_id: int
    at: int
    value: Observation | Summary | Prompt | Session | FoundEvent

    @property
    def observation(self) -> Observation | None:
        return self.value if isinstance(self.value, Observation) else None


def get_thing(store: Store, kind: str, number: int) -> Thing | None:
    found: Observation | Summary | FoundEvent | None = None
    match kind:
        case "observation":
            found = store.observations.get(number)
        case "summary":
            found = store.summaries.get(number)
        case "event":
            found = store.events.get(number)
        case "session":
            if session := store.sessions.get(number):
                return Thing(session.project_id, session.id, session.last_event_at, session)
        case "prompt":
            prompt = store.sessions.prompt_by_id(number)
            if prompt and (session := store.sessions.get(prompt.session_id)):
                return Thing(session.project_id, session.id, prompt.at, prompt)
    return Thing(found.project_id, found.session_id, found.at, found) if found else None


def find_thing(store: Store, kind: str, number: int) -> Thing:
    if thing := get_thing(store, kind, number):
        return thing
    raise not_found(store, kind, number)


def find_observation(store: Store, number: int) -> Observation:
    if found := store.observations.get(number):
        return found
    raise not_found(store, OBSERVATION, number)


def not_found(store: Store, kind: str, number: int) -> NotFound:
    if kind == OBSERVATION and (hidden := store.observations.get_hidden(number)):
        first = hidden.observation_id
        beside = "" if first == number else f" with #{first}"
        undo = f"`aforesaid forget {first} --undo` restores it."
        return NotFound(f"Observation #{number} is hidden{beside}. {undo}")
    name = f"observation #{number}" if kind == OBSERVATION else f"{kind} {number}"
    return NotFound(
        f"There is no {name}. Find one with `{SEARCHES.get(kind, 'aforesaid search')}`."
    )


def parse_id(store: Store, text: str) -> tuple[str, int]:
    """Returns kind and number; only a session is looked up."""
    if found := NUMBER.fullmatch(text):
        return OBSERVATION, int(found[1])
    if found := NAMED.fullmatch(text):
        return found[1], int(found[2])
    return SESSION, find_session(store, text).id


def find_session(store: Store, name: str) -> Session:
    """By the agent's id or the beginning of it."""
    found = store.sessions.find_by_prefix(name) if name else []
    exact = [session for session in found if session.ref == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFound(f"{name!r} fits several sessions. Give more of the id.")
    raise NotFound(f"There is no session {name!r}. List them with `aforesaid sessions`.")


def project_at(store: Store, folder: Path) -> int | None:
    """None if nothing was ever recorded there. A folder that is gone may be known by its path without
    symbolic links only."""
    there = store.projects.find_at(os.path.normpath(folder))
    return there or store.projects.find_at(str(folder.resolve()))


def choose_project(store: Store, name: str | None, here: Path) -> int:
    if name:
        return find_project(store, name, here).id
    return require_project(store, here, "Name a project with --project.")


def require_project(store: Store, here: Path, fix: str) -> int:
    """`fix`: what to do if there is none."""
    project = project_at(store, here)
    if project is None:
        raise NotFound(f"Nothing was ever recorded in {here}. {fix}")
    return project


def find_project(store: Store, name: str, here: Path) -> Project:
    """By its name, or by a folder of it, such as `.` for the current one."""
    projects = store.projects.all()
    called = [project for project in projects if project.name == name]
    if len(called) == 1:
        return called[0]
    folder = here / Path(name).expanduser()
    path = os.path.normpath(folder)
    if folder.is_dir() and (there := project_at(store, folder)) is not None:
        return store.projects.get(there)
    # A folder that is gone, or belongs to another repository by now, is known by its path.
    found = called or [project for project in projects if project.root == path]
    if len(found) == 1:
        return found[0]
    if found:
        roots = ", ".join(project.root for project in found)
        raise NotFound(f"Several projects are called {name!r}. Give the folder: {roots}.")
    names = ", ".join(sorted({project.name for project in projects}))
    known = f"The projects are: {names}." if names else "No project is known yet."
    if folder.is_dir():
        raise NotFound(f"Nothing was ever recorded in {path}. {known}")
    raise NotFound(f"There is no project {name!r}. {known}")


def file_name(store: Store, project_id: int | None, path: str, here: Path) -> str:
    """A file as observations name it: relative to the project's directory if it is there and below it. Any
    other path is used as it was typed."""
    place = Path(path).expanduser()
    if project_id is None or not path or not (place.is_absolute() or (here / place).exists()):
        return path
    whole = os.path.normpath(here / place)
    name = as_recorded(store, project_id, whole)
    return path if name == whole else name


def as_recorded(store: Store, project_id: int, path: str) -> str:
    for root in (store.projects.get(project_id).root, *store.projects.dirs(project_id)):
        path = path.removeprefix(root.rstrip("/") + "/")
    return path.removeprefix("./").rstrip("/")
