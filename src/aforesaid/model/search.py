"""Queries, what they find, and what is injected into an agent's context."""

from dataclasses import dataclass
from typing import NamedTuple

from aforesaid.errors import Misused
from aforesaid.model import names
from aforesaid.model.events import StoredEvent


@dataclass(frozen=True, slots=True)
class Injection:
    """An observation, a summary or a prompt that is injected. `tokens` is an estimate. Once it is stored: its
    hook and time; `session`: the agent's id of its source; `title`: its own, or its first words."""

    kind: str
    source: int
    reason: str
    tokens: int
    hook: str = ""
    at: int = 0
    title: str | None = None
    session: str | None = None
    origins: str | None = None


class Context(NamedTuple):
    """Lines to hand over, fenced, and what they are about."""

    lines: tuple[str, ...] = ()
    injections: tuple[Injection, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class MemoryInjection:
    """A curated memory that is injected. `size`: bytes of its text. Once it is stored: its hook and time."""

    name: str
    scope: str
    reason: str
    tokens: int
    size: int
    hook: str = ""
    at: int = 0


Injected = Injection | MemoryInjection


MATCH_START, MATCH_END = names.MATCH_START, names.MATCH_END
OBSERVATION, SUMMARY, PROMPT = names.OBSERVATION, names.SUMMARY, names.PROMPT
SESSION, EVENT = names.SESSION, names.EVENT
LEVELS = names.LEVELS
WITH_MEMORIES = ("titles", "facts", "full")  # levels at which curated memories are found, too
HAVE_NOT = {  # of what filters ask for, what is found at a level
    "sessions": ("type", "concept", "file"),
    "summaries": ("type", "concept"),
    "events": ("type", "concept", "file"),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """All must hold; an empty one holds for everything. `until` is exclusive."""

    project_id: int | None = None
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agent: str | None = None
    session_id: int | None = None
    since: int | None = None
    until: int | None = None

    def check(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise Misused(
                "The start (since) is later than the end (until). Swap them, or leave one out.",
                "since",
            )


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

    def check(self) -> None:
        """Refuses what can find nothing: no words, or filters that nothing at this level can pass."""
        if not self.text.strip():
            raise Misused("There are no words to search for. Give some, or a question.", "q")
        filters = self.filters
        filters.check()
        given = {"type": filters.types, "concept": filters.concepts, "file": filters.files}
        for name in HAVE_NOT.get(self.level, ()):
            if given[name]:
                why = (
                    f"{self.level.capitalize()} have no {name}: leave out the {name} or the level."
                )
                raise Misused(why, name)


class Document(NamedTuple):
    """Something that can be found, as the ranking sees it. `previous` and `next` stand beside it in its
    session; `asks`: it is a question; `turn`: the number of its prompt. No dataclass: a search makes
    hundreds."""

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
    labels: frozenset[str]
    previous: int | None
    next: int | None
    turn: int | None


class FoundEvent(NamedTuple):
    id: int
    session_id: int
    project_id: int
    at: int
    tool: str | None
    text: str
    score: float
    origin: str | None = None
    turn: int = 0


class UnreadEvent(NamedTuple):
    """An event whose text is not indexed yet, and whose it is. `content_hash`: of what was read."""

    agent: str
    project_id: int
    project_dir: str
    event: StoredEvent
    project_root: str
    content_hash: str


class StoredVector(NamedTuple):
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
    """One finding. `unverified`: the events do not bear it out; `superseded`: a later one carries its story
    on; `tokens`: what it costs to hand over in full; `duplicates`: others of its kind that say the same;
    `origin`: of an event, whose words it brought."""

    kind: str
    id: int
    session_id: int
    project_id: int
    at: int
    type: str | None
    title: str
    excerpt: str
    unverified: bool
    score: float = 0.0
    reasons: tuple[Reason, ...] = ()
    pinned: bool = False
    superseded: bool = False
    tokens: int = 0
    duplicates: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    origin: str | None = None


class Answer(NamedTuple):
    """`without`: why vectors were not used. `complete`: `total` counts all that match. `weak`: nothing is
    near to the question."""

    hits: tuple[Hit, ...] = ()
    without: str | None = None
    total: int = 0
    complete: bool = True
    weak: bool = False


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """`unread`: events whose texts are still to be indexed."""

    documents: int
    vectors: int
    waiting: int
    unread: int
    encoder: str | None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """`observations`: how many speak of it; `changes`: how many of them changed it."""

    path: str
    observations: int
    changes: int
    last_at: int
