"""Pauses: spans of time in which nothing is recorded, of a project, of a session, or of everything."""

from dataclasses import dataclass

COMMAND, SEEN = "command", "seen"


@dataclass(frozen=True, slots=True)
class Pause:
    """`origin`: `command` is what somebody asked for; `seen` is a session whose hooks said that it is not to
    be recorded. Without a project and a session it is of everything. `ends_at` None: until it is ended."""

    id: int
    origin: str
    began_at: int
    ends_at: int | None = None
    project_id: int | None = None
    agent: str | None = None
    ref: str | None = None

    def holds(self, at: int) -> bool:
        return self.began_at <= at and (self.ends_at is None or at < self.ends_at)

    def covers(self, project_id: int | None, session: tuple[str, str] | None) -> bool:
        if self.ref is not None:
            return session == (self.agent, self.ref)
        return self.project_id is None or self.project_id == project_id

    @property
    def scope(self) -> str:
        return "session" if self.ref else "project" if self.project_id is not None else "everything"
