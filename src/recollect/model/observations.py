"""What is remembered: observations and summaries, before and after they are stored."""

import re
from dataclasses import dataclass, replace
from typing import Any

from recollect.model.origins import REASONS, Origin
from recollect.text import clean

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
FALLBACK_TYPE = "change"
OTHER_NAMES = {"fix": "bugfix", "bug": "bugfix", "bugfixes": "bugfix", "refactoring": "refactor"}
HELD_REASONS = frozenset(REASONS.values())
SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def known_type(said: str) -> str:
    """One of ours, however it was spelt. What names none of them, or several, is the fallback."""
    found = re.findall(r"[a-z]+", clean(said).casefold())
    whole = "".join(found)
    if OTHER_NAMES.get(whole, whole) in TYPES:
        return OTHER_NAMES.get(whole, whole)
    named = {OTHER_NAMES.get(word, word) for word in found} & set(TYPES)
    return named.pop() if len(named) == 1 else FALLBACK_TYPE


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote something: a provider, with its model and the version of the prompts if it has any."""

    provider: str
    model: str | None = None
    prompts: str | None = None

    def __str__(self) -> str:
        return " ".join(part for part in (self.provider, self.model, self.prompts) if part)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A part of a reply that the events do not bear out (C9). `part` names a field (`title`,
    `completed`), or one item of it (`facts 2`, `files_read 0`)."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class ObservationDraft:
    """A structured insight as a provider wrote it (C3). Any field but the type may be missing.

    `evidence`: the events it came from. `repeats`: an older observation that says the same; `follows`: one
    whose story it carries on. `revision`: the commit at that time; `blobs`: of its files, each with what
    git calls the content it had then. Both are empty where nobody can know any more. `origins`: whose words
    it stems from, the best first (`model/origins.py`), None where nobody has weighed it; `sources`: of what
    came over the network, from where. `bears_out`: one of another session that it says wholly and knows from
    elsewhere.
    """

    type: str
    title: str | None
    subtitle: str | None = None
    facts: tuple[str, ...] = ()
    narrative: str | None = None
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    subagent_type: str | None = None
    evidence: tuple[int, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    repeats: int | None = None
    follows: int | None = None
    revision: str | None = None
    blobs: tuple[tuple[str, str], ...] = ()
    origins: tuple[Origin, ...] | None = None
    sources: tuple[str, ...] = ()
    bears_out: int | None = None

    @property
    def held_back(self) -> bool:
        """Whether some of it stems from the web alone, and nobody vouches for it."""
        return any(doubt.reason in HELD_REASONS for doubt in self.doubts)

    @property
    def sure_facts(self) -> tuple[str, ...]:
        doubted = {doubt.part for doubt in self.doubts}
        return tuple(fact for n, fact in enumerate(self.facts) if f"facts {n}" not in doubted)


@dataclass(frozen=True, slots=True)
class Observation:
    id: int
    session_id: int
    project_id: int
    prompt_number: int
    at: int
    provider: str
    model: str | None
    pinned: bool
    draft: ObservationDraft
    edited: bool = False
    confirmed: bool = False


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
    doubts: tuple[Doubt, ...] = ()
    origins: tuple[Origin, ...] | None = None

    @property
    def held_back(self) -> bool:
        """Whether some of it stems from the web alone."""
        return any(doubt.reason in HELD_REASONS for doubt in self.doubts)

    @property
    def sure(self) -> "SummaryDraft":
        """Without the parts that the events do not bear out."""
        empty: dict[str, Any] = {d.part: None for d in self.doubts if d.part in SUMMARY_PARTS}
        return replace(self, **empty)


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
    model: str | None
    draft: SummaryDraft
