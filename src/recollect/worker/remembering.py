"""Memories that are wanted in so many words, by a person or by an agent. The worker writes them, because it
knows what was said in the session, and what is told from now on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect import log
from recollect.clock import Clock, day_and_time
from recollect.errors import MemoryRefused
from recollect.memory.extraction import remembering
from recollect.memory.extraction.remembering import Wanted
from recollect.memory.storage.changes import Memories
from recollect.model.memories import AGENT, LONGEST_SAID
from recollect.model.sessions import ACTIVE, Session
from recollect.privacy.redactor import Redactor
from recollect.store.protocol import Store
from recollect.synthesis.trust import noted
from recollect.text import clean
from recollect.wiring import AGENTS
from recollect.worker import own_words
from recollect.worker.projects import ProjectFinder

Json = dict[str, Any]
MOST_FILES = 20
LATEST = 20  # sessions of a project, among which the agent's own is looked for
OF_THE_WEB = (
    "It was not kept: only the web or an MCP server says so, and that is not remembered unasked. Show it to "
    "the user, who can keep it with `recollect remember`."
)


@dataclass(frozen=True, slots=True)
class Remembering:
    store: Store
    finder: ProjectFinder
    memories: Callable[[str], Memories]
    clock: Clock
    changed: Callable[[int], None]  # what is told of a project
    on_written: Callable[[int, Sequence[str], str], None] = lambda *_: None
    on_changed: Callable[[str, str | None, int | None], None] = lambda *_: None
    redactor: Redactor = field(default_factory=Redactor)

    def remember(self, order: Json) -> Json:
        """`dir`, `text`, `type`, `name`, `team`, `pin`, `by`, `files`; `agent` and `session` name the session
        it was said in; no `agent`: a client that nobody records. What an agent notes is the agent's, unless
        the user said it in that session; what only the web has told the agent is not kept unasked."""
        text = self.redactor.text(clean(order["text"]).strip())[:LONGEST_SAID]
        session = self._session(order) if order["by"] == AGENT else None
        by_agent = order["by"] == AGENT and not self._was_said(session, text)
        web = by_agent and (
            self._may_be_of_the_web(session, order["agent"], text)
            or self._was_fetched(order["dir"], text)
        )
        if web:
            log.action("memory.refused", size=len(text), why="web")
            return {"refused": OF_THE_WEB}
        wanted = Wanted(
            text,
            type=order["type"],
            name=self.redactor.maybe(order["name"]),
            team=order["team"],
            pinned=order["pin"] and not by_agent,
            by_agent=by_agent,
            files=self.redactor.texts(clean(p).strip() for p in order["files"][:MOST_FILES]),
            evidence=(_evidence(self.clock(), order["session"]),),
        )
        try:
            done = remembering.remember(self.memories(order["dir"]), wanted, order["dir"])
        except MemoryRefused as error:
            return {"refused": str(error)}
        stored = done.stored
        sizes = {"by_agent": wanted.by_agent, "size": len(text), "known": done.known}
        log.action("memory.remembered", memory=stored.memory.name, **sizes)
        project_id = self.finder.of(order["dir"])
        self.changed(project_id)
        self.on_written(project_id, (stored.memory.name,), "remembered")
        return {
            "name": stored.memory.name,
            "description": stored.memory.description,
            "type": stored.memory.type,
            "of": stored.scope,
            "path": str(stored.path),
            "known": done.known,
            "updated": done.updated,
        }

    def told(self, order: Json) -> Json:
        """Memories of `dir`, or of `project`, were changed by somebody else: the brief is written anew.
        `name`, `what`: which one and how, as far as that is known."""
        project_id = order.get("project") or self.store.project_of_dir(order["dir"])
        if project_id is not None:
            self.changed(project_id)
        self.on_changed(order.get("what") or "changed", order.get("name"), project_id)
        return {}

    def _session(self, order: Json) -> Session | None:
        """The agent's own. If it names none, or none that is known: the one that is open in the project."""
        named = order["session"]
        if named and (found := self.store.session_by_ref(order["agent"], named)):
            return found
        project = self.store.find_project(self.finder.repository(order["dir"]))
        latest = self.store.sessions(project, LATEST) if project else []
        return next((each for each in latest if each.status == ACTIVE), None)

    def _was_said(self, session: Session | None, text: str) -> bool:
        prompts = self.store.prompts(session.id) if session else []
        return own_words.are_in((prompt.text for prompt in prompts), text)

    def _may_be_of_the_web(self, session: Session | None, agent: str, text: str) -> bool:
        """What an agent has read that should be recorded and is not, it may have from anywhere."""
        if session is None:
            return bool(agent)
        return noted.is_of_the_web(self.store, AGENTS, session, text)

    def _was_fetched(self, directory: str, text: str) -> bool:
        project_id = self.store.project_of_dir(directory)
        return project_id is not None and noted.was_fetched(self.store, project_id, text)


def _evidence(now: int, session: str | None) -> str:
    said = f"said {day_and_time(now)}"
    return f"{said} in session {session[:8]}" if session else said
