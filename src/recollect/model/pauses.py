"""Pauses: spans of time in which nothing is recorded, of a project, of a session, or of everything.

A project may be erased while it is paused, and stays paused: then its place stands for it.
"""

from dataclasses import dataclass

from recollect.clock import day_and_time
from recollect.ids import digest

COMMAND, SEEN = "command", "seen"
PROJECT, SESSION, EVERYTHING = "project", "session", "everything"
ENDS = "`recollect resume` ends that"
GONE = "that was erased"  # in place of a project's name


@dataclass(frozen=True, slots=True)
class Where:
    """A directory's project, if it is known, and the mark of its place."""

    project_id: int | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """`origin`: `command` is what somebody asked for; `seen` is a session whose hooks said that it is not to
    be recorded. `ends_at` None: until it is ended. Of a project that is gone there is only the `place`."""

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
