"""What is remembered: observations and summaries, before and after they are stored."""

from dataclasses import dataclass

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
FALLBACK_TYPE = "change"


@dataclass(frozen=True, slots=True)
class ObservationDraft:
    """A structured insight as a provider wrote it (C3). Any field but the type may be missing."""

    type: str
    title: str | None
    subtitle: str | None = None
    facts: tuple[str, ...] = ()
    narrative: str | None = None
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    subagent_type: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    id: int
    session_id: int
    project_id: int
    prompt_number: int
    at: int
    provider: str
    pinned: bool
    draft: ObservationDraft


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """What a turn asked, found and did (C4). None: nothing to say under that heading."""

    request: str | None
    investigated: str | None = None
    learned: str | None = None
    completed: str | None = None
    next_steps: str | None = None
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class SummarySkipped:
    """The turn deserves no summary, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Summary:
    id: int
    session_id: int
    project_id: int
    prompt_number: int
    at: int
    provider: str
    draft: SummaryDraft
