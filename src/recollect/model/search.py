"""What is asked of the memory, and what it answers."""

from dataclasses import dataclass
from typing import NamedTuple

from recollect.model.origins import Origin
from recollect.model.stored import StoredEvent

MATCH_START, MATCH_END = "\x02", "\x03"  # stand around the matched words of an excerpt

# What a finding can be.
OBSERVATION, SUMMARY, PROMPT, SESSION, EVENT = (
    "observation",
    "summary",
    "prompt",
    "session",
    "event",
)
# From the coarsest to the finest (D2). `titles` finds everything that has one; `events` is the last resort.
LEVELS = ("sessions", "summaries", "titles", "facts", "full", "events")
WITH_MEMORIES = ("titles", "facts", "full")  # levels at which curated memories are found, too
HAVE_NOT = {  # of what filters ask for, what is found at a level
    "sessions": ("type", "concept", "file"),
    "summaries": ("type", "concept"),
    "events": ("type", "concept", "file"),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """All of them must hold; an empty one holds for everything. `kinds`: observation, summary, prompt or
    session. `since` and `until`: milliseconds, the second one exclusive."""

    project_id: int | None = None
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agent: str | None = None
    session_id: int | None = None
    since: int | None = None
    until: int | None = None

    @property
    def backwards(self) -> bool:
        return self.since is not None and self.until is not None and self.since >= self.until


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    filters: Filters = Filters()
    level: str = "titles"
    limit: int = 10

    @property
    def finds_memories(self) -> bool:
        """Curated memories have none of what filters ask for."""
        plain = self.filters == Filters(project_id=self.filters.project_id)
        return plain and self.level in WITH_MEMORIES

    @property
    def in_vain(self) -> str | None:
        """The filter that nothing at this level can pass."""
        filters = self.filters
        given = {"type": filters.types, "concept": filters.concepts, "file": filters.files}
        return next((name for name in HAVE_NOT.get(self.level, ()) if given[name]), None)


class Document(NamedTuple):
    """Something that can be found, as the ranking sees it. `previous` and `next` stand beside it in its
    session; `asks`: it is a question; `by_user`: a person said or wrote it;
    `dead_end`: it tells of a way that led nowhere. No dataclass: a search makes hundreds."""

    id: int
    kind: str
    source: int
    session_id: int
    project_id: int
    at: int
    asks: bool
    says_when: bool
    says_number: bool
    pinned: bool
    doubted: bool
    superseded: bool
    by_user: bool
    dead_end: bool
    labels: frozenset[str]
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class FoundText:
    """What a document says, as it was written."""

    title: str
    body: str
    type: str | None
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundEvent:
    id: int
    session_id: int
    project_id: int
    at: int
    tool: str | None
    text: str
    score: float
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadEvent:
    """An event whose text is not indexed yet, and whose it is. `content_hash`: of what was read."""

    agent: str
    project_id: int
    project_dir: str
    event: StoredEvent
    project_root: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """And what there is to find of it: nothing, where its text is empty."""

    unread: UnreadEvent
    text: str
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class StoredVector:
    """Chunks of one document, `vector` holding their rows of signed bytes one after the other."""

    id: int
    document_id: int
    session_id: int
    project_id: int
    at: int
    kind: str
    source: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class Reason:
    """What one part of the ranking gave a finding, and because of what."""

    name: str
    points: float
    because: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding. `doubted`: the events do not bear it out; `superseded`: a later one carries its story
    on; `tokens`: what it costs to hand over in full; `folded`: others of its kind that say the same;
    `origin`: of an event, whose words it brought."""

    kind: str
    id: int
    session_id: int
    project_id: int
    at: int
    type: str | None
    title: str
    excerpt: str
    doubted: bool
    score: float = 0.0
    reasons: tuple[Reason, ...] = ()
    pinned: bool = False
    superseded: bool = False
    tokens: int = 0
    folded: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`without`: why the search had to do without vectors, if it had to."""

    hits: tuple[Hit, ...] = ()
    without: str | None = None


@dataclass(frozen=True, slots=True)
class IndexHealth:
    documents: int
    vectors: int
    waiting: int
    encoder: str | None
