"""Sessions, their prompts, and the project they belong to."""

from dataclasses import dataclass

ACTIVE, COMPLETED, INTERRUPTED = "active", "completed", "interrupted"


@dataclass(frozen=True, slots=True)
class Project:
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


@dataclass(frozen=True, slots=True)
class SessionTitle:
    """A title stays, a subtitle follows the work; None changes nothing."""

    title: str | None
    subtitle: str | None


UNTITLED = SessionTitle(None, None)


@dataclass(frozen=True, slots=True)
class Prompt:
    session_id: int
    number: int
    at: int
    text: str
