"""Tells whoever watches what happens: ids and short titles, from where it happens.

Until the viewer is opened a call returns at once: capture and synthesis pay nothing for it. From then on, as
long as it is served, they pay for a question to the store at most, whether somebody looks or not. What cannot
be told is left out: what happened does not depend on it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from recollect import log
from recollect.clock import Clock
from recollect.errors import StoreError
from recollect.memory.dream.dreaming import Dream
from recollect.model.arrivals import Arrival
from recollect.model.events import (
    CommandRun,
    FileChanged,
    FileRead,
    Happening,
    PromptSubmitted,
    SubagentEnded,
    ToolUsed,
    TurnEnded,
)
from recollect.model.jobs import OBSERVE, Done, Job
from recollect.model.sessions import Session
from recollect.store.protocol import Reading
from recollect.text import one_line
from recollect.web.happenings import Happenings

TITLE = 200  # characters
NAMED = 20  # memories in one telling


@dataclass(slots=True)
class Announcing:
    store: Reading
    clock: Clock
    happenings: Happenings = field(default_factory=Happenings)
    on: bool = False  # somebody has opened the viewer

    def captured(self, arrivals: Sequence[Arrival]) -> None:
        """Events that are stored now."""
        if self.on and arrivals:
            with _if_it_can():
                self._captured(arrivals)

    def _captured(self, arrivals: Sequence[Arrival]) -> None:
        refs = {(a.event.agent, a.event.session) for a in arrivals}
        sessions = {ref: self.store.session_by_ref(*ref) for ref in refs}
        for arrival in arrivals:
            event = arrival.event
            if session := sessions[event.agent, event.session]:
                self.tell(
                    "captured",
                    arrival.capture.at,
                    **_where(session),
                    what=event.kind,
                    tool=event.tool,
                    title=_title(event.what),
                    subagent=event.subagent is not None,
                    failed=isinstance(event.what, ToolUsed) and event.what.failure is not None,
                    boring=arrival.boring,
                )

    def done(self, job: Job, session: Session, outcome: Done) -> None:
        """A job came to something."""
        if self.on:
            with _if_it_can():
                self._done(job, session, outcome)

    def _done(self, job: Job, session: Session, outcome: Done) -> None:
        where = _where(session) | {"prompt_number": job.prompt_number}
        if job.kind != OBSERVE:
            for summary in map(self.store.summary, outcome.written):
                if summary is not None:
                    self.tell("summary", summary.at, **where, id=summary.id, title=session.title)
            self.tell("turn", self.clock(), **where, title=session.title)
            return
        for found in map(self.store.observation, outcome.written):
            if found is not None:
                draft = found.draft
                title = one_line(draft.title or draft.subtitle or "", TITLE)
                self.tell(
                    "observation", found.at, **where, id=found.id, type=draft.type, title=title
                )

    def memories(self, project_id: int | None, names: Sequence[str], what: str) -> None:
        """`what`: remembered, extracted, or dreamed."""
        if self.on:
            said = {"names": [one_line(name, TITLE) for name in names[:NAMED]], "what": what}
            self.tell("memory", self.clock(), project_id=project_id, **said)

    def observation_changed(self, what: str, key: int, project_id: int) -> None:
        """By a person: pinned, edited, merged, forgotten, or any of these taken back."""
        self.tell("changed", self.clock(), what=what, id=key, project_id=project_id)

    def memory_changed(self, what: str, name: str | None, project_id: int | None) -> None:
        """By a person or an agent; without a name it may be any."""
        said = {"what": what, "name": one_line(name, TITLE) if name else None}
        self.tell("changed", self.clock(), **said, project_id=project_id)

    def dreamed(self, project_id: int | None, dream: Dream) -> None:
        said = {
            "completed": dream.completed,
            "entry": dream.entry,
            "changes": len(dream.operations),
        }
        self.tell("dream", self.clock(), project_id=project_id, **said)

    def fault(self, thread: str, why: str) -> None:
        self.tell("fault", self.clock(), thread=thread, title=one_line(why, TITLE))

    def tell(self, kind: str, at: int, **data: Any) -> None:
        if self.on:
            self.happenings.publish(kind, at, **data)


@contextmanager
def _if_it_can() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        log.warning("announce.failed", error=log.cause(error))


def _where(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "session": session.ref,
        "agent": session.agent,
        "project_id": session.project_id,
    }


def _title(what: Happening) -> str:
    match what:
        case PromptSubmitted(text=text) | TurnEnded(last_message=text):
            return one_line(text, TITLE)
        case SubagentEnded(last_message=text):
            return one_line(text, TITLE)
        case ToolUsed(action=FileChanged(path=path) | FileRead(path=path)):
            return one_line(path, TITLE)
        case ToolUsed(action=CommandRun(command=command, description=description)):
            return one_line(description or command, TITLE)
        case _:
            return ""
