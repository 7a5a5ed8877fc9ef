"""The `remember` command: keeps a statement as a memory, if its provenance allows."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aforesaid import log
from aforesaid.clock import day_and_time
from aforesaid.errors import MemoryRefused
from aforesaid.memory.changes import Memories
from aforesaid.memory.extraction.extract import RememberRequest, remember
from aforesaid.memory.extraction.sentences import own_sentences
from aforesaid.model.memories import AGENT, LONGEST_SAID
from aforesaid.model.prose import sentences
from aforesaid.model.sessions import ACTIVE, Session
from aforesaid.synthesis import provenance
from aforesaid.text import clean
from aforesaid.worker.context import Context

Json = dict[str, Any]
MOST_FILES = 20
LATEST = 20  # sessions of a project, among which the agent's own is looked for
OF_THE_WEB = (
    "It was not kept: only the web or an MCP server says so, and that is not remembered unasked. Show it to "
    "the user, who can keep it with `aforesaid remember`."
)
LEAD = re.compile(r"\A(?:please,? )?(?:remember|note|keep in mind)(?: that)?[:,]? ")
QUOTATION = re.compile(r'"[^"]{1,4000}"|“[^”]{1,4000}”|«[^»]{1,4000}»|„[^“]{1,4000}“')
ENDS = re.compile(r"[.!?](?:\s|.$)|\n")  # a sentence, within a quotation
AROUND = " \t\"'`“”‘’«».!:"


@dataclass(frozen=True, slots=True)
class MemoryCommands:
    context: Context
    memories: Callable[[str], Memories]
    project_changed: Callable[[int], None] = lambda _: None

    def remember(self, request: Json) -> Json:
        """`dir`, `text`, `type`, `name`, `team`, `pin`, `by`, `files`; `agent` and `session` name the session
        it was said in; no `agent`: a client that nobody records. What an agent notes is the agent's, unless
        the user said it in that session; what the agent has from the web alone is not kept unasked."""
        text = self.context.redactor.text(clean(request["text"]).strip())[:LONGEST_SAID]
        session = self._session(request) if request["by"] == AGENT else None
        prompts = self.context.store.sessions.prompts(session.id) if session else []
        by_agent = request["by"] == AGENT and not are_in((each.text for each in prompts), text)
        if by_agent and self._is_of_the_web(session, request, text):
            log.action("memory.refused", size=len(text), why="web")
            return {"refused": OF_THE_WEB}
        said = f"said {day_and_time(self.context.clock())}"
        if request["session"]:
            said += f" in session {request['session'][:8]}"
        wanted = RememberRequest(
            text,
            type=request["type"],
            name=self.context.redactor.maybe(request["name"]),
            team=request["team"],
            pinned=request["pin"] and not by_agent,
            by_agent=by_agent,
            files=self.context.redactor.texts(
                clean(p).strip() for p in request["files"][:MOST_FILES]
            ),
            evidence=(said,),
        )
        try:
            done = remember(self.memories(request["dir"]), wanted, request["dir"])
        except MemoryRefused as error:
            return {"refused": str(error)}
        stored = done.stored
        sizes = {"by_agent": wanted.by_agent, "size": len(text), "known": done.known}
        log.action("memory.remembered", **sizes)
        project_id = self.context.projects.of(request["dir"])
        self.project_changed(project_id)
        self.context.notifier.memories_written(project_id, (stored.memory.name,), "remembered")
        return {
            "name": stored.memory.name,
            "description": stored.memory.description,
            "type": stored.memory.type,
            "of": stored.scope,
            "path": str(stored.path),
            "known": done.known,
            "updated": done.updated,
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
