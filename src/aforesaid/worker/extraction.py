"""Memories from a turn that has ended: what its messages say for good."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aforesaid import log
from aforesaid.clock import DAY
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.extraction.drafts import Draft
from aforesaid.memory.extraction.extract import (
    Extraction,
    apply_statements,
    build_extraction_request,
    may_teach,
    parse_extraction,
    statements_by_rules,
)
from aforesaid.memory.extraction.rules import Statement
from aforesaid.model.events import (
    CommandRun,
    Event,
    FileChanged,
    Happening,
    StoredEvent,
    ToolUsed,
    TurnEnded,
    Unreadable,
)
from aforesaid.model.jobs import MAX_TRIES, Job
from aforesaid.model.memories import Message
from aforesaid.model.observations import cite_event, cite_observation
from aforesaid.model.requests import EXTRACT, Failure, Refused, StoredReply
from aforesaid.model.sessions import Session
from aforesaid.synthesis.model import Requester
from aforesaid.worker.context import Context

TURNS = 4  # as far back as a dialogue goes
REMEMBERING = ("__remember", "__forget")  # our own tools, however the client calls them


@dataclass(frozen=True, slots=True)
class Extractor:
    context: Context
    memories: Callable[[str], Memories]

    def run(self, job: Job, session: Session, asking: Requester | None) -> Failure | None:
        """Returns the failure if the job has to be retried."""
        how = self.context.settings.text("memory.extract")
        if how == "off" or job.written_by:  # written anew: the turn was looked through then
            return None
        dialogue = self._dialogue(session, job.prompt_number)
        if not dialogue:
            return None
        memories = self.memories(session.project_dir)
        found: list[Statement | Draft] = [*statements_by_rules(dialogue, memories.redactor)]
        if self._kept_by_agent(session, job.prompt_number):
            # What it wrote is enough; but its word puts nothing right that the user has said.
            found = [each for each in found if isinstance(each, Statement) and each.correction]
        elif (
            asking is not None
            and how == "auto"
            and session.last_event_at > self.context.clock() - DAY
        ):
            asked = self._ask(asking, dialogue, memories)
            if not isinstance(asked, Extraction):
                return asked
            found += asked.drafts
        if found:
            self._apply(memories, found, session, job)
        return None

    def _ask(
        self, asking: Requester, dialogue: Sequence[Message], memories: Memories
    ) -> Extraction | Failure | None:
        nothing = Extraction((), ())
        if not may_teach(dialogue):
            return nothing
        known = [each.memory for each in memories.all().memories]
        answer = asking.ask(build_extraction_request(dialogue, known), EXTRACT)
        if not isinstance(answer, StoredReply):
            return nothing if isinstance(answer, Refused) else answer
        read = parse_extraction(answer.text, dialogue, memories.redactor)
        if isinstance(read, Extraction):
            return read
        asking.unusable(answer)
        log.warning("memory.unreadable_reply", why=read.why)
        return nothing

    def _apply(
        self,
        memories: Memories,
        found: Sequence[Statement | Draft],
        session: Session,
        job: Job,
    ) -> None:
        number = job.prompt_number
        observed = self.context.store.observations.for_prompt(session.id, number)
        named = [cite_observation(each.id) for each in observed[:3]]
        events = self.context.store.events.for_prompt(session.id, number)
        named += [cite_event(events[0].id)] if events else []
        said_at = events[0].at if events else session.last_event_at
        try:
            applied = apply_statements(memories, found, named, lambda: said_at, session.project_dir)
        except (MemoryRefused, OSError) as error:
            log.warning("memory.not_written", session=session.id, error=log.cause(error))
            if isinstance(error, OSError) and job.tries < MAX_TRIES:
                raise  # a full disk, most likely: the job is tried again
            return  # the summary does not wait for ever
        counts = {"added": len(applied.added), "updated": len(applied.updated)}
        log.action("memory.extracted", session=session.id, **counts, found=len(found))
        if names := (*applied.added, *applied.updated):
            self.context.changed.add(session.project_id)
            self.context.notifier.memories_written(session.project_id, names, "extracted")

    def _dialogue(self, session: Session, number: int) -> list[Message]:
        """What was said up to the end of this turn, oldest first; nothing where the user said nothing."""
        messages: list[Message] = []
        for each in range(max(1, number - TURNS + 1), number + 1):
            prompt = self.context.store.sessions.prompt(session.id, each)
            if prompt is not None:
                messages.append(Message("user", prompt.text))
            elif each == number:
                return []
            stops = self.context.store.events.stops(session.id, each)
            ends = [what for _, what in self._read(session, stops) if isinstance(what, TurnEnded)]
            messages += [Message("assistant", end.last_message) for end in ends]
        return messages

    def _kept_by_agent(self, session: Session, number: int) -> bool:
        """Whether the agent wrote memory files in this turn, or called our own tools for it."""
        folders = [each.path for each in self.memories(session.project_dir).places.all]
        for event, what in self._read(
            session, self.context.store.events.for_prompt(session.id, number)
        ):
            if not isinstance(what, ToolUsed) or event.subagent is not None:
                continue
            if what.name.endswith(REMEMBERING):
                return True
            match what.action:
                case CommandRun(command=command):
                    if any(str(folder) in command for folder in folders):
                        return True
                case FileChanged(path=path):
                    changed = Path(session.project_dir, path)
                    if any(changed.is_relative_to(folder) for folder in folders):
                        return True
        return False

    def _read(self, session: Session, rows: list[StoredEvent]) -> list[tuple[Event, Happening]]:
        agent = self.context.agents[session.agent]
        read = [agent.parse(replace(r.capture, project_dir=session.project_dir)) for r in rows]
        return [(e, e.what) for e in read if e is not None and not isinstance(e, Unreadable)]
