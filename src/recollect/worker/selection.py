"""Which transcripts an import is about: of all projects or one, of all time or since a day."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recollect.agents.protocol import Agent
from recollect.errors import NotFound
from recollect.model.transcripts import TranscriptFile
from recollect.repository import identify
from recollect.store.protocol import Reading
from recollect.worker.backfill import Selected

NAMED = 20  # as many projects as a message can name
Place = tuple[str, str]  # what makes it the same project, and its name


@dataclass(frozen=True, slots=True)
class Selection:
    """`chosen` are to be brought in, oldest first, out of `found` in `folder`. Of those that do not say where
    their session was, `empty` hold none, and `unreadable` cannot be read."""

    folder: Path
    found: int
    chosen: list[Selected]
    empty: int
    unreadable: list[TranscriptFile]


def select(
    agent: Agent,
    env: Mapping[str, str],
    store: Reading | None,
    *,
    project: str | None,
    since: int | None,
) -> Selection:
    """A file that does not say where its session was belongs to no project."""
    files = list(agent.transcripts(env))
    files.reverse()
    recent = [file for file in files if since is None or file.modified >= since]
    chosen = [Selected(agent.name, file) for file in recent if file.cwd]
    unreadable = [file for file in recent if file.fault]
    empty = len(recent) - len(chosen) - len(unreadable)
    if project is not None:
        place_of = cache(lambda directory: _place(store, directory))
        wanted = _wanted(project, place_of, {one.file.cwd for one in chosen})
        chosen = [one for one in chosen if place_of(one.file.cwd)[0] == wanted]
        empty = 0
    return Selection(agent.transcript_folder(env), len(files), chosen, empty, unreadable)


def _wanted(name: str, place_of: Callable[[str], Place], directories: set[str]) -> str:
    folder = Path(name).expanduser().absolute()
    if folder.is_dir() or "/" in name:
        return place_of(str(folder))[0]
    places = sorted({place_of(directory) for directory in directories})
    fitting = {key for key, known in places if known == name}
    if len(fitting) == 1:
        return fitting.pop()
    if fitting:
        folders = [d for d in sorted(directories) if place_of(d)[1] == name]
        raise NotFound(f"Several projects are called {name!r}. Give the folder: {_list(folders)}.")
    known = _list(sorted({known for _, known in places}))
    told = f"They are of: {known}." if known else "There are none."
    raise NotFound(f"No transcript is of a project called {name!r}. {told}")


def _place(store: Reading | None, directory: str) -> Place:
    """As the store knows it; else by the repository. A directory that is gone is where it was."""
    repository = identify(directory)
    if store is not None:
        known = None if Path(directory).is_dir() else store.project_of_dir(directory)
        known = known or store.find_project(repository)
        if known is not None:
            return f"project {known}", store.project(known).name
    return repository.identities[0].value, repository.name


def _list(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
