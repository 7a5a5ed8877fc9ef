"""Sessions, their prompts, and the project they belong to."""

from dataclasses import dataclass
from typing import NamedTuple

from aforesaid.clock import day_and_time
from aforesaid.ids import digest

ACTIVE, COMPLETED, INTERRUPTED = "active", "completed", "interrupted"


class Project(NamedTuple):
    """A git repository by identity, not by folder name; `root` is where it was seen last."""

    id: int
    name: str
    root: str


@dataclass(frozen=True, slots=True)
class Session:
    """`ref` is the agent's own id; `title` and `subtitle` are derived from prompts and summaries."""

    id: int
    agent: str
    ref: str
    project_id: int
    project_dir: str
    status: str
    started_at: int
    last_event_at: int
    ended_at: int | None
    title: str | None
    subtitle: str | None
    prompts: int


class SessionTitle(NamedTuple):
    """A title stays, a subtitle follows the work; None changes nothing."""

    title: str | None
    subtitle: str | None


UNTITLED = SessionTitle(None, None)


@dataclass(frozen=True, slots=True)
class Prompt:
    id: int
    session_id: int
    number: int
    at: int
    text: str


COMMAND, SEEN = "command", "seen"
PROJECT, SESSION, EVERYTHING = "project", "session", "everything"
ENDS = "`aforesaid resume` ends that"
GONE = "that was erased"  # in place of a project's name


class Where(NamedTuple):
    """A directory's project, if it is known, and the mark of its place."""

    project_id: int | None = None
    place: str | None = None


class Pause(NamedTuple):
    """`origin`: `command` is one that a user asked for; `seen` is a session whose hooks report that it is not
    to be recorded. `ends_at` None: until it is ended. Of a project that is gone there is only the `place`."""

    id: int
    origin: str
    scope: str
    began_at: int
    ends_at: int | None = None
    project_id: int | None = None
    place: str | None = None
    agent: str | None = None
    ref: str | None = None

    def holds(self, at: int) -> bool:
        return self.began_at <= at and (self.ends_at is None or at < self.ends_at)

    def is_requested(self, at: int) -> bool:
        return self.origin == COMMAND and self.holds(at)

    def covers(self, where: Where, session: tuple[str, str] | None) -> bool:
        if self.scope == SESSION:
            return session == (self.agent, self.ref)
        return self.scope == EVERYTHING or self.is_at(where)

    def is_at(self, where: Where) -> bool:
        """By the project as long as there is one: another may lie in its old place."""
        if self.project_id is not None:
            return self.project_id == where.project_id
        return self.place is not None and self.place == where.place


def place_of(root: str) -> str:
    """What stays of a project's root: enough to know it again, and no text."""
    return digest(root, 32)


def paused(subject: str, until: int | None, *, verb: str = "is") -> str:
    """As everybody says it, without a full stop."""
    return f"{subject} {verb} paused" + (f" until {day_and_time(until)}" if until else "")


def subject(scope: str, project: str | None, session: str | None) -> str:
    """By name, for whoever is somewhere else."""
    named = {PROJECT: f"The project {project or GONE}", SESSION: f"Session {session}"}
    return named.get(scope, "Everything")


def here(scope: str) -> str:
    return {PROJECT: "This project", SESSION: "This session"}.get(scope, "Everything")


Cursor = tuple[int, ...]  # behind which row a page begins
TOP: Cursor = (2**62, 2**62)  # behind none, where the latest come first


@dataclass(frozen=True, slots=True)
class ProjectTotals:
    """`last_at`: when something last happened there; None where nothing has."""

    id: int
    name: str
    root: str
    sessions: int
    observations: int
    last_at: int | None


class EventRow(NamedTuple):
    """`text`: the begin of what it says, as far as it is indexed. `size`: of the bytes as captured."""

    id: int
    session_id: int
    kind: str
    tool: str | None
    at: int
    prompt_number: int
    subagent_type: str | None
    size: int
    healed: bool
    text: str | None


@dataclass(frozen=True, slots=True)
class ObservationRow:
    id: int
    session_id: int
    project_id: int
    prompt_number: int
    at: int
    type: str
    title: str | None
    subtitle: str | None
    pinned: bool
    edited: bool
    unverified: bool
    repeats: int | None
    follows: int | None


class Mark(NamedTuple):
    """An observation as a point in time. There are thousands of them at a time."""

    id: int
    at: int
    type: str
    title: str


class ActivityCount(NamedTuple):
    """How often something happened in a quarter of an hour since the epoch, in a session or in any."""

    quarter: int
    session_id: int | None
    number: int
