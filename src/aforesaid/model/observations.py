"""Observations and summaries, before and after they are stored, and the origin of their text."""

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from aforesaid.model import names
from aforesaid.model.events import Event, Subagent
from aforesaid.text import clean


class Origin(StrEnum):
    """`AGENT`: nothing that the agent saw confirms it. `WEB`: foreign text, from the network, an MCP
    server, a log, a dependency or a download. `RECALLED`: aforesaid injected it, which proves nothing."""

    USER = "user"
    REPOSITORY = "repository"
    COMMAND = "command"
    AGENT = "agent"
    WEB = "web"
    RECALLED = "recalled"

    @property
    def rank(self) -> int:
        """The lower, the better."""
        return _ORDER.index(self)


_ORDER = tuple(Origin)
HELD_BACK = (Origin.WEB, Origin.RECALLED)  # what comes from these alone is not injected
# Stored with a part that is held back, and known to the views of migration 0008.
ONLY_WEB = "only the web or an MCP server says so"
ONLY_RECALLED = "only aforesaid itself has said so"
REASONS = {Origin.WEB: ONLY_WEB, Origin.RECALLED: ONLY_RECALLED}
ANYWHERE = "*"  # a search engine: what it shows may be of any place
UNKNOWN_SOURCE = "?"


TYPES = names.TYPES
FALLBACK_TYPE = "change"
OTHER_NAMES = {"fix": "bugfix", "bug": "bugfix", "bugfixes": "bugfix", "refactoring": "refactor"}
HELD_REASONS = frozenset(REASONS.values())
SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def known_type(name: str) -> str:
    """One of ours, however it was spelt. What names none of them, or several, is the fallback."""
    found = re.findall(r"[a-z]+", clean(name).casefold())
    whole = "".join(found)
    if OTHER_NAMES.get(whole, whole) in TYPES:
        return OTHER_NAMES.get(whole, whole)
    named = {OTHER_NAMES.get(word, word) for word in found} & set(TYPES)
    return named.pop() if len(named) == 1 else FALLBACK_TYPE


def stored_type(name: str) -> str:
    return name if name in TYPES else FALLBACK_TYPE


class Author(NamedTuple):
    """Who wrote something: a provider, with its model and the version of the prompts if it has any."""

    provider: str
    model: str | None = None
    prompts: str | None = None

    def __str__(self) -> str:
        return " ".join(part for part in (self.provider, self.model, self.prompts) if part)


@dataclass(frozen=True, slots=True)
class Doubt:
    """An unsupported part of a reply (C9), such as `title` or `facts 2`."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class ObservationDraft:
    """A structured insight as a provider wrote it (C3). Any field but the type may be missing.

    `evidence`: the events it came from. `repeats`: an older observation that says the same; `follows`: one
    whose story it carries on. `revision`: the commit at that time; `blobs`: of its files, each with what
    git calls the content it had then. Both are empty where it is no longer known. `origins`: whose words
    it stems from, the best first (`Origin`), None where it was not determined; `sources`: of
    what came over the network, from where. `corroborates`: one of another session that it says wholly and
    knows from elsewhere.
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
    corroborates: int | None = None

    @property
    def held_back(self) -> bool:
        """Whether some of it stems from the web alone, and the user has not verified it."""
        return any(doubt.reason in HELD_REASONS for doubt in self.doubts)

    @property
    def sure_facts(self) -> tuple[str, ...]:
        doubted = {doubt.part for doubt in self.doubts}
        return tuple(fact for n, fact in enumerate(self.facts) if f"facts {n}" not in doubted)

    @property
    def sure_narrative(self) -> str:
        is_sure = all(doubt.part != "narrative" for doubt in self.doubts)
        return (self.narrative or "") if is_sure else ""


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
    verified: bool = False


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


class SummarySkipped(NamedTuple):
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


Fields = dict[str, str | list[str] | None]


class Unusable(NamedTuple):
    """Why what was given cannot be taken, and what to do instead; `field`: which part of it, if it is one."""

    why: str
    field: str | None = None


def draft_fields(draft: ObservationDraft) -> Fields:
    return {
        "type": draft.type,
        "title": draft.title,
        "subtitle": draft.subtitle,
        "facts": list(draft.facts),
        "narrative": draft.narrative,
        "concepts": list(draft.concepts),
    }


def draft_version(draft: ObservationDraft) -> str:
    """Of the words: who has read others has read an older text."""
    return sha256(json.dumps(draft_fields(draft)).encode()).hexdigest()[:16]


def checked(fields: Fields) -> Fields | Unusable:
    """One line where one line is meant, and a type that there is."""
    lines = {
        name: " ".join(str(fields[name] or "").split()) or None for name in ("title", "subtitle")
    }
    kind = str(fields["type"] or "").strip().lower()
    if kind not in TYPES:
        why = f"the type is {kind!r}, but must be one of: {', '.join(TYPES)}"
        return Unusable(why, "type")
    if not (lines["title"] or fields["facts"] or fields["narrative"]):
        return Unusable("it has neither a title nor a fact nor a narrative")
    return fields | lines | {"type": kind}


def changes(before: Fields, after: Fields) -> Fields | Unusable:
    """What is known by a title keeps one."""
    if before["title"] and not after["title"]:
        return Unusable("its title is empty. Give it one, or leave the title as it is", "title")
    return {name: value for name, value in after.items() if value != before[name]}


def cite(kind: str, number: int) -> str:
    """`kind`: observation or event."""
    return f"{kind} {number}"


def cited(kind: str, text: str) -> frozenset[int]:
    return frozenset(map(int, re.findall(rf"\b{kind} (\d{{1,15}})\b", text)))


class Merge(NamedTuple):
    """`into`: what stands for both."""

    id: int
    into: int
    at: int


class HiddenObservation(NamedTuple):
    """`at`: when it was hidden."""

    observation_id: int
    at: int
    title: str | None
    project_id: int
    session_id: int


class TurnEvent(NamedTuple):
    """An event with its place in time."""

    id: int
    at: int
    event: Event


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything a provider may know when it writes about one turn.

    `before`: the session's earlier events, newest last, so that a command which failed in one turn and
    works in the next is seen as fixed. `recorded`: titles already written for this session. `observed`:
    what was written about this turn, for its summary. `goal`: the session's first prompt. `top`: the
    project's own directory. `injected`: what aforesaid has injected into the session. `messages`:
    what the agent wrote between tool calls; `subagent_messages`: what its sub-agents did. `branch`: the one
    that was checked out, if it is known.
    """

    project: str
    root: str
    session: str
    prompt_number: int
    prompt: str | None
    at: int
    events: tuple[TurnEvent, ...]
    before: tuple[TurnEvent, ...]
    recorded: tuple[str, ...]
    last_message: str | None
    interrupted: bool
    observed: tuple[ObservationDraft, ...] = ()
    goal: str | None = None
    top: str | None = None
    injected: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    subagent_messages: tuple[tuple[Subagent, str], ...] = ()
    branch: str = ""

    @property
    def roots(self) -> tuple[str, ...]:
        return (self.root, self.top) if self.top else (self.root,)
