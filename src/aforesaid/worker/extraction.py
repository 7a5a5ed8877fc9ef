"""What becomes a memory: statements of a turn that has ended, and the `remember` command."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aforesaid import log
from aforesaid.clock import DAY, day_and_time
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.extraction import by_model, extract
from aforesaid.memory.extraction.rules import Statement, statements_by_rules
from aforesaid.memory.extraction.sentences import own_sentences
from aforesaid.memory.replies import Unusable
from aforesaid.model import events
from aforesaid.model.jobs import DRAFT, MAX_TRIES, Job
from aforesaid.model.memories import AGENT, Message
from aforesaid.model.names import EVENT, OBSERVATION
from aforesaid.model.observations import cite
from aforesaid.model.prose import sentences
from aforesaid.model.requests import EXTRACT, Failure, Refused, StoredReply
from aforesaid.model.sessions import ACTIVE, Session
from aforesaid.synthesis import provenance
from aforesaid.synthesis.model import Requester
from aforesaid.text import clean
from aforesaid.worker.context import Context

TURNS = 4  # as far back as a dialogue goes
REMEMBERING = ("__remember", "__forget")  # our own tools, however the client calls them
Json = dict[str, Any]
MOST_FILES = 20
LATEST = 20  # sessions of a project, among which the agent's own is looked for
OF_THE_WEB = (
    "It was not kept: only the web or an MCP server says so, and that is not remembered automatically. Show "
    "it to the user, who can keep it with `aforesaid remember`."
)
LEAD = re.compile(r"\A(?:please,? )?(?:remember|note|keep in mind)(?: that)?[:,]? ")
QUOTATION = re.compile(r'"[^"]{1,4000}"|“[^”]{1,4000}”|«[^»]{1,4000}»|„[^“]{1,4000}“')
ENDS = re.compile(r"[.!?](?:\s|.$)|\n")  # a sentence, within a quotation
AROUND = " \t\"'`“”‘’«».!:"


@dataclass(frozen=True, slots=True)
class Extractor:
    context: Context
    memories: Callable[[str], Memories]

    def run(self, job: Job, session: Session, asking: Requester | None) -> Failure | None:
        """Returns the failure if the job has to be retried."""
        how = self.context.settings.text("memory.extract")
        drafted = job.written_by == DRAFT
        if how == "off" or (job.written_by and not drafted):  # written again: was read through then
            return None
        dialogue = self._dialogue(session, job.prompt_number)
        if not dialogue:
            return None
        memories = self.memories(session.project_dir)
        found = [] if drafted else statements_by_rules(dialogue, memories.redactor)
        if self._kept_by_agent(session, job.prompt_number):
            # What it wrote is enough; but its word puts nothing right that the user has said.
            found = [each for each in found if each.correction]
        elif (
            asking is not None
            and how == "auto"
            and session.last_event_at > self.context.clock() - DAY
        ):
            asked = self._ask(asking, dialogue, memories)
            if not isinstance(asked, tuple):
                return asked
            found += asked
        if found:
            self._apply(memories, found, session, job)
        return None

    def _ask(
        self, asking: Requester, dialogue: Sequence[Message], memories: Memories
    ) -> tuple[Statement, ...] | Failure:
        if not by_model.may_teach(dialogue):
            return ()
        known = [each.memory for each in memories.all().memories]
        answer = asking.ask(by_model.build_extraction_request(dialogue, known), EXTRACT)
        if not isinstance(answer, StoredReply):
            return () if isinstance(answer, Refused) else answer
        read = by_model.parse_extraction(answer.text, dialogue, memories.redactor)
        if isinstance(read, Unusable):
            asking.unusable(answer)
            log.warning("memory.unreadable_reply", why=read.why)
            return ()
        return tuple(each for each in read if isinstance(each, Statement))

    def _apply(
        self,
        memories: Memories,
        found: Sequence[Statement],
        session: Session,
        job: Job,
    ) -> None:
        number = job.prompt_number
        observed = self.context.store.observations.for_prompt(session.id, number)
        if self.context.choice.model is not None and not job.written_by:
            observed = []  # drafts, which a model replaces
        named = [cite(OBSERVATION, each.id) for each in observed[:3]]
        rows = self.context.store.events.for_prompt(session.id, number)
        named += [cite(EVENT, rows[0].id)] if rows else []
        said_at = rows[0].at if rows else session.last_event_at
        try:
            applied = extract.apply_statements(
                memories, found, named, lambda: said_at, session.project_dir
            )
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
            stops = self.context.store.events.for_prompt(session.id, each, "stop")
            for event in self._read(session, stops):
                if isinstance(event.what, events.TurnEnded):
                    messages.append(Message("assistant", event.what.last_message))
        return messages

    def _kept_by_agent(self, session: Session, number: int) -> bool:
        """Whether the agent wrote memory files in this turn, or called our own tools for it."""
        folders = [each.path for each in self.memories(session.project_dir).places.all]
        rows = self.context.store.events.for_prompt(session.id, number)
        for event in self._read(session, rows):
            what = event.what
            if not isinstance(what, events.ToolUsed) or event.subagent is not None:
                continue
            if what.name.endswith(REMEMBERING):
                return True
            match what.action:
                case events.CommandRun(command=command):
                    if any(str(folder) in command for folder in folders):
                        return True
                case events.FileChanged(path=path):
                    changed = Path(session.project_dir, path)
                    if any(changed.is_relative_to(folder) for folder in folders):
                        return True
        return False

    def _read(self, session: Session, rows: list[events.StoredEvent]) -> Iterator[events.Event]:
        agent = self.context.agents[session.agent]
        return filter(None, (agent.parse_stored(row, session.project_dir) for row in rows))

    def remember(self, request: Json) -> Json:
        """`dir`, `text`, `type`, `name`, `team`, `pin`, `by`, `files`; `agent` and `session` name the session
        it was said in; no `agent`: a client that nobody records. What an agent notes is the agent's, unless
        the user said it in that session; what the agent has from the web alone is not kept automatically."""
        given = clean(request["text"]).strip()
        text = self.context.redactor.text(given)  # as what was recorded
        session = self._session(request) if request["by"] == AGENT else None
        prompts = self.context.store.sessions.prompts(session.id) if session else []
        by_agent = request["by"] == AGENT and not are_in((each.text for each in prompts), text)
        if by_agent and self._is_of_the_web(session, request, text):
            log.action("memory.refused", size=len(text), why="web")
            raise MemoryRefused(OF_THE_WEB)
        said = f"said {day_and_time(self.context.clock())}"
        if request["session"]:
            said += f" in session {request['session'][:8]}"
        wanted = extract.RememberRequest(
            given,
            type=request["type"],
            name=request["name"],
            team=request["team"],
            pinned=request["pin"] and not by_agent,
            by_agent=by_agent,
            files=tuple(clean(path).strip() for path in request["files"][:MOST_FILES]),
            evidence=(said,),
        )
        done = extract.remember(self.memories(request["dir"]), wanted, request["dir"])
        stored = done.stored
        sizes = {"by_agent": wanted.by_agent, "size": len(text), "known": done.known}
        log.action("memory.remembered", **sizes)
        project_id = self.context.projects.of(request["dir"])
        self.context.notifier.memories_written(project_id, (stored.memory.name,), "remembered")
        return {
            "name": stored.memory.name,
            "description": stored.memory.description,
            "type": stored.memory.type,
            "scope": stored.scope,
            "path": str(stored.path),
            "known": done.known,
            "updated": done.updated,
            "redacted": done.redacted,
            "same": list(done.same),
            "contradicted": list(done.contradicted),
        }

    def _session(self, request: Json) -> Session | None:
        """The agent's own. If it names none, or none that is known: the one that is open in the project."""
        ref = request["session"]
        if ref and (found := self.context.store.sessions.find(request["agent"], ref)):
            return found
        project = self.context.projects.find(request["dir"])
        latest = self.context.store.sessions.recent(project, LATEST) if project else []
        return next((each for each in latest if each.status == ACTIVE), None)

    def _is_of_the_web(self, session: Session | None, request: Json, text: str) -> bool:
        """What an agent has read that should be recorded and is not, it may have from anywhere."""
        context = self.context
        if session is None and request["agent"]:
            return True
        if session and provenance.is_foreign_note(context.store, context.agents, session, text):
            return True
        project_id = context.projects.find(request["dir"])
        return project_id is not None and provenance.was_fetched(context.store, project_id, text)


def are_in(prompts: Iterable[str], text: str) -> bool:
    said = _plain(own_sentences(text)) or _plain(sentences(text))
    # A quotation of whole sentences is not the speaker's own.
    own = (QUOTATION.sub(lambda q: " " if ENDS.search(q[0]) else q[0], each) for each in prompts)
    spoken = (_plain(own_sentences(prompt)) for prompt in own)
    return bool(said) and any(_follow_each_other(said, each) for each in spoken)


def _follow_each_other(said: list[str], prompt: list[str]) -> bool:
    starts = (n for n, sentence in enumerate(prompt) if sentence == said[0])
    return any(prompt[start : start + len(said)] == said for start in starts)


def _plain(parts: Iterable[str]) -> list[str]:
    """Without what may be different between what was said and what is noted of it."""
    plain = (" ".join(sentence.casefold().split()).strip(AROUND) for sentence in parts)
    return [kept for each in plain if (kept := LEAD.sub("", each).strip(AROUND))]
