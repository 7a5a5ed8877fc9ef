"""Which transcripts an import takes, and what it would come to. Runs in the command's own process."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from aforesaid.agents.base import Agent
from aforesaid.agents.registry import AGENTS
from aforesaid.clock import DAY, Clock
from aforesaid.errors import NotFound, StoreMissing
from aforesaid.model.events import Tally, TranscriptFile
from aforesaid.model.sessions import ACTIVE
from aforesaid.repository import identify
from aforesaid.store.store import Store
from aforesaid.synthesis.model import Estimate, estimate
from aforesaid.synthesis.prompt import Style
from aforesaid.wiring import Choice, Home, open_for_reading, open_scratch
from aforesaid.worker.context import Context
from aforesaid.worker.reconcile import Reconciler, import_session

Tallies = dict[str, Tally]  # by session
NOTHING, EMPTY_SESSION = Tally(), Tally(sessions=1)
NAMED = 20  # as many projects as a message can name
Place = tuple[str, str]  # what makes it the same project, and its name


@dataclass(frozen=True, slots=True)
class Gain:
    """What came of the sessions: those that are `new`, those that have `grown` since, and how many were
    `known` as they are, or are `empty`: without anything to tell."""

    new: Tally = NOTHING
    grown: Tally = NOTHING
    known: int = 0
    empty: int = 0

    @property
    def all(self) -> Tally:
        """Everything that was added; its sessions are the new ones."""
        return self.new + replace(self.grown, sessions=0)


def gain(before: Tallies, after: Tallies) -> Gain:
    total = Gain()
    for session, tally in after.items():
        old = before.get(session, NOTHING)
        gained = replace(tally.since(old), sessions=1)
        if gained == EMPTY_SESSION:
            known = bool(old.sessions or tally.sessions)
            total = replace(total, known=total.known + known, empty=total.empty + (not known))
        elif old.sessions:
            total = replace(total, grown=total.grown + gained)
        else:
            total = replace(total, new=total.new + gained)
    return total


@dataclass(frozen=True, slots=True)
class Plan:
    gain: Gain
    faulty: list[str]  # paths of transcripts that could not be read whole
    estimate: Estimate


def reading(home: Home) -> Store | None:
    """The real store; None if nothing was ever recorded."""
    try:
        return open_for_reading(home.paths)
    except StoreMissing:
        return None


def tallies(store: Store | None, files: Iterable[TranscriptFile]) -> Tallies:
    if store is None:
        return {}
    return {file.session: store.events.count(file.agent, file.session) for file in files}


def plan(
    home: Home,
    choice: Choice,
    files: list[TranscriptFile],
    clock: Clock,
    show: Callable[[int, int], None],
) -> Plan:
    """Imports into a copy of the store, and counts."""
    with (
        TemporaryDirectory(prefix="aforesaid-") as folder,
        closing(open_scratch(home.paths, Path(folder))) as scratch,
    ):
        chosen = [file for file in files if _has_more(scratch, file, clock)]
        before = tallies(scratch, files)
        waiting = {job.id for job in scratch.jobs.unfinished()}
        reconciler = Reconciler(Context(home, scratch, clock, choice=choice), importing=True)
        done, total = 0, sum(file.size for file in chosen)
        for file in chosen:
            for _ in import_session(reconciler, file):
                pass
            done += file.size
            show(done, total)
        faulty = [file.path for file in chosen if reconciler.is_faulty(file)]
        jobs = [job for job in scratch.jobs.unfinished() if job.id not in waiting]
        gained = gain(before, before | tallies(scratch, chosen))
        style = choice.style or Style(home.settings.text("synthesis.verbosity"))
        budget = home.settings.number("synthesis.request_tokens")
        estimated = estimate(scratch, AGENTS, jobs, style, budget, choice.without_model())
        return Plan(gained, faulty, estimated)


def _has_more(store: Store, file: TranscriptFile, clock: Clock) -> bool:
    """Whether it tells something since the last time, or its session's end is still to be noticed."""
    session = store.sessions.find(file.agent, file.session)
    if session is None:
        return True
    if session.status == ACTIVE and session.last_event_at < clock() - DAY:
        return True
    mark = store.events.transcript_mark(file.agent, file.session)
    return next(iter(AGENTS[file.agent].read_transcript(file, mark)), None) is not None


@dataclass(frozen=True, slots=True)
class Selection:
    """`chosen` are to be brought in, oldest first, out of `found` in `folder`. Of those that do not say where
    their session was, `empty` hold none, and `unreadable` cannot be read."""

    folder: Path
    found: int
    chosen: list[TranscriptFile]
    empty: int
    unreadable: list[TranscriptFile]


def select(
    agent: Agent,
    env: Mapping[str, str],
    store: Store | None,
    *,
    project: str | None,
    since: int | None,
) -> Selection:
    """A file that does not say where its session was belongs to no project."""
    files = list(agent.transcripts(env))
    files.reverse()
    recent = [file for file in files if since is None or file.modified >= since]
    chosen = [file for file in recent if file.cwd]
    unreadable = [file for file in recent if file.fault]
    empty = len(recent) - len(chosen) - len(unreadable)
    if project is not None:
        place_of = cache(lambda directory: _place(store, directory))
        wanted = _wanted(project, place_of, {file.cwd for file in chosen})
        chosen = [file for file in chosen if place_of(file.cwd)[0] == wanted]
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
    hint = f"They are of: {known}." if known else "There are none."
    raise NotFound(f"No transcript is of a project called {name!r}. {hint}")


def _place(store: Store | None, directory: str) -> Place:
    """As the store knows it; else by the repository."""
    repository = identify(directory)
    known = store.projects.find_at(directory, repository) if store is not None else None
    if store is not None and known is not None:
        return f"project {known}", store.projects.get(known).name
    return repository.identities[0].identity, repository.name


def _list(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
