"""A data set: what goes into a store, what is asked of it, and which observations answer.

Observations are known by the data set's own names; the store's numbers come into it in `loading.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aforesaid.model.records import (
    ObservationRecord,
    Part,
    ProjectRecord,
    Record,
    SessionRecord,
    session_name,
)
from aforesaid.repository import Identity

AGENT = "claude-code"
AUTHOR = "bench"


@dataclass(frozen=True, slots=True)
class Question:
    """`at`: when it is asked. `half`: which half of the set it belongs to; None: to both."""

    id: str
    text: str
    category: str
    answers: tuple[str, ...]
    at: int
    project: str | None = None
    half: str | None = None


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something that a user says to the agent, and what it would help the agent to know."""

    id: str
    text: str
    relevant: tuple[str, ...]
    at: int
    project: str
    half: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One store. Each session is a block of records: its project, itself, its parts. `database`: a store that
    is there already, whose documents are named after their turns."""

    name: str
    sessions: tuple[tuple[Record, ...], ...]
    questions: tuple[Question, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    database: Path | None = None

    @property
    def observations(self) -> list[ObservationRecord]:
        return [
            part for block in self.sessions for part in block if isinstance(part, ObservationRecord)
        ]


@dataclass(frozen=True, slots=True)
class DataSet:
    """`groups`: categories that are also reported together. `kinds`: what is asked for; empty: all."""

    name: str
    memories: tuple[Memory, ...]
    groups: tuple[tuple[str, frozenset[str]], ...] = ()
    kinds: tuple[str, ...] = ()

    def half(self, wanted: str) -> "DataSet":
        def kept(item: Question | Prompt) -> bool:
            return wanted == "all" or item.half in (None, wanted)

        return replace(
            self,
            memories=tuple(
                replace(
                    memory,
                    questions=tuple(q for q in memory.questions if kept(q)),
                    prompts=tuple(p for p in memory.prompts if kept(p)),
                )
                for memory in self.memories
            ),
        )

    def first(self, most: int) -> "DataSet":
        """The first questions of each memory, as many in all as are wanted, or a few more."""
        each = max(1, -(-most // len(self.memories)))
        cut = (replace(memory, questions=memory.questions[:each]) for memory in self.memories)
        return replace(self, memories=tuple(cut))


def project_record(name: str) -> ProjectRecord:
    return ProjectRecord(name, name, f"/{name}", 0, (Identity("path", f"path:/{name}"),))


def session_block(
    project: str, ref: str, started: int, parts: Sequence[Part]
) -> tuple[Record, ...]:
    """The records of one session, in the order in which a store takes them."""
    last = max((at for part in parts if (at := getattr(part, "at", None))), default=started)
    session = SessionRecord(
        session=session_name(AGENT, ref),
        project=project,
        agent=AGENT,
        ref=ref,
        project_dir=f"/{project}",
        transcript=None,
        status="completed",
        started_at=started,
        last_event_at=last,
        ended_at=last,
        title=None,
        subtitle=None,
        prompts=0,
    )
    return (project_record(project), session, *parts)


def turn_record(
    ref: str, name: str, at: int, text: str, concepts: Iterable[str]
) -> ObservationRecord:
    """A turn of a conversation as an observation that has nothing but its words."""
    return ObservationRecord(
        session=session_name(AGENT, ref),
        observation=name,
        job=None,
        ordinal=0,
        prompt_number=0,
        at=at,
        provider=AUTHOR,
        model=None,
        type="discovery",
        title=None,
        subtitle=None,
        narrative=text,
        subagent_type=None,
        pinned=False,
        edited=False,
        concepts=tuple(concepts),
    )
