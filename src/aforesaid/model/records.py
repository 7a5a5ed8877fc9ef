"""Everything that is remembered, as values that can leave one store and enter another.

A record names what it refers to by what that is called everywhere: a session by `agent/ref`, an event by its
key, a job by its place in its session, an observation by `session#place`. No record knows a row's number.
Curated memories are files and not in a store, so theirs is a record beside the others.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple

from aforesaid.ids import digest
from aforesaid.model.observations import Doubt
from aforesaid.repository import Identity, Repository
from aforesaid.text import sqlite_safe

OriginName = Literal["user", "repository", "command", "agent", "web", "recalled"]  # see `Origin`
LISTED = 20  # reasons that are listed one by one


@dataclass(frozen=True, slots=True)
class DirRecord:
    dir: str
    seen_at: int


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """`project` is its name among the records only. Strongest identity first."""

    project: str
    name: str
    root: str
    created_at: int
    identities: tuple[Identity, ...] = ()
    dirs: tuple[DirRecord, ...] = ()

    @property
    def repository(self) -> Repository:
        """As git reported it. One that nothing is known of is known by its place."""
        known = self.identities or (Identity("path", f"path:{self.root}"),)
        found: Repository = map_texts(Repository(self.name, self.root, known), sqlite_safe)
        return found


@dataclass(frozen=True, slots=True)
class SessionRecord:
    session: str
    project: str
    agent: str
    ref: str
    project_dir: str
    transcript: str | None
    status: Literal["active", "completed", "interrupted"]
    started_at: int
    last_event_at: int
    ended_at: int | None
    title: str | None
    subtitle: str | None
    prompts: int


@dataclass(frozen=True, slots=True)
class PromptRecord:
    session: str
    number: int
    prompt_id: str | None
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class JobRecord:
    """`job` is its place in its session. A lease is not carried over: whoever held it is elsewhere."""

    session: str
    job: int
    kind: Literal["observe", "summarize"]
    prompt_number: int
    state: Literal["pending", "done", "skipped"]
    tries: int
    due_at: int
    last_error: str | None
    created_at: int
    finished_at: int | None
    written_by: str | None


@dataclass(frozen=True, slots=True)
class EventRecord:
    """`body`: the agent's own bytes. `healed`: it is from the transcript, and no hook delivered it."""

    session: str
    key: str
    kind: str
    tool: str | None
    hook: str
    capture_id: str
    at: int
    prompt_number: int
    prompt_id: str | None
    subagent_type: str | None
    boring: bool
    healed: bool
    job: int | None
    body: bytes


@dataclass(frozen=True, slots=True)
class BlobRecord:
    """What git calls the content that a file had."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """`evidence`: keys of events of the same session. `repeats` and `follows`: other observations.
    `revision` and `blobs`: the commit and the files at that time. `verified`: the user says that it
    holds. `origins`: whose words it stems from; `sources`: which places in the network. `hidden_with`: the
    observation that it was hidden with, itself if by its own. `merged_at`: when a person merged it into
    what it repeats."""

    session: str
    observation: str
    job: int | None
    ordinal: int
    prompt_number: int
    at: int
    provider: str
    model: str | None
    type: str
    title: str | None
    subtitle: str | None
    narrative: str | None
    subagent_type: str | None
    pinned: bool
    edited: bool
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    evidence: tuple[str, ...] = ()
    repeats: str | None = None
    follows: str | None = None
    revision: str | None = None
    blobs: tuple[BlobRecord, ...] = ()
    verified: bool = False
    origins: tuple[OriginName, ...] | None = None
    sources: tuple[str, ...] = ()
    hidden_at: int | None = None
    hidden_with: str | None = None
    merged_at: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    session: str
    prompt_number: int
    at: int
    provider: str
    model: str | None
    request: str | None
    investigated: str | None
    learned: str | None
    completed: str | None
    next_steps: str | None
    notes: str | None
    files_read: tuple[str, ...] = ()
    files_edited: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    origins: tuple[OriginName, ...] | None = None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A line of the ledger. Its session, or even its project, may be gone; what was spent was spent."""

    session: str | None
    project: str | None
    job: int | None
    at: int
    provider: str
    model: str
    prompts: str
    purpose: Literal["observe", "summarize", "repair", "select", "extract", "dream"]
    digest: str
    outcome: Literal["answered", "unusable", "failed"]
    error: str | None
    sent: int
    cached: int
    written: int
    received: int
    estimated: bool
    microdollars: int | None
    milliseconds: int
    stored: bool
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A curated memory. `project`: None for the user's. `text`: all of its file, to the byte."""

    project: str | None
    name: str
    retired: bool
    text: str


Part = PromptRecord | JobRecord | EventRecord | ObservationRecord | SummaryRecord | RequestRecord
Record = ProjectRecord | SessionRecord | Part
Exported = Record | MemoryRecord
# What a record of each kind is called, and many of them.
NAMES: dict[type[Exported], tuple[str, str]] = {
    ProjectRecord: ("project", "projects"),
    SessionRecord: ("session", "sessions"),
    PromptRecord: ("prompt", "prompts"),
    JobRecord: ("job", "jobs"),
    EventRecord: ("event", "events"),
    ObservationRecord: ("observation", "observations"),
    SummaryRecord: ("summary", "summaries"),
    RequestRecord: ("request", "requests"),
    MemoryRecord: ("memory", "memories"),
}


Counts = Counter[str]  # how many of each, by its plural


def all_counts(counts: Counts) -> dict[str, int]:
    """Those too that there are none of."""
    return {plural: counts[plural] for _, plural in NAMES.values()}


class Taken(NamedTuple):
    """What came of giving a block of records to a store: what was new, and what it had already."""

    new: Counts
    known: Counts
    project_id: int | None  # where it went, if anything was new


@dataclass(frozen=True, slots=True)
class MemoryImportResult:
    """`renamed`: new names of those whose name was taken. `reasons`: of the first refused."""

    new: int = 0
    known: int = 0
    renamed: tuple[str, ...] = ()
    refused: int = 0
    reasons: tuple[str, ...] = ()

    def __add__(self, other: "MemoryImportResult") -> "MemoryImportResult":
        return MemoryImportResult(
            self.new + other.new,
            self.known + other.known,
            self.renamed + other.renamed,
            self.refused + other.refused,
            (self.reasons + other.reasons)[:LISTED],
        )


def session_name(agent: str, ref: str) -> str:
    return f"{agent}/{ref}"


def map_texts(
    value: Any, text: Callable[[str], str], body: Callable[[bytes], bytes] = lambda data: data
) -> Any:
    """A record with all its texts and bytes changed. What stays the same is the same object."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bytes):
        return body(value)
    if isinstance(value, tuple):
        after = tuple(map_texts(each, text, body) for each in value)
        return value if all(a is b for a, b in zip(after, value, strict=True)) else after
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((each.name, getattr(value, each.name)) for each in fields(value))
        changed = {n: new for n, old in pairs if (new := map_texts(old, text, body)) is not old}
        return replace(value, **changed) if changed else value
    return value


def fingerprint(record: ObservationRecord) -> str:
    """The same words about the same turn: whoever wrote them, and when, does not matter."""
    texts = (record.type, record.title, record.subtitle, record.narrative, record.subagent_type)
    sets = (record.concepts, record.files_read, record.files_modified)
    words = (record.prompt_number, texts, record.facts, *(sorted(set(items)) for items in sets))
    return digest(repr(words), 32)
