"""Curated memories as values: what one says, where it stands, and the talk that one is taken from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MEMORY = "memory"  # what it is called by, as in `memory:prefers-tabs`
USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"
TYPES = (USER, FEEDBACK, PROJECT, REFERENCE)
LONGEST_SAID = 10_000  # characters that are remembered at once, on request
# Front matter of what an agent wants remembered: it may have read it somewhere.
BY, AGENT = "by", "agent"
NOTED_BY_AGENT = "noted by the agent"
# Where a memory stands: with the user, in all projects; with one project; in the repository, for everybody
# who works on it; in the coding agent's own folder, which is not ours.
OF_USER, OF_PROJECT, OF_TEAM, OF_CLIENT = "user", "project", "team", "client"
FROM = {OF_TEAM: "from the repository", OF_CLIENT: "of the client"}


@dataclass(frozen=True, slots=True)
class Memory:
    """`name` is its file's name without the ending. `description` is one line, and all that an index shows.
    `body`: the statement, then why and how to apply it, in Markdown. `evidence`: what it came from, such as
    `observation 12`. `commit`, `files`: of the files it speaks of, each with what git calls its content
    then. `extra`: front matter that we do not know; it is kept. Times are milliseconds, 0 where unknown."""

    name: str
    description: str
    type: str
    body: str
    pinned: bool = False
    created: int = 0
    updated: int = 0
    evidence: tuple[str, ...] = ()
    commit: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    replaces: tuple[str, ...] = ()
    replaced_by: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def by_agent(self) -> bool:
        return self.extra.get(BY) == AGENT

    @property
    def text(self) -> str:
        """Everything it says, for looking things up in it."""
        return f"{self.name.replace('-', ' ')}\n{self.description}\n{self.body}"


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """`checksum` is of the file's bytes: whoever changes the file says which version it has seen."""

    memory: Memory
    scope: str
    path: Path
    checksum: str
    modified: int

    @property
    def is_ours(self) -> bool:
        """Written by us, and so to be changed by us."""
        return self.scope in (OF_USER, OF_PROJECT)

    @property
    def pinned(self) -> bool:
        """By the user. What others write into a repository does not put itself first."""
        return self.memory.pinned and self.is_ours

    @property
    def label(self) -> str:
        """Its kind and source. What stands in a repository is not the user's word."""
        kind = FROM.get(self.scope, self.memory.type)
        return f"{kind}, {NOTED_BY_AGENT}" if self.memory.by_agent else kind

    @property
    def order(self) -> tuple[bool, int, str]:
        """Stable: pinned first, then as they were made."""
        return not self.pinned, self.memory.created, self.memory.name

    @property
    def importance(self) -> tuple[bool, int, str]:
        """Which to keep where there is no room for all: the pinned, then the newest."""
        return not self.pinned, -(self.memory.created or self.modified), self.memory.name


class Broken(NamedTuple):
    """A file that is no memory. It is reported and left alone."""

    path: Path
    why: str


class Message(NamedTuple):
    """`role`: user or assistant."""

    role: str
    text: str
