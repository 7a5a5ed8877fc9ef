"""Tells whoever watches what happens: ids and short titles, from where it happens.

While nobody watches, a call returns at once: capture and synthesis pay nothing for a viewer that is not open.
"""

from collections.abc import Sequence
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
        if not self.on or not arrivals:
            return
        try:
            refs = {(a.event.agent, a.event.session) for a in arrivals}
            sessions = {ref: self.store.session_by_ref(*ref) for ref in refs}
        except StoreError as error:  # the events are safe; only the telling is not
            log.warning("announce.failed", error=log.cause(error))
            return
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
        if not self.on:
            return
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
        """`what`: remembered, extracted, changed, or dreamed."""
        if self.on:
            said = {"names": [one_line(name, TITLE) for name in names[:NAMED]], "what": what}
            self.tell("memory", self.clock(), project_id=project_id, **said)

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
